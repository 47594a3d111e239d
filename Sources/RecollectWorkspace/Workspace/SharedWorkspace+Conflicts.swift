import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Folds the versions of every file that two devices changed into one, and removes the copies.
    ///
    /// Every version is in the archive before anything is written. Then, whichever comes first: all are the same; one was written by
    /// somebody who knew the others; they are merged (`WorkspaceMerge`), against what they came from where the devices' lineage logs tell
    /// that; both are kept, in a labelled block or, where a file has no structure to merge, as files side by side. The result depends
    /// on the contents alone, so that two devices which fold the same conflict write the same bytes.
    ///
    /// Each conflict is folded by compare-and-swap writes of its own: killed in between, or contradicted by another writer, no version
    /// is lost, and folding again goes on. One that cannot be folded does not keep the others from it.
    /// - Returns: What became of each conflict, in the order of the paths.
    /// - Throws: `unavailable` while the folder is gone or so much is missing that nothing is concluded from it.
    @discardableResult
    public func resolveConflicts() async throws -> [FoldedConflict] {
        try await folding(isPreview: false)
    }

    /// What `resolveConflicts()` would do with the files as they are, without changing any of them.
    /// - Returns: What would become of each conflict, in the order of the paths; `kept` are the files that it would make.
    /// - Throws: as `resolveConflicts()`.
    public func previewConflicts() async throws -> [FoldedConflict] {
        try await folding(isPreview: true)
    }

    private func folding(isPreview: Bool) async throws -> [FoldedConflict] {
        try await on(folds) {
            let look = try self.writes.sync { try self.look() }
            guard look.isAvailable, !look.isVanished else {
                throw RecollectError(
                    .unavailable,
                    "\(self.rootURL.path) is gone, or most of its files are: nothing is folded until they are back")
            }
            var conflicts = try self.conflicts(in: look.listing)
            let files = try self.archive.index().files
            let overwritten = files.filter { $1.content != nil }.mapValues(\.overwritten).filter { !$1.isEmpty }
            let logs = try conflicts.isEmpty && overwritten.isEmpty ? LineageLogs() : self.lineageLogs()
            for (path, overwritten) in overwritten where conflicts[path] == nil {
                if try !self.lost(overwritten, replacedBy: files[path]?.content, at: path, logs).isEmpty {
                    conflicts[path] = []
                }
            }
            let folded = try conflicts.sorted { $0.key < $1.key }.map { path, copies in
                try self.fold(path, copies.sorted(), knowing: logs, isPreview: isPreview)
            }
            if isPreview { return folded }
            try self.writes.sync { try self.removeFolders(among: look.listing.items) }
            if !folded.isEmpty { self.ownChanges.wake() }
            return folded
        }
    }

    /// The files that have copies, with them, and those of which the provider keeps other versions.
    private func conflicts(in listing: WorkspaceListing) throws -> [WorkspacePath: [WorkspacePath]] {
        var copies: [WorkspacePath: [WorkspacePath]] = [:]
        if !listing.originals.isEmpty {
            let there = Set(listing.items.map(\.path))
            // Where the original is gone a name that people give too is just a name.
            for (copy, original) in listing.originals where there.contains(original) || isCertain(copy) {
                copies[original, default: []].append(copy)
            }
        }
        for item in listing.items
        where !item.isFolder && listing.conflicted.contains(item.path) && copies[item.path] == nil {
            // What goes wrong with them is told by folding them.
            if (try? provider.conflictVersions(of: item.path))?.isEmpty != true { copies[item.path] = [] }
        }
        return copies
    }

    /// The contents of a file that a sync service lost and this device keeps.
    private func lost(
        _ overwritten: [VersionIndex.File.Overwritten], replacedBy current: ContentHash?, at path: WorkspacePath,
        _ logs: LineageLogs
    ) throws -> Set<ContentHash> {
        guard let current else { return [] }
        let lost = Set(logs.lost(overwritten, at: path, replacedBy: current, within: Self.longestDelay))
        return lost.isEmpty ? [] : Set(try archive.sizes(of: lost).keys)
    }

    private func isCertain(_ copy: WorkspacePath) -> Bool {
        copy.names.contains { ConflictName($0)?.isCertain == true }
            || copy.names.dropLast().indices.contains { index in
                // What lies in a folder that was made twice belongs into the first one, also where that has no such file.
                ConflictCopies.originalFolder(of: WorkspacePath(checked: Array(copy.names[...index]))) != nil
            }
    }

    /// Removes the folders that were made twice, once nothing is left in them, the innermost first.
    private func removeFolders(among items: [WorkspaceItem]) throws {
        for item in items.reversed() where item.isFolder && ConflictCopies.originalFolder(of: item.path) != nil {
            do {
                try provider.removeFolder(item.path)
            } catch let error as RecollectError where error.isOfOneFile {
                // It stays, and is empty.
            }
        }
    }

    // MARK: One conflict

    private func fold(
        _ path: WorkspacePath, _ copies: [WorkspacePath], knowing logs: LineageLogs, isPreview: Bool
    ) throws -> FoldedConflict {
        for _ in 0..<3 {
            do {
                let folded = try foldOnce(path, copies, knowing: logs, isPreview: isPreview)
                if !isPreview, folded.outcome.isResolved {
                    events.post(StoreEvent(kind: .foldedConflict, path: path.description))
                }
                return folded
            } catch is FileChangedError {
                continue
            } catch let error as RecollectError where error.code == .notLocal {
                // What cannot be asked for now is asked for at the next folding: until then the conflict waits, and says so.
                for path in [path] + copies { try? provider.requestDownload(of: path) }
                return FoldedConflict(path: path, copies: copies, outcome: .notLocal)
            } catch let error as RecollectError where error.isOfOneFile {
                return FoldedConflict(path: path, copies: copies, outcome: .failed, reason: error.message)
            } catch let error as UnconfirmedChangeError {
                return FoldedConflict(path: path, copies: copies, outcome: .failed, reason: error.description)
            }
        }
        return FoldedConflict(path: path, copies: copies, outcome: .busy)
    }

    private func foldOnce(
        _ path: WorkspacePath, _ copies: [WorkspacePath], knowing logs: LineageLogs, isPreview: Bool
    ) throws -> FoldedConflict {
        let isFolder = try provider.item(at: path)?.isFolder ?? false
        let main = try isFolder ? nil : fileIfThere(at: path)
        let files = try copies.compactMap { try fileIfThere(at: $0) }
        let versions = try main == nil ? [] : provider.conflictVersions(of: path)
        let all = try versions + files.flatMap { try provider.conflictVersions(of: $0.path) }
        let file = try main == nil ? nil : archive.index().files[path]
        let lost = try file.map { try self.lost($0.overwritten, replacedBy: $0.content, at: path, logs) } ?? []
        let earlier = try files.flatMap { try contentsBefore($0) } + lost.compactMap { try archive.wholeBytes(of: $0) }
        let contents = Set(([main].compactMap { $0 } + files).map(\.bytes) + all.map(\.bytes) + earlier)
        // What a twin of another spelling holds came of no version of this file.
        let isTwin = copies.contains { ConflictCopies.original(of: $0) != path }
        let fold =
            try isFolder
            ? ConflictFold(apart: contents)
            : ConflictFold(contents, at: path, archive, isTwin ? LineageLogs() : logs)
        if fold.outcome == .identical, main != nil, try copies.contains(where: { try isAhead($0, of: path) }) {
            return FoldedConflict(path: path, copies: copies, outcome: .waiting)
        }

        let outcome = fold.outcome == .identical && main == nil ? .restored : fold.outcome
        if isPreview {
            return FoldedConflict(
                path: path, copies: copies, outcome: outcome,
                kept: fold.apart.compactMap { KeptName.places(for: ContentHash(of: $0), beside: path).first },
                assumedDeleted: fold.deleted)
        }
        let kept = try writes.sync {
            let kept = try fold.apart.map { try keep($0, beside: path) }
            try keep(versions, of: main)
            let parents = contents.map { ContentHash(of: $0) }.sorted { $0.rawValue < $1.rawValue }
            if let whole = fold.whole, whole != main?.bytes {
                _ = try put(whole, to: path, replacing: main?.version, by: .recollect, as: .folded, parents: parents)
            } else if let main, !lost.isEmpty {
                // Else the next folding would find the same contents lost.
                try archive.folded(path, into: main.version, parents: parents, now: configuration.now())
            }
            // Only what went into the file, or lies beside it, is removed: a copy that somebody wrote meanwhile stays.
            for file in files { try discard(file.path, file, by: .recollect) }
            try provider.resolve(versions, of: path)
            return kept
        }
        return FoldedConflict(
            path: path, copies: copies, outcome: outcome, kept: kept, assumedDeleted: fold.deleted)
    }
}

