import RecollectFileSystem

extension OpenFile {
    /// The length of the largest file to read as a whole, in bytes: 1 GiB. Larger ones are not written.
    package static let maxSize = 1 << 30

    /// Returns all bytes of the file.
    /// - Throws: `tooLarge` for a file larger than `maxSize`.
    package func readAll() throws -> [UInt8] {
        try read(at: 0, count: checkedSize())
    }

    /// Returns the file's length in bytes.
    /// - Throws: `tooLarge` for a file larger than `maxSize`.
    package func checkedSize() throws -> Int {
        let size = try size()
        guard size <= Self.maxSize else {
            throw RecollectError(
                .tooLarge, "\(path) is larger than \(Self.maxSize >> 20) MB; it was left unchanged: move it away")
        }
        return size
    }
}
