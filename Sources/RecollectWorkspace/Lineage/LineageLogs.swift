import Foundation
import RecollectCore

/// The lineage logs of all devices of a workspace.
struct LineageLogs {
    /// The changes of each file by device, oldest first.
    private var changes: [WorkspacePath: [String: [VersionLine]]] = [:]
    /// The contents of conflict copies of each file, and the date each was first observed.
    private var copied: [WorkspacePath: [ContentHash: Date]] = [:]
    /// The contents of conflict copies of each file that a service removed: another copy of the same name replaced them, on
    /// this device or another, or there were too many newer copies.
    private var replacedCopies: [WorkspacePath: Set<ContentHash>] = [:]
    /// The contents named as parents by writes, merges and edits of each file or its conflict copies: their text was merged, or
    /// deleted by a person.
    private var parents: [WorkspacePath: Set<ContentHash>] = [:]
    /// The contents of conflict copies of each file missing on this device by now. Another copy may have replaced one before
    /// another device resolved it.
    private var removedCopies: [WorkspacePath: [VersionIndex.File.Overwritten]] = [:]
    /// The contents of other files with names like conflict copies: `notes (1).md`.
    private var copiedPerhaps: [WorkspacePath: Set<ContentHash>] = [:]
    /// The contents of conflict copies of each file that this device resolved and removed, and for each copy the sort
    /// keys of its first observation and its removal.
    private var resolved: [WorkspacePath: [ContentHash: [ClosedRange<Int>]]] = [:]

    init() {}

    /// Creates the logs.
    /// - Parameters:
    ///   - index: The index of this device's archive, with more lines than its own lineage log.
    ///   - device: The name of this device in its log.
    ///   - files: The lineage files of all devices. Unreadable files, and files beyond the limits, are ignored.
    init(_ index: VersionIndex, of device: String, files: [LineageFile]) {
        for (path, file) in index.files {
            let lineage = file.lineage
            for version in lineage { noteParents(of: version, at: path) }
            for version in lineage.suffix(Self.maxVersionCount) {
                add(VersionLine(mark: .done, path: path, version: version), by: device)
            }
            guard let original = ConflictCopies.original(of: path) else { continue }
            if file.content == nil, path.isSyncthingCopy {
                removedCopies[original, default: []] += file.observed
            }
            for (copy, next) in zip(file.versions, file.versions.dropFirst())
            where next.author == nil && !copy.kind.isAbsence && !next.kind.isAbsence && next.hash != copy.hash {
                replacedCopies[original, default: []].insert(copy.hash)
            }
            var observed: [ContentHash: Int] = [:]
            for (version, order) in zip(file.versions, file.orders) {
                if version.kind == .trashed, version.author == .recollect {
                    let first = observed[version.hash] ?? order
                    resolved[original, default: [:]][version.hash, default: []].append(first...order)
                }
                if version.kind.isAbsence {
                    observed = [:]
                } else if observed[version.hash] == nil {
                    observed[version.hash] = order
                }
            }
        }
        // A service may leave two files of one segment: the longer one is newer.
        var segments: [String: [Int: LineageSegment]] = [:]
        for segment in files.prefix(Self.maxFileCount).compactMap({ LineageSegment($0.bytes) })
        where segment.device != device {
            let other = segments[segment.device]?[segment.number]
            if segment.lines.count > other?.lines.count ?? -1 {
                segments[segment.device, default: [:]][segment.number] = segment
            }
        }
        for (device, segments) in segments {
            for segment in segments.values.sorted(by: { $0.number < $1.number }) {
                for line in segment.lines {
                    noteParents(of: line.version, at: line.path)
                    add(line, by: device)
                }
            }
        }
        for path in changes.keys where path.isSyncthingCopy { noteReplacedCopies(path) }
        noteDiscardedCopies(index)
        for (path, parents) in parents {
            replacedCopies[path]?.subtract(parents)
            removedCopies[path]?.removeAll { parents.contains($0.hash) }
        }
    }

    private mutating func noteParents(of version: WorkspaceVersion, at path: WorkspacePath) {
        guard version.author != nil && version.kind != .restored || version.kind == .edited else { return }
        parents[ConflictCopies.original(of: path) ?? path, default: []].formUnion(version.parents)
    }

    /// Notes the contents of a conflict copy replaced on any device. Syncthing names copies by the second, so different
    /// contents of one name are the losers of that second.
    private mutating func noteReplacedCopies(_ path: WorkspacePath) {
        guard let original = ConflictCopies.original(of: path), let logs = changes[path] else { return }
        let contents = Set(logs.values.joined().map(\.version.hash))
        if contents.count > 1 { replacedCopies[original, default: []].formUnion(contents) }
    }

