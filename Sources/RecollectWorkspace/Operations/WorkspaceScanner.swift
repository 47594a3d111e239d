import Foundation
import RecollectCore
import RecollectFileSystem

/// Scans the folder of a workspace: archives changes made elsewhere, and detects mass deletions. Methods block.
final class WorkspaceScanner: Sendable {
    /// The state between scans.
    private struct State {
        var table: FileTable?
        var postedNameCollisions: Set<String> = []
        /// Whether the last scan found a mass deletion, so that its event is posted once.
        var isGuarded = false
        /// The date of the last settling of leftovers.
        var leftoversResolved: Date?
    }

    let provider: any WorkspaceProvider
    let archive: VersionArchive
    let configuration: WorkspaceConfiguration
    private let lineage: LineagePublisher
    private let events: StoreEvents
    private let state = Locked(State())

    init(
        provider: any WorkspaceProvider, archive: VersionArchive, configuration: WorkspaceConfiguration,
        lineage: LineagePublisher, events: StoreEvents
    ) {
        self.provider = provider
        self.archive = archive
        self.configuration = configuration
        self.lineage = lineage
        self.events = events
    }

    /// Scans the whole folder: archives changes made elsewhere since the last scan, and returns the current files.
    ///
    /// Reads only files with a stamp different from the last scan's, so an unchanged folder costs a listing. The
    /// recorded state of files in an unreadable folder stays. Blocks.
    /// - Parameter acceptingDeletions: Whether all missing files are recorded as deleted, even in a mass deletion.
    func scan(acceptingDeletions: Bool = false) throws -> WorkspaceScan {
        try state.withLock { state in
            let (index, position) = try archive.snapshot()
            let now = configuration.now()
            let table = try state.table ?? FileTable(bytes: archive.note(Self.tableName) ?? [])
            let known = Self.known(index, table)

            let root = rootIdentity
            guard var listing = try resolvedListing(&state, now: now) else {
                if acceptingDeletions {
                    throw RecollectError(
                        .unavailable, "\(provider.rootURL.path) is missing: no deletions are recorded")
                }
                try recordMassDeletion(true, &state)
                return WorkspaceScan(
                    index: index, table: table, missing: known.sorted(), isMassDeletion: true, isAvailable: false)
            }
            var found = table
            var there = Set<WorkspacePath>(minimumCapacity: listing.items.count)
            var batch = ObservedBatch()
            for item in listing.items.indices where !listing.items[item].isFolder {
                let path = listing.items[item].path
                there.insert(path)
                let row = table.rows[path]
                let isConflicted = listing.conflicted.contains(path)
                let current = try take(&listing.items[item], row, index, isConflicted, now: now, &batch)
                if current != row { found.rows[path] = current }
                if batch.isFull {
                    try archive.found(batch.contents, since: position, now: now)
                    batch = ObservedBatch()
                }
            }
            try archive.found(batch.contents, since: position, now: now)
            let latest = try archive.index()
            let absent = known.filter { !there.contains($0) }
            let gone = absent.filter { !listing.isHidden($0) }.sorted()
            let missing = gone.filter { path in
                // The file may have been trashed here during the scan.
                guard index.files[path]?.content != nil, let file = latest.files[path] else { return true }
                return file.content != nil && latest.removal(of: path, now: now) == nil
            }
            // For a missing conflict copy with an existing original, another device resolved the conflict.
            let unexplained = missing.count { path in
                ConflictCopies.original(of: path).map { !there.contains($0) } ?? true
            }
            let hidden = absent.count - gone.count
            let isMassDeletion =
                try !acceptingDeletions
                && countsAsMassDeletion(missing: unexplained, of: known.count - hidden, hidden: hidden)
            try recordMassDeletion(isMassDeletion, &state)
            if !isMassDeletion {
                try archive.recordDeleted(gone, since: position, now: now)
                if absent.isEmpty || absent.count < known.count { try noteRoot(root) }
            }
            if found.rows.count > there.count {
                let kept = Set(isMassDeletion ? missing : [])
                found.rows = found.rows.filter { path, _ in
                    there.contains(path) || kept.contains(path) || listing.isHidden(path)
                }
            }
            if found != table || state.table == nil {
                try archive.setNote(Self.tableName, found.bytes)
                postNameCollisions(among: found.rows.keys, &state)
            }
            state.table = found
            if !isMassDeletion { lineage.publish() }
            return WorkspaceScan(
                index: try archive.index(), table: found, listing: listing, missing: isMassDeletion ? missing : [],
                isMassDeletion: isMassDeletion)
        }
    }

