import Foundation
import RecollectCore

/// What a look at a workspace found.
struct WorkspaceLook {
    /// A file that is there, as this device knows it.
    struct File: Hashable {
        /// Its content; `nil` where that is not known: it was never here, or it is too large.
        var content: ContentHash?
        /// Its stamp, where that is all that tells its content.
        var stamp: String?
        /// Whether copies that contradict it lie beside it.
        var isConflicted: Bool
        /// Whether its content was made on this device.
        var isOwn: Bool

        /// Whether somebody who knew the one does not know the other.
        func differs(from other: File) -> Bool {
            content != other.content || (content == nil && stamp != other.stamp)
        }
    }

    fileprivate let index: VersionIndex
    fileprivate let table: FileTable
    /// Everything that is listed, files that could not be read as `unreadable`; empty while the root is gone.
    var listing = WorkspaceListing([], refusals: [:])
    /// Files that are missing while the guard stands.
    var missing: [WorkspacePath] = []
    /// Whether so much disappeared at once that nothing is concluded from it.
    var isVanished = false
    /// Whether the root can be reached.
    var isAvailable = true
}

extension SharedWorkspace {
    /// Looks at the whole folder: takes in what others changed since the last look, and says what is there.
    ///
    /// Costs a listing where nothing changed: only files whose stamp is another than at the last look are read. What lies in a folder
    /// into which nobody can look stays as it was known. Blocks.
    /// - Parameter acceptingDeletions: Whether files that are missing are deleted, however many they are.
    func look(acceptingDeletions: Bool = false) throws -> WorkspaceLook {
        try looking.withLock { state in
            let (index, moment) = try archive.snapshot()
            let now = configuration.now()
            let table = try state.table ?? FileTable(bytes: archive.note(Self.tableName) ?? [])
            let known = Self.known(index, table)

            guard var listing = try settledListing(&state, now: now) else {
                if acceptingDeletions {
                    throw RecollectError(.unavailable, "\(rootURL.path) is gone: nothing is concluded from that")
                }
                try stand(guard: true, &state)
                return WorkspaceLook(
                    index: index, table: table, missing: known.sorted(), isVanished: true, isAvailable: false)
            }
            var found = table
            var there = Set<WorkspacePath>(minimumCapacity: listing.items.count)
            var batch = FoundBatch()
            for position in listing.items.indices where !listing.items[position].isFolder {
                let path = listing.items[position].path
                there.insert(path)
                let row = table.rows[path]
                let isContested = listing.conflicted.contains(path)
                let current = try take(&listing.items[position], row, index, isContested, now: now, &batch)
                if current != row { found.rows[path] = current }
                if batch.isFull {
                    try archive.found(batch.contents, since: moment, now: now)
                    batch = FoundBatch()
                }
            }
            try archive.found(batch.contents, since: moment, now: now)
            let latest = try archive.index()
            let absent = known.filter { !there.contains($0) }
            let gone = absent.filter { !listing.isHidden($0) }.sorted()
            let missing = gone.filter { path in
                // Meanwhile it may have been put into the trash here.
                guard index.files[path]?.content != nil, let file = latest.files[path] else { return true }
                return file.content != nil && !file.begun.contains { $0.version.kind.isAbsence }
            }
            // A copy whose original is there was folded elsewhere.
            let unexplained = missing.count { path in
                ConflictCopies.original(of: path).map { !there.contains($0) } ?? true
            }
            let hidden = absent.count - gone.count
            let isVanished =
                try !acceptingDeletions && isTooMuch(missing: unexplained, of: known.count - hidden, hidden: hidden)
            try stand(guard: isVanished, &state)
            if !isVanished { try archive.foundGone(gone, since: moment, now: now) }
            if found.rows.count > there.count {
                let kept = Set(isVanished ? missing : [])
                found.rows = found.rows.filter { path, _ in
                    there.contains(path) || kept.contains(path) || listing.isHidden(path)
                }
            }
            if found != table || state.table == nil {
                try archive.setNote(Self.tableName, found.bytes)
                tellTwins(among: found.rows.keys, &state)
            }
            state.table = found
            if !isVanished { shareLineage(&state) }
            return WorkspaceLook(
                index: try archive.index(), table: found, listing: listing, missing: isVanished ? missing : [],
                isVanished: isVanished)
        }
    }

    /// What is known without looking: what the last look found, whoever looked, and what was written here since.
    func knownFiles() throws -> [WorkspacePath: WorkspaceLook.File] {
        let table = try FileTable(bytes: archive.note(Self.tableName) ?? [])
        return WorkspaceLook(index: try archive.index(), table: table).files
    }

    /// The files that were there before a look: what the log says has its content; what was listed without one has only its row.
    private static func known(_ index: VersionIndex, _ table: FileTable) -> [WorkspacePath] {
        index.contents.keys
            + table.rows.compactMap { path, row in
                row.hash == nil && index.contents[path] == nil ? path : nil
            }
    }

    private static let tableName = "looks"
    private static let guardName = "vanished"

