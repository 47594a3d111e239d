import RecollectCore

/// The end of an open database's use, with the reason.
final class Retirement: Sendable {
    enum Reason: Sendable {
        /// Closing has begun, or a sync failed. The database can be opened again.
        case closed
        /// The files were replaced or removed.
        case replaced
        /// SQLite reported corruption. It reports some failed reads this way, so the next opening decides.
        case suspect
        /// The bytes are damaged: a second opening found the same.
        case damaged
    }

    private let state = Locked<Reason?>(nil)

    /// The reason, or `nil` while the database is in use.
    var reason: Reason? { state.withLock { $0 } }

    /// Adds a reason. `closed` gives way to any other, `suspect` to `replaced` and `damaged`.
    func add(_ reason: Reason) {
        state.withLock { now in
            switch (now, reason) {
            case (nil, _), (.closed, _), (.suspect, .replaced), (.suspect, .damaged): now = reason
            default: break
            }
        }
    }
}

/// The database was closed before an operation began. Nothing was read or written. The operation runs again on a
/// new opening.
struct DatabaseRetired: Error {}

/// The database was opened read-only. Nothing was written. A new opening may be able to write.
struct NotWritable: Error {
    let cause: RecollectError
}