    /// Returns the known files without a scan, from the last scan by any process and from later writes on this
    /// device.
    func knownFiles() throws -> [WorkspacePath: WorkspaceScan.File] {
        let table = try FileTable(bytes: archive.note(Self.tableName) ?? [])
        return WorkspaceScan(index: try archive.index(), table: table).files
    }

    /// Returns the files known before a scan: those with content in the log, and those listed without one in the
    /// table.
    private static func known(_ index: VersionIndex, _ table: FileTable) -> [WorkspacePath] {
        index.contents.keys
            + table.rows.compactMap { path, row in
                row.hash == nil && index.contents[path] == nil ? path : nil
            }
    }

    private static let tableName = "scans"
    private static let massDeletionNote = "massDeletion"
    private static let rootName = "root"

    /// Returns everything in the root, and settles leftovers of killed writers in the first scan, then at most once an
    /// hour; `nil` if the root is missing.
    private func resolvedListing(_ state: inout State, now: Date) throws -> WorkspaceListing? {
        let listing = try listingIfAvailable()
        let isDue = state.leftoversResolved.map { abs(now.timeIntervalSince($0)) >= 3_600 } ?? true
        guard let listing, isDue else { return listing }
        // Syncthing removes such a file if its modification date is older than a day, so the first scan also settles recent
        // ones.
        let isFirst = state.leftoversResolved == nil
        state.leftoversResolved = now
        return try resolveLeftovers(among: listing.items, includingRecent: isFirst).kept.isEmpty
            ? listing : listingIfAvailable()
    }

    /// Returns everything in the root; `nil` if the root is missing.
    private func listingIfAvailable() throws -> WorkspaceListing? {
        do {
            return try listing(of: .root, recursively: true)
        } catch let error as RecollectError where error.code == .unavailable {
            return nil
        }
    }

    /// Returns the table row of a file. Adds a new content to the batch, and sets the state of an unreadable item.
    private func take(
        _ item: inout WorkspaceItem, _ row: FileTable.Row?, _ index: VersionIndex, _ isConflicted: Bool, now: Date,
        _ batch: inout ObservedBatch
    ) throws -> FileTable.Row {
        guard item.state == .local || item.state == .conflicted, item.size <= configuration.maxFileSize else {
            return FileTable.Row(stamp: item.stamp, hash: nil, isResting: true)
        }
        let isResting = item.modified.map { now.timeIntervalSince($0) > Self.timestampGranularity } ?? true
        if let row, row.isResting, row.stamp == item.stamp, let hash = row.hash,
            index.contents[item.path] == hash
        {
            return row
        }
        let bytes: [UInt8]
        do {
            bytes = try provider.read(item.path, limit: configuration.maxFileSize)
        } catch let error as RecollectError where error.isOfOneFile {
            // The file is changing or unreadable now. The next scan reads it again.
            if [.permissionDenied, .inputOutput].contains(error.code) { item = item.with(.unreadable) }
            return FileTable.Row(stamp: item.stamp, hash: nil, isResting: false)
        }
        let content = try observed(item, bytes, index, isConflicted)
        if index.contents[item.path] != content.hash { batch.add(content) }
        return FileTable.Row(stamp: item.stamp, hash: content.hash, isResting: isResting)
    }

