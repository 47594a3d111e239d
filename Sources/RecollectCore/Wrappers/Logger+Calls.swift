import Logging

extension Logger {
    /// Runs a call of a store and logs its name, duration, counts and result.
    ///
    /// Successful calls are logged at the debug level, failed ones at the error level. Errors other than
    /// Recollect's are logged only by type, because they may quote content.
    /// - Parameters:
    ///   - call: The name of the call.
    ///   - metadata: The hashed IDs and the counts of the arguments.
    ///   - counts: Returns the counts of the result.
    ///   - work: The call.
    nonisolated(nonsending) func logging<Result>(
        _ call: String, _ metadata: Logger.Metadata = [:],
        counting counts: (Result) -> Logger.Metadata = { _ in [:] },
        _ work: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        let clock = ContinuousClock()
        let began = clock.now
        var metadata = metadata
        do {
            let result = try await work()
            metadata["duration"] = "\(clock.now - began)"
            metadata.merge(counts(result)) { $1 }
            debug("\(call)", metadata: metadata)
            return result
        } catch {
            metadata["duration"] = "\(clock.now - began)"
            metadata["error"] = "\(Self.name(of: error))"
            self.error("\(call) failed", metadata: metadata)
            throw error
        }
    }
}
