import Dispatch

extension DispatchQueue {
    /// Runs blocking work on this queue, off Swift's cooperative threads, and returns its result. Work is queued in the order
    /// of the calls of one actor.
    ///
    /// The calling task waits without holding a thread. Its cancellation does not stop the work.
    nonisolated(nonsending) package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            self.async {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
