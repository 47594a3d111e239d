import RecollectFileSystem

extension OpenFile {
    /// The length of the largest file to read as a whole, in bytes: 1 GiB. Larger ones are not written.
    package static let largestSize = 1 << 30

    /// Returns all bytes of the file.
    /// - Throws: `tooLarge` for a file larger than `largestSize`.
    package func readAll() throws -> [UInt8] {
        try read(at: 0, count: checkedSize())
    }

    /// Returns the file's length in bytes.
    /// - Throws: `tooLarge` for a file larger than `largestSize`.
    package func checkedSize() throws -> Int {
        let size = try size()
        guard size <= Self.largestSize else {
            throw RecollectError(
                .tooLarge, "\(path) is larger than \(Self.largestSize >> 20) MB; it was left unchanged: move it away")
        }
        return size
    }
}
