import Foundation
import RecollectCore

/// Reads a file line by line in chunks, so that memory is bounded by the longest line allowed, whatever the file's size.
///
/// Not for concurrent use. Its calls block; the importer makes them on a queue of its own.
final class LineReader {
    /// A line without its end.
    enum Line {
        /// A line that ends.
        case whole(UnsafeRawBufferPointer)
        /// The bytes after the last end of line: a file that is still being written may have half a line there.
        case unended(UnsafeRawBufferPointer)
        /// A line of more bytes than allowed; it was passed over.
        case tooLong
    }

    /// The number of the line read last, from 1.
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

    /// Opens a regular file; neither a symbolic link nor a pipe or device.
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

    /// The next line that is not blank, valid during `body`; `nil` at the end of the file.
    func next<Result>(_ body: (Line) throws -> Result) throws -> Result? {
        while let line = try nextLine() {
            switch number == 1 ? Self.withoutMark(line) : line {
            case .whole(let bytes) where Self.isBlank(bytes), .unended(let bytes) where Self.isBlank(bytes): continue
            case let line: return try body(line)
            }
        }
        return nil
    }

    /// The file's first line without the byte order mark that editors on Windows write.
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

    /// Reads to the end of a line that is too long without keeping it.
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

    /// How many bytes from a place the next end of line is.
    private func newline(from place: Int) -> Int? {
        guard let base = buffer.baseAddress, place < end, let found = memchr(base + place, 0x0A, end - place) else {
            return nil
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base + place)
    }

    /// Reads a chunk behind what is kept, making room first.
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

    /// Moves the line under way to the front of the buffer, and to a larger or smaller one where it needs that.
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
