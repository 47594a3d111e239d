import Foundation
import RecollectCore
import RecollectFileSystem

/// The log of an archive, and the state from its lines read so far.
///
/// Lines are only appended. The first line has the format, and a UUID to distinguish the log from others. Calls
/// that change the file require the lock of its folder. All calls block.
struct VersionLog {
    /// A position in a log.
    struct Position: Hashable, Codable {
        fileprivate let header: [UInt8]
        fileprivate let end: Int
    }

    private(set) var index = VersionIndex()
    /// Whether the file has no header, or contains NULs left by a power loss or a failing disk. Its readable lines
    /// are applied.
    private(set) var isDamaged = false
    private var header: [UInt8] = []
    private var end = 0

    /// The position at the end of the lines read so far.
    var position: Position { Position(header: header, end: end) }

    /// Whether no line about a path was recorded since a position. `true` for a path without lines; for any other
    /// path, `false` if the log was replaced since.
    func isUntouched(_ path: WorkspacePath, since position: Position) -> Bool {
        guard let file = index.files[path] else { return true }
        return header == position.header && file.end <= position.end
    }

    /// Applies the complete lines added since the last reading. A replaced log is read from its beginning.
    /// - Throws: `newerSchema` if a newer version of Recollect wrote the log.
    mutating func refresh(from folder: OpenFolder) throws {
        guard let log = try nilIfMissing({ try folder.file(Self.name, forWriting: false) }) else {
            return self = VersionLog()
        }
        let header = try log.read(at: 0, count: Self.format.utf8.count + 37)
        let size = try log.size()
        // A shorter log was restored from a backup.
        if header != self.header || size < max(1, end) {
            let isWhole = header.starts(with: Self.format.utf8) && header.last == UInt8(ascii: "\n")
            if Self.isNewer(header) {
                throw RecollectError(
                    .newerSchema,
                    "\(folder.path(of: Self.name)) was written by a newer version of Recollect")
            }
            self = VersionLog(header: header, end: isWhole ? header.count : 0)
            isDamaged = !isWhole
        }
        guard size > end else { return }
        let bytes = try log.read(at: end, count: size - end)
        if bytes.contains(0) { isDamaged = true }
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return }
        // A complete line after a hole of NULs is read, too.
        for line in bytes[..<last].split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == 0 }) {
            guard let read = VersionLine(line) else { continue }
            index.apply(read, endingAt: end + line.endIndex + 1)
        }
        end += last + 1
    }

    /// Returns the lines since a position, from the last megabyte of the log. Returns none if the log was replaced
    /// since.
    /// - Parameter position: The position; `nil` for the beginning of the log.
    func lines(since position: Position?, in folder: OpenFolder) throws -> [VersionLine] {
        let start = position?.end ?? header.count
        guard position == nil || position?.header == header, start < end,
            let log = try nilIfMissing({ try folder.file(Self.name, forWriting: false) })
        else { return [] }
        let first = max(start, end - 1_000_000)
        return try log.read(at: first, count: end - first).split(separator: UInt8(ascii: "\n")).compactMap {
            VersionLine($0)
        }
    }

    /// Appends lines in one write, and applies them.
    /// - Parameter durably: Whether the lines are durable on return.
    mutating func append(_ lines: [VersionLine], in folder: OpenFolder, durably: Bool) throws {
        guard !lines.isEmpty else { return }
        let log =
            try nilIfMissing { try folder.file(Self.name, forWriting: true) }
            ?? folder.replace(Self.name) { try $0.write(Self.newHeader(), at: 0) }
        let size = try log.size()
        // A killed process may have left a part of a line.
        let isWhole = try log.read(at: size - 1, count: 1) == [UInt8(ascii: "\n")]
        try log.write((isWhole ? [] : [UInt8(ascii: "\n")]) + lines.flatMap(\.bytes), at: size)
        if durably { try log.synchronize() }
        try refresh(from: folder)
    }

    /// Replaces the log with one of these lines only. The replacement is atomic, with the exception in
    /// `OpenFolder.replace`.
    /// - Parameter aside: A name for keeping the old file.
    mutating func replaceLines(with lines: [VersionLine], keepingOldAs aside: String? = nil, in folder: OpenFolder)
        throws
    {
        _ = try folder.replace(Self.name, keepingOldAs: aside) {
            try $0.write(Self.newHeader() + lines.flatMap(\.bytes), at: 0)
        }
        try refresh(from: folder)
    }

    private static let name = "log"
    private static let format = "recollect-archive 1 "

    private static func newHeader() -> [UInt8] {
        Array((format + UUID.random().uuidString + "\n").utf8)
    }

    /// Whether a header has a newer format.
    private static func isNewer(_ header: [UInt8]) -> Bool {
        let words = header.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count >= 3, words[0].elementsEqual("recollect-archive".utf8) else { return false }
        return (Int(String(decoding: words[1], as: UTF8.self)) ?? 0) > 1
    }
}

extension VersionLog {
    /// Creates the state of a log after reading its header only.
    fileprivate init(header: [UInt8], end: Int) {
        self.header = header
        self.end = end
    }
}
