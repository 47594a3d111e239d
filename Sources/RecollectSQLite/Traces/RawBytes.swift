import Foundation
import GRDB
import RecollectCore

/// Finds a word in the bytes of files, a megabyte at a time.
struct RawBytes {
    let pattern: WordPattern

    private static let chunk = 1 << 20

    /// The number of occurrences of a word in a file, and the offset of the first.
    struct Positions: Sendable {
        var first: Int?
        var count = 0
    }

    /// Returns the occurrences in a file outside of open databases: closing the file of one would release the locks
    /// of this process. Blocks.
    func positions(inFile path: String) throws -> Positions {
        var status = stat()
        // Opening a pipe would wait for its writer.
        guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return Positions() }
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { file.closeFile() }
        return try positions { offset, buffer in
            try file.seek(toOffset: UInt64(offset))
            let bytes = try file.read(upToCount: buffer.count) ?? Data()
            bytes.copyBytes(to: buffer)
            return bytes.count
        }
    }

    /// Returns the occurrences in the file of an open database, read through its own connection.
    func positions(in db: Database) throws -> Positions {
        guard let file = DatabaseFile(.database, of: db.sqliteConnection) else { return Positions() }
        let size = try file.size()
        return try positions { offset, buffer in
            let count = min(buffer.count, size - offset)
            guard count > 0 else { return 0 }
            try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            return count
        }
    }

    /// Returns the occurrences in bytes read in chunks.
    /// - Parameter read: Fills a buffer from an offset and returns the number of bytes.
    private func positions(_ read: (Int, UnsafeMutableRawBufferPointer) throws -> Int) throws -> Positions {
        var positions = Positions()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
        defer { buffer.deallocate() }
        let step = Self.chunk - pattern.length + 1
        var offset = 0
        while true {
            let count = try read(offset, buffer)
            // Occurrences starting in the last bytes of a chunk are found with the next one.
            let found = pattern.positions(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])).filter { $0 < step }
            positions.first = positions.first ?? found.first.map { offset + $0 }
            positions.count += found.count
            guard count == Self.chunk else { return positions }
            offset += step
        }
    }
}
