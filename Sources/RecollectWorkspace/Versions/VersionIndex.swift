import Foundation
import RecollectCore

/// The state of an archive, built from the lines of its log.
struct VersionIndex {
    /// The history of one path.
    struct File {
        /// The versions in the order of the changes, which may differ from their order in the log.
        fileprivate(set) var versions: [WorkspaceVersion] = []
        /// The sort key of each version: the offset in the log at the end of its `begun` line, or else of its only
        /// line.
        ///
        /// A writer reads the file, logs `begun`, and replaces the content it has read, or fails. So of two
        /// completed writes, the one that began first came first, in either order of their `done` lines.
        fileprivate(set) var orders: [Int] = []
        /// The begun changes with an unknown outcome.
        var begun: [VersionLine] = []
        /// The begun changes possibly made after the newest version. An earlier one failed, or was made before this version.
        var open: [VersionLine] {
            let newest = orders.last ?? 0
            return begun.filter { begunEnds[$0.version, default: 0] > newest }
        }
        /// The versions made on this device. Both the writer and a later scan may log the same change.
        fileprivate var own: Set<WorkspaceVersion> = []
        /// The offset in the log at the end of the last line about this file.
        var end = 0
        /// The current content; `nil` without a file.
        var content: ContentHash? { versions.last.flatMap { $0.kind.isAbsence ? nil : $0.hash } }
        /// The offsets in the log at the ends of the lines of `begun`.
        fileprivate var begunEnds: [WorkspaceVersion: Int] = [:]
        /// The last redaction of each redacted content, and the offset in the log at the end of its first line.
        fileprivate(set) var redactions: [ContentHash: (version: WorkspaceVersion, order: Int)] = [:]
    }

    private(set) var files: [WorkspacePath: File] = [:]
    /// The current content of each existing file.
    private(set) var contents: [WorkspacePath: ContentHash] = [:]
    /// The contents of redactions without a line of their end: they may not be erased yet.
    private(set) var unfinishedRedactions: Set<ContentHash> = []

    /// The contents in all lines.
    var hashes: Set<ContentHash> {
        files.values.reduce(into: []) { hashes, file in
            hashes.formUnion(file.versions.map(\.hash))
            hashes.formUnion(file.begun.map(\.version.hash))
        }
    }

    /// Applies a line of the log.
    /// - Parameter end: The offset in the log at the end of the line.
    mutating func apply(_ line: VersionLine, endingAt end: Int) {
        files[line.path, default: File()].apply(line, endingAt: end)
        contents[line.path] = files[line.path]?.content
        switch line.mark {
        case .redacting: unfinishedRedactions.insert(line.version.hash)
        case .redacted: unfinishedRedactions.remove(line.version.hash)
        case .begun, .done, .withdrawn: break
        }
    }

    /// Returns the change, dated later by milliseconds if the file already has an equal one: otherwise both would
    /// count as one change.
    func unlikeOthers(_ change: VersionLine) -> VersionLine {
        guard let file = files[change.path] else { return change }
        var change = change
        while file.own.contains(change.version) || file.begun.contains(where: { $0.version == change.version }) {
            change.version = change.version.aMillisecondLater
        }
        return change
    }

    /// Whether the log has the `begun` line of a change, and no line of its end.
    func hasBegun(_ change: VersionLine) -> Bool {
        files[change.path]?.begun.contains { $0.isSameChange(as: change) } == true
    }

    /// Whether a change is begun, and its file has no later version.
    func isOpen(_ change: VersionLine) -> Bool {
        files[change.path]?.open.contains { $0.isSameChange(as: change) } == true
    }

    /// Returns the begun changes that must have been completed, because a completed change replaced their
    /// contents. They are in the order of the changes.
    ///
    /// A change found in this way may itself have replaced the content of another begun change.
    func superseding(by change: VersionLine) -> [VersionLine] {
        guard let file = files[change.path] else { return [] }
        var open = file.begun.filter { !$0.version.kind.isAbsence && !$0.isSameChange(as: change) }
        var superseding: [VersionLine] = []
        var newest = [change]
        while !newest.isEmpty {
            let replaced = Set(newest.flatMap(\.version.replaced))
            if let content = file.content, replaced.contains(content) { break }
            newest = open.filter { replaced.contains($0.version.hash) }
            open.removeAll { replaced.contains($0.version.hash) }
            superseding = newest + superseding
        }
        return superseding
    }

