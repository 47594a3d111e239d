import Recollect

/// The guide's name for a storage to test with.
public typealias MockSessionStorage = InMemorySessionStorage
