import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Resolves all conflicts: merges the versions of each conflicted file, and removes the conflict copies.
    ///
    /// Lost versions with archived contents are included. Each version is archived before it is replaced or
    /// removed. The first case to apply decides:
    ///
    /// - All versions are the same: one stays.
    /// - One version descends from all others: it stays.
    /// - The versions can be merged (`WorkspaceMerge`), against a merge base if the devices' lineage logs prove
    ///   one. Different texts at one position become the alternatives of a conflict block.
    /// - Otherwise: one version stays, and the others become kept copies.
    ///
    /// The result depends only on the contents and their known lineage, from the logs and the archive. So devices
    /// with the same logs and archive write the same bytes.
    ///
    /// Each conflict is resolved with its own compare-and-swap writes. If the process is killed, or another writer
    /// interferes, no version is lost, and the next call continues. An error of a single file does not stop the
    /// others.
    /// - Returns: The outcome of each conflict, sorted by path.
    /// - Throws: `unavailable` if the folder is missing, or during a mass deletion; errors of the whole disk, such
    ///   as `diskFull`.
    @discardableResult
    public func resolveConflicts() async throws -> [ResolvedConflict] {
        try await resolve(isPreview: false)
    }

    /// Returns the outcomes of `resolveConflicts()` for the current files, without any change to them.
    /// - Returns: The outcome of each conflict, sorted by path. `kept` has the preferred paths of new
    ///   kept copies.
    /// - Throws: As `resolveConflicts()`.
    public func previewConflicts() async throws -> [ResolvedConflict] {
        try await resolve(isPreview: true)
    }

    private func resolve(isPreview: Bool) async throws -> [ResolvedConflict] {
        try await on(resolutions) {
            let scan = try self.writes.sync { try self.scan() }
            guard scan.isAvailable, !scan.isMassDeletion else {
                throw RecollectError(
                    .unavailable,
                    "\(self.rootURL.path) is missing, or most of its files are: conflicts are resolved when they are back"
                )
            }
            var conflicts = try self.conflicts(in: scan.listing)
            let files = try self.archive.index().files
            let overwritten = files.filter { $1.content != nil }.mapValues(\.overwritten).filter { !$1.isEmpty }
            let logs = try conflicts.isEmpty && overwritten.isEmpty ? LineageLogs() : self.lineageLogs()
            for (path, overwritten) in overwritten where conflicts[path] == nil {
                if try !self.lost(overwritten, replacedBy: files[path]?.content, at: path, logs).isEmpty {
                    conflicts[path] = []
                }
            }
            let resolved = try conflicts.sorted { $0.key < $1.key }.map { path, copies in
                try self.resolution(path, copies.sorted(), knowing: logs, isPreview: isPreview)
            }
            if isPreview { return resolved }
            try self.writes.sync { try self.removeFolders(among: scan.listing.items) }
            if !resolved.isEmpty {
                self.shareLineageOfWrite()
                self.ownChanges.signal()
            }
            return resolved
        }
    }

    /// Returns the conflicted files with their conflict copies. A file with other versions at the provider may have
    /// no copies.
    private func conflicts(in listing: WorkspaceListing) throws -> [WorkspacePath: [WorkspacePath]] {
        var copies: [WorkspacePath: [WorkspacePath]] = [:]
        if !listing.originals.isEmpty {
            let there = Set(listing.items.map(\.path))
            // If the original is missing, an ambiguous name is an ordinary name.
            for (copy, original) in listing.originals where there.contains(original) || isCertain(copy) {
                copies[original, default: []].append(copy)
            }
        }
        for item in listing.items
        where !item.isFolder && listing.conflicted.contains(item.path) && copies[item.path] == nil {
            // The resolution reports any error.
            if (try? provider.conflictVersions(of: item.path))?.isEmpty != true { copies[item.path] = [] }
        }
        return copies
    }

    /// Returns the archived lost versions of a file.
    private func lost(
        _ overwritten: [VersionIndex.File.Overwritten], replacedBy current: ContentHash?, at path: WorkspacePath,
        _ logs: LineageLogs
    ) throws -> Set<ContentHash> {
        guard let current else { return [] }
        let lost = Set(logs.lost(overwritten, at: path, replacedBy: current, within: Self.longestDelay))
        return lost.isEmpty ? [] : Set(try archive.sizes(of: lost).keys)
    }

    private func isCertain(_ copy: WorkspacePath) -> Bool {
        copy.names.contains { ConflictCopyName($0)?.isCertain == true }
            || copy.names.dropLast().indices.contains { index in
                // A file in a duplicate folder belongs in the original folder, even if there is no file of this name.
                ConflictCopies.originalFolder(of: WorkspacePath(checked: Array(copy.names[...index]))) != nil
            }
    }

    /// Removes empty duplicate folders, innermost first.
    private func removeFolders(among items: [WorkspaceItem]) throws {
        for item in items.reversed() where item.isFolder && ConflictCopies.originalFolder(of: item.path) != nil {
            do {
                try provider.removeFolder(item.path)
            } catch let error as RecollectError where error.isOfOneFile {
                // The empty folder stays.
            }
        }
    }

    // MARK: One conflict

    private func resolution(
        _ path: WorkspacePath, _ copies: [WorkspacePath], knowing logs: LineageLogs, isPreview: Bool
    ) throws -> ResolvedConflict {
        for _ in 0..<3 {
            do {
                let resolved = try resolveOnce(path, copies, knowing: logs, isPreview: isPreview)
                if !isPreview, resolved.outcome.isResolved {
                    events.post(StoreEvent(kind: .resolvedConflict, path: path.description))
                }
                return resolved
            } catch is FileChangedError {
                continue
            } catch let error as RecollectError where error.code == .notLocal {
                // If a request fails, the next resolution repeats it. The conflict waits until then.
                for path in [path] + copies { try? provider.requestDownload(of: path) }
                return ResolvedConflict(path: path, copies: copies, outcome: .notLocal)
            } catch let error as RecollectError where error.isOfOneFile {
                return ResolvedConflict(path: path, copies: copies, outcome: .failed, reason: error.message)
            } catch let error as UnconfirmedChangeError {
                return ResolvedConflict(path: path, copies: copies, outcome: .failed, reason: error.description)
            }
        }
        return ResolvedConflict(path: path, copies: copies, outcome: .busy)
    }

    private func resolveOnce(
        _ path: WorkspacePath, _ copies: [WorkspacePath], knowing logs: LineageLogs, isPreview: Bool
    ) throws -> ResolvedConflict {
        let isFolder = try provider.item(at: path)?.isFolder ?? false
        let main = try isFolder ? nil : fileIfThere(at: path)
        let files = try copies.compactMap { try fileIfThere(at: $0) }
        let versions = try main == nil ? [] : provider.conflictVersions(of: path)
        let all = try versions + files.flatMap { try provider.conflictVersions(of: $0.path) }
        let file = try main == nil ? nil : archive.index().files[path]
        let lost = try file.map { try self.lost($0.overwritten, replacedBy: $0.content, at: path, logs) } ?? []
        let earlier = try files.flatMap { try contentsBefore($0) } + lost.compactMap { try archive.wholeBytes(of: $0) }
        let contents = Set(([main].compactMap { $0 } + files).map(\.bytes) + all.map(\.bytes) + earlier)
        // A file with another spelling does not descend from this file's versions.
        let isTwin = copies.contains { ConflictCopies.original(of: $0) != path }
        let resolution =
            try isFolder
            ? ConflictResolution(apart: contents)
            : ConflictResolution(contents, at: path, archive, isTwin ? LineageLogs() : logs)
        if !isFolder, resolution.outcome == .identical || main == nil, try isChanging([path] + copies) {
            return ResolvedConflict(path: path, copies: copies, outcome: .waiting)
        }

        let outcome = resolution.outcome == .identical && main == nil ? .restored : resolution.outcome
        if isPreview {
            return ResolvedConflict(
                path: path, copies: copies, outcome: outcome,
                kept: resolution.apart.compactMap { KeptCopyName.places(for: ContentHash(of: $0), beside: path).first },
                assumedDeleted: resolution.deleted)
        }
        let kept = try writes.sync {
            let kept = try resolution.apart.map { try keep($0, beside: path) }
            try keep(versions, of: main)
            let parents = contents.map { ContentHash(of: $0) }.sorted { $0.rawValue < $1.rawValue }
            if let whole = resolution.whole, whole != main?.bytes {
                _ = try put(whole, to: path, replacing: main?.version, by: .recollect, as: .merged, parents: parents)
            } else if let main, !lost.isEmpty || !resolution.deleted.isEmpty {
                // The file stays as it is. Without this line, the next resolution would find the same lost versions,
                // and `restoreConflict` could not restore the text taken for deleted.
                try archive.recordMerge(path, into: main.version, parents: parents, now: configuration.now())
            }
            // A copy is removed only with the resolved content. A copy changed since stays.
            for file in files { try discard(file.path, file, by: .recollect) }
            try provider.resolve(versions, of: path)
            return kept
        }
        return ResolvedConflict(
            path: path, copies: copies, outcome: outcome, kept: kept, assumedDeleted: resolution.deleted)
    }
}

