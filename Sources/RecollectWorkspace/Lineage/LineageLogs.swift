import RecollectCore

/// What the devices of a workspace tell each other of their files' contents.
struct LineageLogs {
    /// The changes of a file by the device that tells of them, in its order.
    private var changes: [WorkspacePath: [String: [VersionLine]]] = [:]
    /// Contents that lay as copies beside a file.
    private var copied: [WorkspacePath: Set<ContentHash>] = [:]

    init() {}

    /// - Parameters:
    ///   - index: What the archive of this device says, which is more than its own log.
    ///   - device: How this device calls itself in its log.
    ///   - files: The files of all devices. Those that cannot be read are left out, and so is what is too much.
    init(_ index: VersionIndex, of device: String, files: [LineageFile]) {
        for (path, file) in index.files {
            for version in file.lineage.suffix(Self.mostVersions) {
                add(VersionLine(mark: .done, path: path, version: version), by: device)
            }
        }
        // Of two files of one segment, as services leave them, the longer one is the later one.
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
            copied[original, default: []].insert(line.version.hash)
        }
        changes[line.path, default: [:]][device, default: []].append(line)
    }

    /// The limits of what is taken in: of one file by one device, and of files in all.
    private static var mostVersions: Int { 256 }
    private static var mostFiles: Int { 1_024 }

    /// What is known of a file's contents.
    /// - Parameter contents: Those that contradict each other, so that none came of another one only because it was found in its place.
    func lineage(of path: WorkspacePath, contradicting contents: Set<ContentHash>) -> Lineage {
        let logs = (changes[path] ?? [:]).sorted { $0.key < $1.key }.map { Array($0.value.suffix(Self.mostVersions)) }
        return Lineage(logs, copied: contents.union(copied[path] ?? []))
    }
}

extension VersionLine {
    /// Whether a change says anything to other devices: what a content came of, or that it lay as a copy.
    var tellsOthers: Bool {
        guard !version.kind.isAbsence else { return false }
        return version.author != nil || !version.parents.isEmpty || ConflictCopies.original(of: path) != nil
    }
}