extension SharedWorkspace {
    /// What a copy held before, since there was no file of its name: services name copies by the second, and write another one over the
    /// first. What is not kept here any more is left out.
    private func contentsBefore(_ copy: WorkspaceFile) throws -> [[UInt8]] {
        let versions = try archive.index().files[copy.path]?.versions ?? []
        let since = versions.reversed().prefix { !$0.kind.isAbsence }
        return try Set(since.map(\.hash)).subtracting([copy.version]).compactMap { try archive.wholeBytes(of: $0) }
    }

    /// Brings back the versions that went into a file when it was last folded here, as files beside it. The file itself stays as it is.
    ///
    /// A version that is brought back already, or is the file's content, is not written again. Ended in the middle, some are there;
    /// the next call goes on.
    /// - Returns: The files, in the order of their contents' hashes.
    /// - Throws: `notFound` where the file was not folded on this device, or a version is not kept any more; what a disk throws.
    @discardableResult
    public func restoreConflict(
        _ path: WorkspacePath, by author: WorkspaceAuthor = .user
    ) async throws -> [WorkspacePath] {
        try await writing {
            let path = try self.provider.spelling(of: path)
            guard let fold = try self.archive.versions(of: path).first(where: { $0.kind == .folded }) else {
                throw RecollectError(.notFound, "\(path) was not folded on this device")
            }
            let current = try self.fileIfThere(at: path)?.version
            let wanted = fold.parents.filter { $0 != current && $0 != fold.hash }
            // All are looked for first: where one cannot come back, none does.
            let contents = try wanted.map { version in
                guard let bytes = try self.archive.bytes(of: version) else {
                    throw RecollectError(
                        .notFound,
                        "version \(version.rawValue.prefix(8)) of \(path) is not kept on this device any more")
                }
                return bytes
            }
            return try contents.map { try self.keep($0, beside: path, by: author, as: .restored) }
        }
    }

