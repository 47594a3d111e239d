import Logging

extension Logger {
    /// Does what was asked of a store and logs it: what, how long it took, how much it was, and how it ended.
    ///
    /// What succeeds is logged as debug, what fails as error. Of errors that are not Recollect's only the type is logged, because
    /// nobody knows what they quote.
    /// - Parameters:
    ///   - call: what was asked.
    ///   - metadata: to whom it was about, ids hashed, and how much was given.
    ///   - counts: how much came back.
    ///   - work: does it.
    func logging<Result>(
        _ call: String, _ metadata: Logger.Metadata = [:],
        counting counts: (Result) -> Logger.Metadata = { _ in [:] }, _ work: () async throws -> Result
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

    /// What may be logged of an error: its code, or its type.
    static func name(of error: any Error) -> String {
        (error as? RecollectError)?.code.rawValue ?? "\(type(of: error))"
    }
}
