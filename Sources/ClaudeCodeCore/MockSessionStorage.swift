import Recollect

/// A session store for tests, under the guide's name.
public typealias MockSessionStorage = InMemorySessionStorage
