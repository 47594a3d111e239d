/// The factory of a suite's stores, and their promises.
///
/// A store in memory needs a closure to create it. A persistent store needs a location (a folder, a database, a
/// defaults suite) that can be opened again. Every check gets a new location, removed after the check.
public struct StoreFixture<Store: Sendable>: Sendable {
    /// The promises of the stores.
    public let capabilities: StoreCapabilities
    /// The seed of checks with random input; 1 by default, so a fixture repeats the same checks. A failure prints it.
    public var seed: UInt64 = 1
    private let begin:
        @Sendable () async throws -> (open: @Sendable () async throws -> Store, end: @Sendable () async -> Void)

    /// Creates a fixture of stores that cannot be reopened. `persistent`, `sharesLocation` and `durable` are ignored.
    public init(
        capabilities: StoreCapabilities = .standard, make: @escaping @Sendable () async throws -> Store
    ) {
        self.capabilities = capabilities.intersection(.standard)
        self.begin = { (make, {}) }
    }

    /// Creates a fixture of stores with a location.
    ///
    /// - Parameters:
    ///   - capabilities: The promises of the stores.
    ///   - location: Creates a new, empty location.
    ///   - open: Opens a store at a location. Checks of persistence call it more than once.
    ///   - remove: Removes a location with its content after the check, even a failed one.
    public init<Location: Sendable>(
        capabilities: StoreCapabilities = .all,
        location: @escaping @Sendable () async throws -> Location,
        open: @escaping @Sendable (Location) async throws -> Store,
        remove: @escaping @Sendable (Location) async -> Void
    ) {
        self.capabilities = capabilities
        self.begin = {
            let location = try await location()
            return ({ try await open(location) }, { await remove(location) })
        }
    }

    /// Calls `body` with a new location, and removes the location afterwards.
    func withTrial(_ body: (Trial<Store>) async throws -> Void) async throws {
        let (open, end) = try await begin()
        do {
            try await body(Trial(open: open, seed: seed))
        } catch {
            await end()
            throw error
        }
        await end()
    }
}

/// A new location for one check.
struct Trial<Store: Sendable>: Sendable {
    /// Opens a store at the location. Each call returns another instance.
    let open: @Sendable () async throws -> Store
    /// The seed of random input.
    let seed: UInt64
}
