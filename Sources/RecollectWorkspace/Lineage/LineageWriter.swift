import Foundation
import RecollectCore
import RecollectFileSystem

/// The state of a device's lineage log, kept in the state folder.
struct LineageWriter: Codable {
    /// The device's name in its log.
    private(set) var device = UUID.random().uuidString.lowercased()
    /// The number of the current segment.
    private(set) var number = 0
    /// Whether the segment's file existed when last checked. If it is missing now, the root may be a different
    /// folder.
    private(set) var fileExisted = false
    /// The position in the archive's log up to the last copied line; `nil` before the first line.
    var position: VersionLog.Position?
    /// The segment's lines, for detecting writes by another device.
    private var lines = ""

    private enum CodingKeys: String, CodingKey {
        case device, number, fileExisted, position, lines
    }

    init(position: VersionLog.Position? = nil) {
        self.position = position
    }

    /// The name of the segment's file.
    var segmentName: String { LineageSegment.name(device: device, number: number) }

    /// The segment as it was last written.
    private var segment: LineageSegment {
        var segment = LineageSegment(device: device, number: number)
        segment.lines = Array(lines.utf8).split(separator: UInt8(ascii: "\n")).compactMap { VersionLine($0) }
        return segment
    }

    /// Adds lines. A full segment is followed by a new one. Keeps the last 16 segments.
    /// - Parameter file: The current content of the segment's file; `nil` if there is none.
    /// - Returns: The segments to write, and the names of expired segments to remove.
    mutating func add(_ added: [VersionLine], file: [UInt8]?) -> (written: [LineageSegment], removed: [String]) {
        fileExisted = file != nil
        // Another device has a copy of this state folder and writes under this name. Its file stays; this device takes
        // a new name.
        if let file, let theirs = LineageSegment(file), !segment.lines.starts(with: theirs.lines) {
            self = LineageWriter(position: position)
            fileExisted = true
        }
        let first = number
        var written: [LineageSegment] = []
        var current = segment
        for line in added.suffix(Self.maxLineCount) {
            if lines.utf8.count + line.bytes.count > Self.maxSegmentSize, !current.lines.isEmpty {
                written.append(current)
                number += 1
                current = LineageSegment(device: device, number: number)
                lines = ""
            }
            current.lines.append(line)
            lines += String(decoding: line.bytes, as: UTF8.self)
        }
        written.append(current)
        let removed = (first...number).map { $0 - Self.maxSegmentCount }.filter { $0 >= 0 }
        return (written.suffix(Self.maxSegmentCount), removed.map { LineageSegment.name(device: device, number: $0) })
    }

    /// The limits of a log: 256 KB in all, about 1,000 changes.
    private static let maxSegmentSize = 16_384
    private static let maxSegmentCount = 16
    private static let maxLineCount = 1_000
}
