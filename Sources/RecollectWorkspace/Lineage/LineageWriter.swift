import Foundation
import RecollectCore

/// What a device has written of its lineage log, as it remembers that in its state folder.
struct LineageWriter: Codable {
    /// How the device calls itself.
    private(set) var device = UUID().uuidString.lowercased()
    /// The number of the segment that it writes.
    private(set) var number = 0
    /// Whether the segment's file was there when it was last looked for: where it is not any more, the root may be another folder.
    private(set) var wasThere = false
    /// Up to where the archive's log is in the lineage log; `nil` before the first line.
    var moment: VersionLog.Moment?
    /// The segment's lines, to tell whether another device has written its file.
    private var lines = ""

    init(moment: VersionLog.Moment? = nil) {
        self.moment = moment
    }

    /// The name of the segment's file.
    var segmentName: String { LineageSegment.name(device: device, number: number) }

    /// The segment as it was last written.
    private var segment: LineageSegment {
        var segment = LineageSegment(device: device, number: number)
        segment.lines = Array(lines.utf8).split(separator: UInt8(ascii: "\n")).compactMap { VersionLine($0) }
        return segment
    }

    /// Adds lines, to another segment where the last one is full.
    /// - Parameter file: The segment's file as it is now; `nil` where there is none.
    /// - Returns: The segments to write, and the names of those that are too old to be kept.
    mutating func add(_ added: [VersionLine], file: [UInt8]?) -> (written: [LineageSegment], removed: [String]) {
        wasThere = file != nil
        // Another device writes under this name: it has a copy of this state folder. What it wrote stays.
        if let file, let theirs = LineageSegment(file), !segment.lines.starts(with: theirs.lines) {
            self = LineageWriter(moment: moment)
            wasThere = true
        }
        let first = number
        var written: [LineageSegment] = []
        var current = segment
        for line in added.suffix(Self.mostLines) {
            if lines.utf8.count + line.bytes.count > Self.largestSegment, !current.lines.isEmpty {
                written.append(current)
                number += 1
                current = LineageSegment(device: device, number: number)
                lines = ""
            }
            current.lines.append(line)
            lines += String(decoding: line.bytes, as: UTF8.self)
        }
        written.append(current)
        let removed = (first...number).map { $0 - Self.mostSegments }.filter { $0 >= 0 }
        return (written.suffix(Self.mostSegments), removed.map { LineageSegment.name(device: device, number: $0) })
    }

    /// The limits of a log: 256 KB in all, some 1,000 changes.
    private static let largestSegment = 16_384
    private static let mostSegments = 16
    private static let mostLines = 1_000
}
