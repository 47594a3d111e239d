import Foundation
import RecollectCore

/// Resolves the conflicts of a workspace. Methods block.
final class ConflictResolver: Sendable {
    private let scanner: WorkspaceScanner
    private let writer: WorkspaceWriter
    private let provider: any WorkspaceProvider
    private let archive: VersionArchive
    private let configuration: WorkspaceConfiguration
    private let events: StoreEvents

    init(_ writer: WorkspaceWriter, events: StoreEvents) {
        self.writer = writer
        scanner = writer.scanner
        provider = scanner.provider
        archive = scanner.archive
        configuration = scanner.configuration
        self.events = events
    }

    /// Resolves all conflicts, or returns the outcomes without any change.
    func resolve(isPreview: Bool) throws -> [ResolvedConflict] {
        let scan = try writer.queue.sync { try scanner.scan() }
        guard scan.isAvailable, !scan.isMassDeletion else {
            throw RecollectError(
                .unavailable,
                "\(provider.rootURL.path) or most of the files in it are missing: restore them to resolve conflicts"
            )
        }
        var conflicts = try conflicts(in: scan.listing)
        let files = try archive.index().files
        let present = files.filter { $1.content != nil }
        let overwritten = present.mapValues(\.overwritten)
        let hasLost =
            overwritten.values.contains { !$0.isEmpty } || files.contains { $1.content == nil && $0.isSyncthingCopy }
        let logs = try conflicts.isEmpty && !hasLost ? LineageLogs() : scanner.lineageLogs()
        for (path, file) in present where conflicts[path] == nil {
            if try !lost(overwritten[path] ?? [], replacedBy: file.content, at: path, logs).isEmpty {
                conflicts[path] = []
            }
        }
        let resolved = try conflicts.sorted { $0.key < $1.key }.map { path, copies in
            try resolution(path, copies.sorted(), knowing: logs, isPreview: isPreview)
        }
        if isPreview { return resolved }
        try writer.queue.sync { try removeFolders(among: scan.listing.items) }
        if !resolved.isEmpty {
            scanner.publishLineageOfWrite()
            writer.changes.signal()
        }
        return resolved
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
        let lost = Set(logs.lost(overwritten, at: path, replacedBy: current, within: Self.maxDelay))
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
        let main = try isFolder ? nil : scanner.fileIfPresent(at: path)
        let files = try copies.compactMap { try scanner.fileIfPresent(at: $0) }
        let versions = try main == nil ? [] : provider.conflictVersions(of: path)
        let all = try versions + files.flatMap { try provider.conflictVersions(of: $0.path) }
        let file = try main == nil ? nil : archive.index().files[path]
        let lost = try file.map { try self.lost($0.overwritten, replacedBy: $0.content, at: path, logs) } ?? []
        let earlier = try files.flatMap { try contentsBefore($0) } + lost.compactMap { try archive.wholeBytes(of: $0) }
        let contents = Dictionary(
            ([main].compactMap { $0 } + files).map { ($0.version, $0.bytes) }
                + (all.map(\.bytes) + earlier).map { (ContentHash(of: $0), $0) },
            uniquingKeysWith: { first, _ in first })
        // A file with another spelling does not descend from this file's versions.
        let isVariant = copies.contains { ConflictCopies.original(of: $0) != path }
        let resolution =
            try isFolder
            ? ConflictResolution(apart: contents)
            : ConflictResolution(
                contents, at: path, archive, isVariant ? LineageLogs() : logs, largest: configuration.maxFileSize)
        if !isFolder, resolution.outcome == .identical || main == nil, try isChanging([path] + copies) {
            return ResolvedConflict(path: path, copies: copies, outcome: .waiting)
        }

        let outcome = resolution.outcome == .identical && main == nil ? .restored : resolution.outcome
        if isPreview {
            return ResolvedConflict(
                path: path, copies: copies, outcome: outcome,
                kept: resolution.apart.compactMap { KeptCopyName.paths(for: ContentHash(of: $0), beside: path).first },
                assumedDeleted: resolution.deleted)
        }
        let kept = try writer.queue.sync {
            let kept = try resolution.apart.map { try writer.keep($0, beside: path) }
            try writer.keep(versions, of: main)
            let parents = contents.keys.sorted { $0.rawValue < $1.rawValue }
            if let whole = resolution.whole, whole != main?.bytes {
                _ = try writer.put(
                    whole, to: path, replacing: main?.version, by: .recollect, as: .merged, parents: parents)
            } else if let main, !lost.isEmpty || !resolution.deleted.isEmpty {
                // The file stays as it is. Without this line, the next resolution would find the same lost versions,
                // and `restoreConflict` could not restore the text taken for deleted.
                try archive.recordMerge(path, into: main.version, parents: parents, now: configuration.now())
            }
            // A copy is removed only with the resolved content. A copy changed since stays.
            for file in files { try writer.discard(file, by: .recollect) }
            try provider.resolve(versions, of: path)
            return kept
        }
        return ResolvedConflict(
            path: path, copies: copies, outcome: outcome, kept: kept, assumedDeleted: resolution.deleted)
    }

    /// Returns the earlier contents of a copy, since its name was last free. Services name copies by the second,
    /// and may overwrite one copy with another. Contents replaced by a write, or missing in the archive, are left out.
    private func contentsBefore(_ copy: WorkspaceFile) throws -> [[UInt8]] {
        let versions = try archive.index().files[copy.path]?.versions ?? []
        let since = versions.reversed().prefix { !$0.kind.isAbsence }
        let replaced = since.filter { $0.author != nil && $0.kind != .restored }.flatMap(\.parents)
        return try Set(since.map(\.hash)).subtracting([copy.version] + replaced).compactMap {
            try archive.wholeBytes(of: $0)
        }
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
            files[path]?.versions.last.map { abs(now.timeIntervalSince($0.date)) < Self.maxDelay } ?? false
        }
    }

    /// The maximum delay between a copy and the winning content, in seconds.
    static var maxDelay: TimeInterval { 600 }

}
