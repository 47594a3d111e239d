import Foundation
import RecollectCore

/// The log of an archive, to which lines are only added, and what they say as far as they have been read.
///
/// Its first line tells its format, and one log from another. Calls that change the file are for callers that hold its folder's
/// lock. All calls block.
struct VersionLog {
    /// Up to where somebody knew the log.
    struct Moment: Hashable, Codable {
        fileprivate let header: [UInt8]
        fileprivate let end: Int
    }

    private(set) var index = VersionIndex()
    /// Whether the file has no head, or NULs in it, which a power cut or a failing disk leaves. What can be read of it is taken in.
    private(set) var isDamaged = false
    private var header: [UInt8] = []
    private var end = 0

    /// A name for what is known now.
    var moment: Moment { Moment(header: header, end: end) }

    /// Whether nothing was written down of a path since a moment.
    func isUntouched(_ path: WorkspacePath, since moment: Moment) -> Bool {
        guard let file = index.files[path] else { return true }
        return header == moment.header && file.end <= moment.end
    }

    /// Takes in the whole lines that the file has more than is known; another log than the known one is taken in from its beginning.
    mutating func refresh(from folder: OpenFolder) throws {
        guard let log = try ifThere({ try folder.file(Self.name, forWriting: false) }) else {
            return self = VersionLog()
        }
        let header = try log.read(at: 0, count: Self.format.utf8.count + 37)
        let size = try log.size()
        // A log that is shorter than it was came back from a backup.
        if header != self.header || size < max(1, end) {
            let isWhole = header.starts(with: Self.format.utf8) && header.last == UInt8(ascii: "\n")
            if Self.isNewer(header) {
                throw RecollectError(
                    .newerSchema,
                    "a newer version of Recollect keeps the versions in \(folder.path(of: Self.name))")
            }
            self = VersionLog(header: header, end: isWhole ? header.count : 0)
            isDamaged = !isWhole
        }
        guard size > end else { return }
        let bytes = try log.read(at: end, count: size - end)
        if bytes.contains(0) { isDamaged = true }
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return }
        // A line that is whole behind a hole of NULs is read too.
        for line in bytes[..<last].split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == 0 }) {
            guard let read = VersionLine(line) else { continue }
            index.apply(read, endingAt: end + line.endIndex + 1)
        }
        end += last + 1
    }

    /// The lines that were written since a moment, all where there is none, of the last megabyte; none where the log was begun anew since.
    func lines(since moment: Moment?, in folder: OpenFolder) throws -> [VersionLine] {
        let start = moment?.end ?? header.count
        guard moment == nil || moment?.header == header, start < end,
            let log = try ifThere({ try folder.file(Self.name, forWriting: false) })
        else { return [] }
        let first = max(start, end - 1_000_000)
        return try log.read(at: first, count: end - first).split(separator: UInt8(ascii: "\n")).compactMap {
            VersionLine($0)
        }
    }

    /// Adds lines in one write, and takes them in.
    /// - Parameter durably: Whether they are on the disk when this returns.
    mutating func append(_ lines: [VersionLine], in folder: OpenFolder, durably: Bool) throws {
        guard !lines.isEmpty else { return }
        let log =
            try ifThere { try folder.file(Self.name, forWriting: true) }
            ?? folder.replace(Self.name) { try $0.write(Self.newHeader(), at: 0) }
        let size = try log.size()
        // A killed process may have left a part of a line.
        let isWhole = try log.read(at: size - 1, count: 1) == [UInt8(ascii: "\n")]
        try log.write((isWhole ? [] : [UInt8(ascii: "\n")]) + lines.flatMap(\.bytes), at: size)
        if durably { try log.synchronize() }
        try refresh(from: folder)
    }

    /// Begins another log, with these lines and no others; it is the old one or the new one at any moment.
    /// - Parameter aside: A name that the old file keeps.
    mutating func begin(anew lines: [VersionLine], keepingOldAs aside: String? = nil, in folder: OpenFolder) throws {
        _ = try folder.replace(Self.name, keepingOldAs: aside) {
            try $0.write(Self.newHeader() + lines.flatMap(\.bytes), at: 0)
        }
        try refresh(from: folder)
    }

    private static let name = "log"
    private static let format = "recollect-archive 1 "

    private static func newHeader() -> [UInt8] {
        Array((format + UUID().uuidString + "\n").utf8)
    }

    /// Whether a head names a later format.
    private static func isNewer(_ header: [UInt8]) -> Bool {
        let words = header.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count >= 3, words[0].elementsEqual("recollect-archive".utf8) else { return false }
        return (Int(String(decoding: words[1], as: UTF8.self)) ?? 0) > 1
    }
}

extension VersionLog {
    /// A log of which only the header is known.
    fileprivate init(header: [UInt8], end: Int) {
        self.header = header
        self.end = end
    }
}
