/// How the suite gets stores, and what they promise.
///
/// A store that forgets at its end needs a closure that makes it. A persistent one needs a place (a folder, a database, a
/// suite of defaults) that can be opened again: every check gets a place of its own, which is removed afterwards.
public struct StoreFixture<Store: Sendable>: Sendable {
    /// What the stores promise.
    public let capabilities: StoreCapabilities
    /// The seed of the checks with random input, else 1: a fixture runs the same checks each time. A failure names it.
    public var seed: UInt64 = 1
    private let begin:
        @Sendable () async throws -> (open: @Sendable () async throws -> Store, end: @Sendable () async -> Void)

    /// Makes a fixture of stores that cannot be opened again; `persistent`, `sharesPlace` and `durable` have no meaning here.
    public init(
        capabilities: StoreCapabilities = .standard, make: @escaping @Sendable () async throws -> Store
    ) {
        self.capabilities = capabilities.intersection(.standard)
        self.begin = { (make, {}) }
    }

    /// Makes a fixture of stores that live at a place.
    ///
    /// - Parameters:
    ///   - capabilities: What the stores promise.
    ///   - place: Gives a fresh, empty place.
    ///   - open: Opens a store at a place, more than once in checks of what persists.
    ///   - remove: Removes a place and all that lies there, after the check, failed or not.
    public init<Place: Sendable>(
        capabilities: StoreCapabilities = .all,
        place: @escaping @Sendable () async throws -> Place,
        open: @escaping @Sendable (Place) async throws -> Store,
        remove: @escaping @Sendable (Place) async -> Void
    ) {
        self.capabilities = capabilities
        self.begin = {
            let place = try await place()
            return ({ try await open(place) }, { await remove(place) })
        }
    }

    /// Gives `body` a fresh place.
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

/// A fresh place for one check.
struct Trial<Store: Sendable>: Sendable {
    /// Opens a store at the place; each call gives another instance.
    let open: @Sendable () async throws -> Store
    /// The seed of random input.
    let seed: UInt64
}
