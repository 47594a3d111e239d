extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// Creates a stream of the events of some work. The work begins at once in a task of its own. The stream ends
    /// with the work and throws its error. Ending the stream cancels the work.
    package init(running work: @escaping @Sendable (Continuation) async throws -> Void) {
        self.init { stream in
            let task = Task {
                do {
                    try await work(stream)
                    stream.finish()
                } catch {
                    stream.finish(throwing: error)
                }
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }
}
