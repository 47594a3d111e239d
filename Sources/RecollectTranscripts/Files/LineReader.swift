import Foundation
import RecollectCore

/// Reads a file line by line in chunks. Memory is bounded by the longest allowed line, for any file size.
///
/// Not for concurrent use. Calls block; the importer makes them on a queue of its own.
final class LineReader {
    /// A line without its line end.
    enum Line {
        /// A line with a line end.
        case whole(UnsafeRawBufferPointer)
        /// The bytes after the last line end. A file still being written may have half a line there.
        case unended(UnsafeRawBufferPointer)
        /// A line longer than allowed. It was skipped.
        case tooLong
    }

    /// The number of the last line read, from 1.
    private(set) var number = 0
    /// The bytes read so far.
    private(set) var bytesRead: Int64 = 0

    private let path: String
    private let descriptor: Int32
    private let maxLineBytes: Int
    private var buffer: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0
    private var isAtEnd = false

    private static let chunk = 256 * 1024

    /// Opens a regular file; throws for a symbolic link, pipe or device.
    init(path: String, maxLineBytes: Int) throws {
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecollectError(.last, doing: "open", path: path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw RecollectError(.invalidArgument, "\(path) is not a regular file")
        }
        self.path = path
        self.maxLineBytes = maxLineBytes
        buffer = .allocate(byteCount: min(Self.chunk, maxLineBytes + 1), alignment: 1)
    }

    deinit {
        close(descriptor)
        buffer.deallocate()
    }

    /// Passes the next line to `body`, skipping blank lines; returns `nil` at the end of the file.
    ///
    /// - Parameter body: receives a line, valid only during the call.
    func next<Result>(_ body: (Line) throws -> Result) throws -> Result? {
        while let line = try nextLine() {
            switch number == 1 ? Self.withoutMark(line) : line {
            case .whole(let bytes) where Self.isBlank(bytes), .unended(let bytes) where Self.isBlank(bytes): continue
            case let line: return try body(line)
            }
        }
        return nil
    }

    /// Removes a byte order mark, as written by editors on Windows, from the first line.
    private static func withoutMark(_ line: Line) -> Line {
        func rest(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? UnsafeRawBufferPointer(rebasing: bytes.dropFirst(3)) : bytes
        }
        switch line {
        case .whole(let bytes): return .whole(rest(bytes))
        case .unended(let bytes): return .unended(rest(bytes))
        case .tooLong: return .tooLong
        }
    }

    private func nextLine() throws -> Line? {
        var searched = 0
        while true {
            if let length = newline(from: start + searched) {
                defer { start += searched + length + 1 }
                number += 1
                let line = UnsafeRawBufferPointer(rebasing: buffer[start..<start + searched + length])
                return line.count > maxLineBytes ? .tooLong : .whole(line)
            }
            searched = end - start
            if searched > maxLineBytes { return try passOver() }
            if isAtEnd {
                guard searched > 0 else { return nil }
                defer { start = end }
                number += 1
                return .unended(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
            }
            try fill()
        }
    }

    /// Skips a line longer than allowed, without keeping it in memory.
    private func passOver() throws -> Line {
        number += 1
        while true {
            (start, end) = (0, 0)
            try fill()
            if let length = newline(from: start) {
                start += length + 1
                return .tooLong
            }
            if isAtEnd {
                start = end
                return .tooLong
            }
        }
    }

    /// Returns the number of bytes from a position to the next line end.
    private func newline(from position: Int) -> Int? {
        guard let base = buffer.baseAddress, position < end, let found = memchr(base + position, 0x0A, end - position)
        else {
            return nil
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base + position)
    }

    /// Reads a chunk behind the bytes in the buffer, after making room.
    private func fill() throws {
        if start > 0 || end == buffer.count { makeRoom() }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[end..<min(buffer.count, end + Self.chunk)])
        var count: Int
        repeat { count = read(descriptor, room.baseAddress, room.count) } while count < 0 && errno == EINTR
        guard count >= 0 else { throw RecollectError(.last, doing: "read", path: path) }
        isAtEnd = count == 0
        end += count
        bytesRead += Int64(count)
    }

    /// Moves the current line to the front of the buffer, and into a larger or smaller buffer if necessary.
    private func makeRoom() {
        let kept = UnsafeRawBufferPointer(rebasing: buffer[start..<end])
        let wanted = min(maxLineBytes + 1, max(Self.chunk, kept.count * 2))
        if wanted > buffer.count || buffer.count > 16 * wanted {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: wanted, alignment: 1)
            larger.copyMemory(from: kept)
            buffer.deallocate()
            buffer = larger
        } else {
            buffer.copyMemory(from: kept)
        }
        (start, end) = (0, kept.count)
    }

    private static func isBlank(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }
}