    /// Returns the begun removal of a missing file. An older one ended before the file was removed: its writer was
    /// killed.
    func removal(of path: WorkspacePath, now: Date) -> VersionLine? {
        guard let file = files[path], let content = file.content else { return nil }
        return file.open.last {
            $0.version.hash == content && isRemoval($0) && Self.mayBeInProgress($0.version, now: now)
        }
    }

    /// Returns a begun change that was made. After a day it is dated now: its content may be the same change by another program,
    /// or its writer slept. It has replaced the earlier one only since the last scan.
    func made(_ change: VersionLine, now: Date) -> VersionLine {
        guard !Self.mayBeInProgress(change.version, now: now) else { return change }
        var change = change
        change.version = change.version.dated(now.wholeMilliseconds)
        return unlikeOthers(change)
    }

    /// Whether a begun change may have removed its file. A file moved away is at the new path; otherwise the move ended
    /// halfway, and the file was removed later.
    private func isRemoval(_ change: VersionLine) -> Bool {
        guard change.version.kind == .movedAway else { return change.version.kind.isAbsence }
        guard let target = change.version.otherPath.flatMap({ files[$0] }), target.content != nil else { return false }
        return target.versions.contains {
            $0.kind == .moved && $0.otherPath == change.path && $0.date == change.version.date
        }
    }

    /// Whether a begun change may still be in progress: for a day.
    static func mayBeInProgress(_ version: WorkspaceVersion, now: Date) -> Bool {
        abs(now.timeIntervalSince(version.date)) < 86_400
    }

    /// Returns the lines of a shorter log with the same state, without some versions.
    ///
    /// A file keeps all versions from the one before the first kept one on. It is the state at that time, and possibly the
    /// base of the next merge. A version missing in between would make a later edit a change of an earlier version. A change
    /// begun after that version stays, too, until a version has its content: if it was made, the content was the current one.
    /// - Parameters:
    ///   - isKept: Whether a version stays in the log.
    ///   - isOpen: Whether a begun change may still be in progress.
    func lines(
        keeping isKept: (WorkspaceVersion) -> Bool, isOpen: (WorkspaceVersion) -> Bool
    ) -> [VersionLine] {
        files.sorted { $0.key < $1.key }.flatMap { path, file in
            let isThere = file.content != nil
            let base = isThere ? file.versions.lastIndex { $0.kind == .observed || $0.kind == .edited } : nil
            let first =
                file.versions.firstIndex(where: isKept).map { $0 - 1 } ?? file.versions.count - (isThere ? 1 : 0)
            let versions = file.versions.indices.filter { $0 >= first || $0 == base }.map {
                (VersionLine(mark: .done, path: path, version: file.versions[$0]), file.orders[$0])
            }
            let start = first < 0 ? 0 : first < file.orders.count ? file.orders[first] : file.orders.last ?? 0
            let begun = file.begun.map { ($0, file.begunEnds[$0.version] ?? 0) }.filter { change, end in
                isKept(change.version) || isOpen(change.version)
                    || end > start && !file.hasVersion(of: change.version.hash, after: end)
            }
            let redactions = file.redactions.filter { hash, redaction in
                versions.contains { $0.0.version.hash == hash && $0.1 < redaction.order }
            }.map { hash, redaction in
                let mark = unfinishedRedactions.contains(hash) ? VersionLine.Mark.redacting : .redacted
                return (VersionLine(mark: mark, path: path, version: redaction.version), redaction.order)
            }
            return (versions + begun + redactions).sorted { $0.1 < $1.1 }.map(\.0)
        }
    }
}

extension VersionIndex.File {
    fileprivate mutating func apply(_ line: VersionLine, endingAt end: Int) {
        self.end = end
        switch line.mark {
        case .begun:
            begun.append(line)
            begunEnds[line.version] = end
        case .redacting:
            redactions[line.version.hash] = (line.version, end)
        case .redacted where redactions[line.version.hash]?.version != line.version:
            // Its first line was left out of a shorter log.
            redactions[line.version.hash] = (line.version, end)
        case .redacted: break
        case .withdrawn:
            begun.removeAll { $0.isSameChange(as: line) }
            begunEnds[line.version] = nil
        case .done:
            begun.removeAll { $0.isSameChange(as: line) }
            let begunEnd = begunEnds.removeValue(forKey: line.version)
            guard line.version.author == nil || own.insert(line.version).inserted else { return }
            add(line.version, orderedBy: begunEnd ?? end)
        }
    }