extension SharedWorkspace {
    /// Returns the earlier contents of a copy, since its name was last free. Services name copies by the second,
    /// and may overwrite one copy with another. Contents missing in the archive are left out.
    private func contentsBefore(_ copy: WorkspaceFile) throws -> [[UInt8]] {
        let versions = try archive.index().files[copy.path]?.versions ?? []
        let since = versions.reversed().prefix { !$0.kind.isAbsence }
        return try Set(since.map(\.hash)).subtracting([copy.version]).compactMap { try archive.wholeBytes(of: $0) }
    }

    /// Restores the versions of the last resolved conflict of a file on this device, as files beside it. The file
    /// itself does not change.
    ///
    /// A version already restored, or equal to the file's content, is not written again. If the call is
    /// interrupted, some of the files exist, and the next call continues.
    /// - Returns: The files, in the order of their contents' hashes.
    /// - Throws: `notFound` if no conflict of the file was resolved on this device, or a version is missing in the
    ///   archive; errors of the disk.
    @discardableResult
    public func restoreConflict(
        _ path: WorkspacePath, by author: WorkspaceAuthor = .user
    ) async throws -> [WorkspacePath] {
        try await writing {
            let path = try self.provider.spelling(of: path)
            guard let resolution = try self.archive.versions(of: path).first(where: { $0.kind == .merged }) else {
                throw RecollectError(.notFound, "no conflict of \(path) was resolved on this device")
            }
            let current = try self.fileIfThere(at: path)?.version
            let wanted = resolution.parents.filter { $0 != current && $0 != resolution.hash }
            // All versions are read first: if one is missing, none is restored.
            let contents = try wanted.map { version in
                guard let bytes = try self.archive.bytes(of: version) else {
                    throw RecollectError(
                        .notFound,
                        "version \(version.rawValue.prefix(8)) of \(path) is no longer in the archive of this device")
                }
                return bytes
            }
            return try contents.map { try self.keep($0, beside: path, by: author, as: .restored) }
        }
    }

