extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// The events of some work, which begins at once in a task of its own: the stream ends with it and throws what it throws, and
    /// giving up the stream cancels it.
    init(running work: @escaping @Sendable (Continuation) async throws -> Void) {
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
