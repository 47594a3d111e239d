/// A failure of a memory command, with the text for the model.
struct MemoryFailure: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