    /// Returns content unknown to the archive's index; `nil` for a known or unreadable one.
    func observed(_ item: WorkspaceItem, _ index: VersionIndex) throws -> ObservedContent? {
        do {
            let bytes = try provider.read(item.path, limit: configuration.maxFileSize)
            let content = try observed(item, bytes, index, false)
            return index.contents[item.path] == content.hash ? nil : content
        } catch let error as RecollectError where error.isOfOneFile || error.code == .notLocal {
            return nil
        }
    }

    private func observed(
        _ item: WorkspaceItem, _ bytes: [UInt8], _ index: VersionIndex, _ isConflicted: Bool
    ) throws -> ObservedContent {
        ObservedContent(
            path: item.path, hash: ContentHash(of: bytes), bytes: bytes.isText ? bytes : nil,
            isConflicted: isConflicted, isEdited: try isEdited(item, index))
    }

    /// Whether a program on this device saved the content, read since the item was, in place of a known one.
    func isEdited(_ item: WorkspaceItem, _ index: VersionIndex) throws -> Bool {
        try index.contents[item.path] != nil && item.isEdited && provider.item(at: item.path)?.stamp == item.stamp
    }

    /// The maximum age, in seconds, of a change with an unreliable stamp: with coarse timestamps, a later change
    /// may have the same one.
    private static var timestampGranularity: TimeInterval { 3 }

    /// Whether the missing files are a mass deletion: at least four and over half of the known files, or all of them
    /// together with the lineage, or in another root folder than before. A recorded mass deletion lasts until no file is
    /// missing, or hidden in an unreadable folder.
    private func countsAsMassDeletion(missing: Int, of known: Int, hidden: Int) throws -> Bool {
        guard missing + hidden > 0 else { return false }
        return try missing >= 4 && missing * 2 > known || isMassDeletionRecorded()
            || missing == known && (lineage.isMissing() || isRootReplaced())
    }

    /// Whether the root is another folder than at the last scan with a known file: it was replaced, or a volume was
    /// mounted or unmounted there.
    func isRootReplaced() throws -> Bool {
        guard let noted = try archive.note(Self.rootName), let root = rootIdentity else {
            return false
        }
        return noted != root
    }

    var rootIdentity: [UInt8]? { FileID(at: provider.rootURL.path).map { Array($0.listed.utf8) } }

    /// Records the identity of the root from before a listing, unless another folder is there now.
    func noteRoot(_ root: [UInt8]?) throws {
        guard let root, root == rootIdentity else { return }
        if try archive.note(Self.rootName) != root { try archive.setNote(Self.rootName, root) }
    }

    /// Whether the last scan by any process found a mass deletion.
    func isMassDeletionRecorded() throws -> Bool { try archive.note(Self.massDeletionNote) != nil }

    /// Publishes the lineage after a write, unless a mass deletion is recorded.
    func publishLineageOfWrite() { lineage.publishAfterWrite(unless: isMassDeletionRecorded) }

    /// Returns the lineage logs of all devices.
    func lineageLogs() throws -> LineageLogs { try lineage.logs() }

    private func recordMassDeletion(_ isMassDeletion: Bool, _ state: inout State) throws {
        if try (archive.note(Self.massDeletionNote) != nil) != isMassDeletion {
            try archive.setNote(Self.massDeletionNote, isMassDeletion ? [] : nil)
        }
        defer { state.isGuarded = isMassDeletion }
        if isMassDeletion, !state.isGuarded { events.post(StoreEvent(kind: .massDeletion)) }
    }

    private func postNameCollisions(among paths: some Sequence<WorkspacePath>, _ state: inout State) {
        let nameCollisions = Dictionary(grouping: paths, by: \.key).filter { $0.value.count > 1 }
        for (key, paths) in nameCollisions.sorted(by: { $0.key < $1.key })
        where state.postedNameCollisions.insert(key).inserted {
            events.post(StoreEvent(kind: .nameCollision, path: paths.min()?.description))
        }
    }
}