    /// Writes a content that could not be merged beside its file, blocking, and says where.
    /// - Throws: `notLocal` where what lies there is not here; its download is asked for. `FileChangedError` where each of the names is
    ///   somebody else's.
    func keep(
        _ bytes: [UInt8], beside path: WorkspacePath, by author: WorkspaceAuthor = .recollect,
        as kind: WorkspaceVersion.Kind = .folded
    ) throws -> WorkspacePath {
        let hash = ContentHash(of: bytes)
        var taken = FileChangedError(path: path, current: nil)
        for place in KeptName.places(for: hash, beside: path) {
            let there: WorkspaceFile?
            do {
                there = try fileIfThere(at: place)
            } catch let error as RecollectError where error.code == .notLocal {
                try provider.requestDownload(of: place)
                throw error
            }
            guard let there else {
                let parents = kind == .folded ? [hash] : []
                return try put(bytes, to: place, replacing: nil, by: author, as: kind, parents: parents).path
            }
            // The same content is there already where another device has folded this; another one where somebody has changed it since.
            if there.version == hash { return place }
            taken = FileChangedError(path: place, current: there)
        }
        throw taken
    }

    /// Whether a copy may have come before the content that it lost against, or before the file that it stands for goes.
    ///
    /// A service makes a copy of what lost. Where it lost on this device, the file is still the same as the copy until the winner comes,
    /// and overwrites it; and a folder that was made twice may have some of its files in the one and some in the other. If the
    /// copy were gone then, nobody would see that content again.
    private func isAhead(_ copy: WorkspacePath, of path: WorkspacePath) throws -> Bool {
        let files = try archive.index().files
        guard let file = files[path]?.versions.last, let arrival = files[copy]?.versions.last else { return false }
        // A clock that was set back makes nobody wait for longer.
        return file.date <= arrival.date && abs(configuration.now().timeIntervalSince(arrival.date)) < Self.longestDelay
    }