    /// Everything that lies in the root, once what killed writers left is settled, which is tried every hour; `nil` while the root is gone.
    private func settledListing(_ state: inout LookState, now: Date) throws -> WorkspaceListing? {
        let listing = try listingIfAvailable()
        let isDue = state.settled.map { abs(now.timeIntervalSince($0)) >= 3_600 } ?? true
        guard let listing, isDue else { return listing }
        state.settled = now
        return try settleLeftovers(among: listing.items).kept.isEmpty ? listing : listingIfAvailable()
    }

    /// Everything that lies in the root; `nil` while the root is gone.
    private func listingIfAvailable() throws -> WorkspaceListing? {
        do {
            return try listing(of: .root, recursively: true)
        } catch let error as RecollectError where error.code == .unavailable {
            return nil
        }
    }

    /// Says what one file is now; a content that is new goes into the batch, and what cannot be read becomes `unreadable`.
    private func take(
        _ item: inout WorkspaceItem, _ row: FileTable.Row?, _ index: VersionIndex, _ isContested: Bool, now: Date,
        _ batch: inout FoundBatch
    ) throws -> FileTable.Row {
        guard item.state == .local || item.state == .conflicted, item.size <= configuration.largestFile else {
            return FileTable.Row(stamp: item.stamp, hash: nil, isResting: true)
        }
        let isResting = item.modified.map { now.timeIntervalSince($0) > Self.coarsestTick } ?? true
        if let row, row.isResting, row.stamp == item.stamp, let hash = row.hash,
            index.contents[item.path] == hash
        {
            return row
        }
        let bytes: [UInt8]
        do {
            bytes = try provider.read(item.path, limit: configuration.largestFile)
        } catch let error as RecollectError where error.isOfOneFile {
            // It changes while it is looked at, or cannot be read: the next look may tell more.
            if [.permissionDenied, .inputOutput].contains(error.code) { item = item.with(.unreadable) }
            return FileTable.Row(stamp: item.stamp, hash: nil, isResting: false)
        }
        let hash = ContentHash(of: bytes)
        if index.contents[item.path] != hash {
            batch.add(
                FoundContent(
                    path: item.path, hash: hash, bytes: bytes.isText ? bytes : nil, isContested: isContested))
        }
        return FileTable.Row(stamp: item.stamp, hash: hash, isResting: isResting)
    }

    /// Until a change is older than the coarsest tick of a file system, another one may leave the same stamp.
    private static var coarsestTick: TimeInterval { 3 }

    /// Whether so many files are missing, or all of them and the lineage with them, that a folder that is not there is likelier than that
    /// many deletions. Once the guard stands,
    /// it stands until none is missing, and none is hidden in a folder into which nobody can look.
    private func isTooMuch(missing: Int, of known: Int, hidden: Int) throws -> Bool {
        guard missing + hidden > 0 else { return false }
        return try missing >= 4 && missing * 2 > known || isGuardKept() || missing == known && isLineageMissing()
    }

    /// Whether the guard stood when somebody last looked, in whichever process.
    func isGuardKept() throws -> Bool { try archive.note(Self.guardName) != nil }

    private func stand(guard isVanished: Bool, _ state: inout LookState) throws {
        if try (archive.note(Self.guardName) != nil) != isVanished {
            try archive.setNote(Self.guardName, isVanished ? [] : nil)
        }
        defer { state.isGuarded = isVanished }
        if isVanished, !state.isGuarded { events.post(StoreEvent(kind: .vanished)) }
    }

    private func tellTwins(among paths: some Sequence<WorkspacePath>, _ state: inout LookState) {
        let twins = Dictionary(grouping: paths, by: \.key).filter { $0.value.count > 1 }
        for (key, paths) in twins.sorted(by: { $0.key < $1.key }) where state.toldTwins.insert(key).inserted {
            events.post(StoreEvent(kind: .twins, path: paths.min()?.description))
        }
    }
}

extension WorkspaceLook {
    /// The files that are there, or were when they were last seen and nothing may be concluded from their absence.
    var files: [WorkspacePath: File] {
        var files: [WorkspacePath: File] = [:]
        for (path, file) in index.files {
            guard let content = file.content else { continue }
            files[path] = File(
                content: content, stamp: nil, isConflicted: listing.conflicted.contains(path),
                isOwn: file.versions.last?.author != nil)
        }
        for (path, row) in table.rows where row.hash == nil && files[path] == nil {
            files[path] = File(
                content: nil, stamp: row.stamp, isConflicted: listing.conflicted.contains(path), isOwn: false)
        }
        return files
    }

    /// Files that are not there because they were put into the trash, or moved, on this device.
    var removedHere: Set<WorkspacePath> {
        Set(index.files.filter { $0.value.content == nil && $0.value.versions.last?.author != nil }.keys)
    }
}

/// What an instance remembers from look to look.
struct LookState {
    var table: FileTable?
    var toldTwins: Set<String> = []
    /// Whether the guard stood at the last look, so that it is told once.
    var isGuarded = false
    /// Up to where the archive's log was told to other devices.
    var shared: VersionLog.Moment?
    /// When what killed writers left was last settled.
    var settled: Date?
}

extension [UInt8] {
    /// Whether the bytes are text: UTF-8 without NUL.
    var isText: Bool {
        // `String(validating:as:)` needs iOS 18.
        !contains(0) && String(decoding: self, as: UTF8.self).utf8.elementsEqual(self)
    }
}