    /// Notes the contents of missing conflict copies that Syncthing has removed for newer ones.
    private mutating func noteDiscardedCopies(_ index: VersionIndex) {
        let copies = Dictionary(grouping: changes.keys.filter(\.isSyncthingCopy), by: ConflictCopies.original(of:))
        for (original, copies) in copies {
            guard let original else { continue }
            // The names of a file's copies sort by their dates.
            let names = copies.map { ByteString($0.name) }.sorted()
            for path in copies where index.files[path].map({ $0.content == nil }) ?? false {
                let name = ByteString(path.name)
                guard names.count(where: { $0 > name }) >= Self.maxCopyCount else { continue }
                replacedCopies[original, default: []].formUnion(index.files[path]?.observed.map(\.hash) ?? [])
            }
        }
    }

    /// The number of conflict copies of a file at which Syncthing removes the oldest one: the default of `maxConflicts`
    /// (https://docs.syncthing.net/users/config.html).
    private static var maxCopyCount: Int { 10 }

    private mutating func add(_ line: VersionLine, by device: String) {
        if let original = ConflictCopies.original(of: line.path) {
            let known = copied[original]?[line.version.hash]
            // A removed copy existed before.
            let found = line.version.kind.isAbsence ? known ?? .distantPast : line.version.date
            copied[original, default: [:]][line.version.hash] = min(known ?? .distantFuture, found)
        } else if let original = ConflictCopies.possibleOriginal(of: line.path) {
            copiedPerhaps[original, default: []].insert(line.version.hash)
        }
        changes[line.path, default: [:]][device, default: []].append(line)
    }

    /// The limits: versions of one file by one device, and lineage files in all.
    private static var maxVersionCount: Int { 256 }
    private static var maxFileCount: Int { 1_024 }

    /// Returns the lost versions of a file: contents replaced by a service with another device's version, without
    /// a conflict copy.
    ///
    /// Sync services lose versions in this way. Syncthing names a copy by the second and the winning device. If
    /// two devices lose in the same second, their copies have the same name, and one of the copies is lost.
    ///
    /// A content counts as lost if no device has observed a copy of it, not even a file named like one by a person,
    /// and if the present content does not descend from it by complete records of writes. In addition, a device must
    /// have observed a copy of other content while the file had the lost one, or soon after, unless all of these
    /// conditions hold:
    ///
    /// - Complete records lead from both contents to common ancestors. Content without records may be a part of
    ///   a file still arriving, and a file recorded from its beginning may have been rewritten after a
    ///   deletion.
    /// - No content of the file occurs twice: a device may have reverted the lost one.
    ///
    /// A content equal to a copy is lost, too, if the present content does not descend from it, and this device removed the
    /// copy before the content it lost against came, or a device observed another copy of the same name in its place, or
    /// Syncthing removed the copy for newer ones.
    ///
    /// A descendant of the present content is not lost, nor is an ancestor of a lost or copied one. A merge counts as lost only if a copy of the merge itself was
    /// removed or one of its parents is lost, because it has no text of its own.
    /// - Parameters:
    ///   - overwritten: The contents observed as replaced on this device. Contents of missing conflict copies are added.
    ///   - path: The file's path.
    ///   - current: The file's content.
    ///   - delay: The time after the replacement within which a copy counts, in seconds.
    func lost(
        _ overwritten: [VersionIndex.File.Overwritten], at path: WorkspacePath, replacedBy current: ContentHash,
        within delay: TimeInterval
    ) -> [ContentHash] {
        let overwritten = overwritten + (removedCopies[path] ?? [])
        guard !overwritten.isEmpty else { return [] }
        let copied = copied[path] ?? [:]
        let copiedPerhaps = copiedPerhaps[path] ?? []
        let removals = resolved[path] ?? [:]
        let replacedCopies = replacedCopies[path] ?? []
        let resolved = Set(
            overwritten.filter { content in
                replacedCopies.contains(content.hash)
                    || removals[content.hash, default: []].contains { copy in
                        // The copy was removed before the file had other content. A merge may have taken its content
                        // from the copy; it lost only if the copy came after the merge.
                        copy.upperBound < content.orders.upperBound
                            && (content.mergedFrom.isEmpty || copy.lowerBound > content.orders.lowerBound)
                    }
            }.map(\.hash))
        let candidates = overwritten.filter {
            resolved.contains($0.hash) || copied[$0.hash] == nil && !copiedPerhaps.contains($0.hash)
        }
        guard !candidates.isEmpty else { return [] }
        // A version kept beside the file is not lost, nor is an earlier one of it.
        let lineage = lineage(of: path, contradicting: []) { line, _ in line }
        let lost = candidates.filter { candidate in
            let isInConflict = copied.values.contains { date in
                date > candidate.dates.lowerBound && date <= candidate.dates.upperBound.addingTimeInterval(delay)
            }
            func isLost(_ content: ContentHash) -> Bool {
                if resolved.contains(content) { return !lineage.isAncestor(content, of: current) }
                return switch lineage.independence(of: current, from: content) {
                case .unproved: false
                case .probable: isInConflict
                case .proved: isInConflict || lineage.independence(of: candidate.hash, from: current) == .proved
                }
            }
            return isLost(candidate.hash) && !lineage.isAncestor(current, of: candidate.hash)
                && (candidate.mergedFrom.isEmpty || resolved.contains(candidate.hash)
                    || candidate.mergedFrom.contains(where: isLost))
        }.map(\.hash)
        // An earlier save of a lost or copied text is in it, or was deleted by its author.
        let earlier = lineage.ancestors(among: lost, of: lost + copied.keys)
        return lost.filter { !earlier.contains($0) }
    }