    /// How long after a copy what it stands against is waited for, in seconds.
    static var longestDelay: TimeInterval { 600 }

    /// Takes versions that a provider keeps apart into the archive, before they are resolved, or go with their file.
    func keep(_ versions: [ConflictVersion], of main: WorkspaceFile?) throws {
        guard let main, !versions.isEmpty else { return }
        for bytes in versions.map(\.bytes) + [main.bytes] {
            let found = FoundContent(path: main.path, hash: ContentHash(of: bytes), bytes: bytes, isContested: true)
            try archive.found([found], since: archive.snapshot().moment, now: configuration.now())
        }
    }
}

extension WorkspaceAuthor {
    /// Recollect itself, where it folds conflicts and publishes chats.
    public static let recollect = WorkspaceAuthor.agent("recollect")
}

/// What the versions of a file become: decided from their contents alone, and from what this device knows of where they came from.
struct ConflictFold {
    /// The file's new content.
    let whole: [UInt8]?
    /// Contents that can go into no other one, in the order of their hashes.
    let apart: [[UInt8]]
    let outcome: FoldedConflict.Outcome
    /// Lines of the versions that were taken for deleted.
    let deleted: [String]

    /// Of copies whose name a folder has: of a file here that was a folder on another device.
    init(apart contents: Set<[UInt8]>) {
        whole = nil
        apart = Self.ordered(contents)
        outcome = .keptBoth
        deleted = []
    }

    private static func ordered(_ contents: Set<[UInt8]>) -> [[UInt8]] {
        contents.map { ($0, ContentHash(of: $0).rawValue) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    init(_ contents: Set<[UInt8]>, at path: WorkspacePath, _ archive: VersionArchive, _ logs: LineageLogs) throws {
        let hashes = Dictionary(uniqueKeysWithValues: contents.map { ($0, ContentHash(of: $0)) })
        let ordered = Self.ordered(contents)
        var lineage = logs.lineage(of: path, contradicting: Set(hashes.values))
        let latest = ordered.filter { one in
            !ordered.contains { other in
                guard let ancestor = hashes[one], let descendant = hashes[other] else { return false }
                return lineage.isAncestor(ancestor, of: descendant)
            }
        }
        guard latest.count > 1 else {
            whole = latest.first
            apart = []
            outcome = contents.count > 1 ? .superseded : .identical
            deleted = []
            return
        }
        let base = try lineage.base(of: latest.compactMap { hashes[$0] }) { Set(try archive.sizes(of: $0).keys) }
            .flatMap { try archive.wholeBytes(of: $0) }
        let mergeable = latest.filter { WorkspaceMerge.canMerge($0, at: path) }
        if let merged = WorkspaceMerge.mergedAndChecked(base: base, versions: mergeable, at: path) {
            whole = merged.bytes
            apart = latest.filter { !mergeable.contains($0) || merged.apart.contains($0) }
            deleted = merged.deleted
        } else {
            deleted = []
            whole = latest[0]
            apart = Array(latest.dropFirst())
        }
        outcome = apart.isEmpty ? .merged : .keptBoth
    }
}
