import RecollectCore

extension RecollectError {
    /// Whether the error concerns a single file or folder. Other files may still be readable and writable.
    var isOfOneFile: Bool {
        [.notFound, .notLocal, .tooLarge, .foreignStore, .permissionDenied, .inputOutput].contains(code)
    }
}