    /// Returns the version graph of a file.
    /// - Parameter contents: The conflicting contents. None of them becomes an ancestor of another only by being
    ///   replaced by it.
    func lineage(of path: WorkspacePath, contradicting contents: Set<ContentHash>) -> Lineage {
        lineage(of: path, contradicting: contents, withoutKeptParents)
    }

    /// Returns the version graph of a file from the changed lines of each device.
    private func lineage(
        of path: WorkspacePath, contradicting contents: Set<ContentHash>,
        _ change: (_ line: VersionLine, _ device: String) -> VersionLine
    ) -> Lineage {
        let logs = (changes[path] ?? [:]).sorted { $0.key < $1.key }.map { device, lines in
            lines.suffix(Self.maxVersionCount).map { change($0, device) }
        }
        return Lineage(logs, copies: Set((copied[path] ?? [:]).keys), contradicting: contents)
    }

    /// Returns the line of a merge without the parents that the same resolution has kept beside the file: the merge has
    /// nothing of them.
    private func withoutKeptParents(_ line: VersionLine, by device: String) -> VersionLine {
        let merge = line.version
        guard merge.kind == .merged, merge.parents.count > 1 else { return line }
        let parents = merge.parents.filter { parent in
            parent == merge.hash
                || !KeptCopyName.paths(for: parent, beside: line.path).contains { copy in
                    (changes[copy]?[device] ?? []).contains { kept in
                        kept.version.hash == parent && kept.version.kind == .merged && kept.version.parents == [parent]
                            && abs(merge.date.timeIntervalSince(kept.version.date)) <= Self.maxResolutionTime
                    }
                }
        }
        var line = line
        line.version = merge.with(parents: parents)
        return line
    }

    /// The maximum time between the kept copies of a resolution and its merge, in seconds.
    private static var maxResolutionTime: TimeInterval { 10 }
}

extension WorkspacePath {
    /// Whether the file's name is that of a conflict copy by Syncthing, which names copies by the second.
    var isSyncthingCopy: Bool { ConflictCopyName(name)?.dialect == .syncthing }
}

extension VersionLine {
    /// Returns the lines that other devices need for each version of a file: for a write by Recollect, a version with
    /// parents, a version observed in a conflict, and a conflict copy or a file with a name like one. A version of a file
    /// that was missing before may be an earlier content put back: it is published with the absence.
    static func published(_ versions: [WorkspaceVersion], at path: WorkspacePath) -> [[VersionLine]] {
        let isCopy = ConflictCopies.original(of: path) != nil || ConflictCopies.possibleOriginal(of: path) != nil
        return zip(versions, [nil] + versions).map { version, before in
            guard !version.kind.isAbsence else { return [] }
            let absence = isCopy ? nil : before.flatMap { $0.kind.isAbsence ? $0 : nil }
            let isNeeded =
                absence != nil || isCopy || version.author != nil || !version.parents.isEmpty
                || version.kind == .conflicted
            return isNeeded
                ? [absence, version].compactMap { $0.map { VersionLine(mark: .done, path: path, version: $0) } } : []
        }
    }
}