    /// Writes a content beside its file as a kept copy, and returns the path. Blocks.
    /// - Throws: `notLocal` if the file at the path is not local; its download is requested. `FileChangedError` if
    ///   each possible name has another content.
    func keep(
        _ bytes: [UInt8], beside path: WorkspacePath, by author: WorkspaceAuthor = .recollect,
        as kind: WorkspaceVersion.Kind = .merged
    ) throws -> WorkspacePath {
        let hash = ContentHash(of: bytes)
        var taken = FileChangedError(path: path, current: nil)
        for place in KeptCopyName.places(for: hash, beside: path) {
            let there: WorkspaceFile?
            do {
                there = try fileIfThere(at: place)
            } catch let error as RecollectError where error.code == .notLocal {
                try provider.requestDownload(of: place)
                throw error
            }
            guard let there else {
                let parents = kind == .merged ? [hash] : []
                return try put(bytes, to: place, replacing: nil, by: author, as: kind, parents: parents).path
            }
            // The content is the same if another device resolved this conflict, and different if the kept copy was
            // edited.
            if there.version == hash { return place }
            taken = FileChangedError(path: place, current: there)
        }
        throw taken
    }

    /// Whether one of the files of a conflict changed a short time ago, so that the winning content, or the removal of
    /// the file, may still arrive.
    ///
    /// A service makes a copy of the losing content. If this device lost, the file is missing, or equals the copy, until
    /// the winning content arrives and overwrites it. Both may arrive in any order: the file may come from a device
    /// without the winning content. A duplicate folder may have some of the files, and the original folder the others.
    private func isChanging(_ paths: [WorkspacePath]) throws -> Bool {
        let files = try archive.index().files
        // A clock set back does not extend the wait.
        let now = configuration.now()
        return paths.contains { path in
            files[path]?.versions.last.map { abs(now.timeIntervalSince($0.date)) < Self.longestDelay } ?? false
        }
    }

    /// The maximum delay between a copy and the winning content, in seconds.
    static var longestDelay: TimeInterval { 600 }

    /// Archives the versions of a file at its provider before they are resolved, or removed with their file.
    func keep(_ versions: [ConflictVersion], of main: WorkspaceFile?) throws {
        guard let main, !versions.isEmpty else { return }
        for bytes in versions.map(\.bytes) + [main.bytes] {
            let found = ObservedContent(path: main.path, hash: ContentHash(of: bytes), bytes: bytes, isContested: true)
            try archive.found([found], since: archive.snapshot().moment, now: configuration.now())
        }
    }
}

/// The resolution of a conflict, decided only from the contents and their lineage known to this device.
struct ConflictResolution {
    /// The file's new content.
    let whole: [UInt8]?
    /// The contents not merged into `whole`, in the order of their hashes.
    let apart: [[UInt8]]
    let outcome: ResolvedConflict.Outcome
    /// The lines assumed deleted.
    let deleted: [String]

    /// Creates the resolution for a file on this device and a folder of the same name on another. All contents are
    /// kept beside the folder.
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
        let lineage = logs.lineage(of: path, contradicting: Set(hashes.values))
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
        let all = Dictionary(uniqueKeysWithValues: hashes.map { ($1, $0) })
        let base = try lineage.base(of: latest.compactMap { hashes[$0] }) { Set(try archive.sizes(of: $0).keys) }
            .flatMap { try lineage.havePart(all, since: $0) ? nil : archive.wholeBytes(of: $0) }
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