    fileprivate func hasVersion(of hash: ContentHash, after order: Int) -> Bool {
        zip(versions, orders).contains { $0.hash == hash && $1 > order }
    }

    /// The versions in order, with their redactions. Content saved again after its redaction is a new version.
    var markedVersions: [WorkspaceVersion] {
        guard !redactions.isEmpty else { return versions }
        return zip(versions, orders).map { version, order in
            guard let redaction = redactions[version.hash], order < redaction.order else { return version }
            return version.with(redaction.version.asRedaction)
        }
    }

    private mutating func add(_ version: WorkspaceVersion, orderedBy order: Int) {
        var order = order
        // A version is the newest if it replaced the newest content, or created the file, even if it began first:
        // another program may have restored the content read by its writer.
        let isNewest = content.map(version.replaced.contains) ?? version.replaced.isEmpty
        if isNewest, let newest = orders.last { order = max(order, newest) }
        let position = orders.lastIndex { $0 <= order }.map { $0 + 1 } ?? 0
        versions.insert(version, at: position)
        orders.insert(order, at: position)
    }

    /// The versions in order. The parent of a version of the kind `observed` or `edited` is the content before it.
    var lineage: [WorkspaceVersion] {
        var before: ContentHash?
        return versions.map { version in
            defer { before = version.kind.isAbsence ? nil : version.hash }
            guard version.kind == .observed || version.kind == .edited, let before, before != version.hash else {
                return version
            }
            return version.with(parents: [before])
        }
    }

    /// A content replaced by an observed version.
    struct Overwritten {
        let hash: ContentHash
        /// The dates from the content's version to its replacement.
        let dates: ClosedRange<Date>
        /// The parents of the content if it is a merge: a merge has no text of its own.
        let mergedFrom: [ContentHash]
        /// The sort keys of the content's version and of its replacement.
        let orders: ClosedRange<Int>
    }

    /// The contents replaced by observed versions, and since then neither restored nor a parent of another
    /// version; the last 256, oldest first.
    var overwritten: [Overwritten] {
        var overwritten: [Overwritten] = []
        var before: (version: WorkspaceVersion, order: Int)?
        for (version, order) in zip(versions, orders) {
            if let (before, began) = before, version.author == nil, !version.kind.isAbsence {
                let dates = min(before.date, version.date)...max(before.date, version.date)
                let mergedFrom = before.kind == .merged ? before.parents : []
                if overwritten.count == 256 { overwritten.removeFirst() }
                overwritten.append(
                    Overwritten(hash: before.hash, dates: dates, mergedFrom: mergedFrom, orders: began...order))
            }
            overwritten.removeAll { $0.hash == version.hash || version.parents.contains($0.hash) }
            before = version.kind.isAbsence ? nil : (version, order)
        }
        return overwritten
    }

    /// The observed contents, as if each was replaced at once.
    var observed: [Overwritten] {
        zip(versions, orders).filter { $0.0.author == nil && !$0.0.kind.isAbsence }.map { version, order in
            Overwritten(hash: version.hash, dates: version.date...version.date, mergedFrom: [], orders: order...order)
        }
    }

    /// Whether one version is an ancestor of another by the writes on this device, and not also its descendant.
    func isAncestor(_ ancestor: ContentHash, of descendant: ContentHash) -> Bool {
        ancestor != descendant && leads(from: descendant, to: ancestor) && !leads(from: ancestor, to: descendant)
    }

    private func leads(from descendant: ContentHash, to ancestor: ContentHash) -> Bool {
        var parents: [ContentHash: Set<ContentHash>] = [:]
        for version in versions where version.author != nil {
            parents[version.hash, default: []].formUnion(version.parents)
        }
        var reached: Set<ContentHash> = [descendant]
        var rest = [descendant]
        while let hash = rest.popLast() {
            if hash == ancestor { return true }
            rest += parents[hash, default: []].filter { reached.insert($0).inserted }
        }
        return false
    }
}
