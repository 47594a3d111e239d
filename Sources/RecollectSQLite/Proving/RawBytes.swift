import Foundation
import GRDB
import RecollectCore

/// Finds a word in the bytes of files, a megabyte at a time.
struct RawBytes {
    let pattern: WordPattern

    private static let chunk = 1 << 20

    /// The number of occurrences of a word in a file, and the offset of the first.
    struct Places: Sendable {
        var first: Int?
        var count = 0
    }

    /// Returns the occurrences in a file outside of open databases: closing the file of one would release the locks
    /// of this process. Blocks.
    func places(inFile path: String) throws -> Places {
        var status = stat()
        // Opening a pipe would wait for its writer.
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return Places() }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        return try places { offset, buffer in
            try file.seek(toOffset: UInt64(offset))
            let bytes = try file.read(upToCount: buffer.count) ?? Data()
            bytes.copyBytes(to: buffer)
            return bytes.count
        }
    }

    /// Returns the occurrences in the file of an open database, read through its own connection.
    func places(in db: Database) throws -> Places {
        guard let file = DatabaseFile(.database, of: db.sqliteConnection) else { return Places() }
        let size = try file.size()
        return try places { offset, buffer in
            let count = min(buffer.count, size - offset)
            guard count > 0 else { return 0 }
            try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            return count
        }
    }

    /// Returns the occurrences in bytes read in chunks.
    /// - Parameter read: Fills a buffer from an offset and returns the number of bytes.
    private func places(_ read: (Int, UnsafeMutableRawBufferPointer) throws -> Int) throws -> Places {
        var places = Places()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
        defer { buffer.deallocate() }
        let step = Self.chunk - pattern.length + 1
        var offset = 0
        while true {
            let count = try read(offset, buffer)
            // Occurrences starting in the last bytes of a chunk are found with the next one.
            let found = pattern.places(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])).filter { $0 < step }
            places.first = places.first ?? found.first.map { offset + $0 }
            places.count += found.count
            guard count == Self.chunk else { return places }
            offset += step
        }
    }
}
