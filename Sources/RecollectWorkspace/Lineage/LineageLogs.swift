import Foundation
import RecollectCore

/// The lineage logs of all devices of a workspace.
struct LineageLogs {
    /// The changes of each file by device, oldest first.
    private var changes: [WorkspacePath: [String: [VersionLine]]] = [:]
    /// The contents of conflict copies of each file, and when each was first found.
    private var copied: [WorkspacePath: [ContentHash: Date]] = [:]

    init() {}

    /// - Parameters:
    ///   - index: The index of this device's archive, which has more than its own lineage log.
    ///   - device: The name of this device in its log.
    ///   - files: The lineage files of all devices. Unreadable files, and files beyond the limits, are ignored.
    init(_ index: VersionIndex, of device: String, files: [LineageFile]) {
        for (path, file) in index.files {
            for version in file.lineage.suffix(Self.mostVersions) {
                add(VersionLine(mark: .done, path: path, version: version), by: device)
            }
        }
        // A service may leave two files of one segment: the longer one is newer.
        var segments: [String: [Int: LineageSegment]] = [:]
        for segment in files.prefix(Self.mostFiles).compactMap({ LineageSegment($0.bytes) })
        where segment.device != device {
            let other = segments[segment.device]?[segment.number]
            if segment.lines.count > other?.lines.count ?? -1 {
                segments[segment.device, default: [:]][segment.number] = segment
            }
        }
        for (device, segments) in segments {
            for segment in segments.values.sorted(by: { $0.number < $1.number }) {
                for line in segment.lines { add(line, by: device) }
            }
        }
    }

    private mutating func add(_ line: VersionLine, by device: String) {
        if let original = ConflictCopies.original(of: line.path) {
            let known = copied[original]?[line.version.hash]
            // A copy that went was there before.
            let found = line.version.kind.isAbsence ? known ?? .distantPast : line.version.date
            copied[original, default: [:]][line.version.hash] = min(known ?? .distantFuture, found)
        }
        changes[line.path, default: [:]][device, default: []].append(line)
    }

    /// The limits: versions of one file by one device, and lineage files in all.
    private static var mostVersions: Int { 256 }
    private static var mostFiles: Int { 1_024 }

    /// Which contents of a file another device's version replaced without knowing them, although no device has seen a copy of them.
    ///
    /// Sync services lose such contents: Syncthing names a copy by the second and the device that won, so the copies of two
    /// devices that lost in one second have one name, and it drops one of them. So a device has seen a copy of a third content
    /// by the time, or soon after. Otherwise there was no conflict: somebody deleted the file and wrote it anew, say.
    /// - Parameters:
    ///   - overwritten: The contents that the file had on this device before another content came in place of them.
    ///   - current: The file's content.
    ///   - delay: How long after that a copy may be seen, in seconds.
    func lost(
        _ overwritten: [VersionIndex.File.Overwritten], at path: WorkspacePath, replacedBy current: ContentHash,
        within delay: TimeInterval
    ) -> [ContentHash] {
        guard let copied = copied[path] else { return [] }
        let candidates = overwritten.filter { overwritten in
            copied[overwritten.hash] == nil
                && copied.values.contains { date in
                    date > overwritten.dates.lowerBound
                        && date <= overwritten.dates.upperBound.addingTimeInterval(delay)
                }
        }
        guard !candidates.isEmpty else { return [] }
        var lineage = lineage(of: path, contradicting: [])
        return candidates.filter { candidate in
            lineage.excludes(candidate.hash, from: current) && !lineage.isAncestor(current, of: candidate.hash)
                && (candidate.folded.isEmpty || candidate.folded.contains { lineage.excludes($0, from: current) })
        }.map(\.hash)
    }

    /// The version graph of a file.
    /// - Parameter contents: The conflicting contents. None of them is an ancestor of another only because that one replaced it.
    func lineage(of path: WorkspacePath, contradicting contents: Set<ContentHash>) -> Lineage {
        let logs = (changes[path] ?? [:]).sorted { $0.key < $1.key }.map { Array($0.value.suffix(Self.mostVersions)) }
        return Lineage(logs, copied: contents.union((copied[path] ?? [:]).keys))
    }
}

extension VersionLine {
    /// Whether other devices need a change: it has parents, or records a conflict copy.
    var tellsOthers: Bool {
        guard !version.kind.isAbsence else { return false }
        return version.author != nil || !version.parents.isEmpty || ConflictCopies.original(of: path) != nil
    }
}
