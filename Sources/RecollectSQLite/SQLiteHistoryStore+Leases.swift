import RecollectCore

extension SQLiteHistoryStore {
    /// Waits for the lease of a session: see `HistoryStore` and `TurnLease`.
    ///
    /// With a history on disk, this process holds a lock file in `writers/` beside the database until the end of the lease: see
    /// `beginReply`. So the lease of an ended process is invalid at once, and that of a stopped one after its duration.
    public func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease? {
        try await SQLiteLease(history: self).lease(of: session, for: duration)
    }

    /// The database of the leases.
    var leaseOrigin: String { connection.files?.database ?? "\(ObjectIdentifier(connection))" }

    /// The leases that a write of the current task needs.
    var heldLeases: [TurnLease] { TurnLease.held(from: leaseOrigin) }
}
