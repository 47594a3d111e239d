import Foundation
import RecollectCore
import RecollectFileSystem

/// All contents observed or written in a workspace on this device, and a log of the changes to each file.
///
/// The archive is a folder of its own, never synced. It has the contents in `objects` (`ContentStore`), and `log`
/// (`VersionLog`). Lines are only appended to the log; pruning, repair and recovery replace it. Content reaches
/// the disk before a line naming it. Processes share the archive: they append lines under the folder's lock, never
/// held during a wait for a provider, and read the lines of other processes before every result. A change to a
/// file is recorded before and after it is made. So a change by a killed process is never taken for another
/// program's.
///
/// All calls block, and throw `RecollectError`.
final class VersionArchive: Sendable {
    typealias Position = VersionLog.Position

    /// The folder's path.
    let path: String
    private let log = Locked(VersionLog())
    private let events: StoreEvents?

    /// Creates an archive in a folder, without opening it. The first change creates the folder.
    /// - Parameter events: Receives an event for each repair.
    init(path: String, events: StoreEvents? = nil) {
        self.path = path
        self.events = events
    }

    // MARK: Reading

    /// Returns the current state of the log.
    func index() throws -> VersionIndex {
        try reading { $0.index }
    }

    /// Returns the current state of the log, and its position.
    func snapshot() throws -> (index: VersionIndex, position: Position) {
        try reading { ($0.index, $0.position) }
    }

    /// Returns the versions of a path, newest first.
    ///
    /// Changes with an unknown outcome, except removals, are included as `begun`: their writer is at work or was
    /// killed.
    func versions(of path: WorkspacePath) throws -> [WorkspaceVersion] {
        try reading { log in
            guard let file = log.index.files[path] else { return [] }
            var versions = file.markedVersions
            for line in file.begun where !line.version.kind.isAbsence {
                let begun = line.version.asBegun
                let earlier = versions.lastIndex { $0.date <= begun.date }
                versions.insert(begun, at: earlier.map { $0 + 1 } ?? 0)
            }
            return versions.reversed()
        }
    }

    /// Returns the bytes of content; `nil` if it is not in the archive.
    /// - Throws: `damaged` if its file has other bytes.
    func bytes(of hash: ContentHash) throws -> [UInt8]? {
        try withFileErrors("read", path) {
            guard let folder = try nilIfMissing({ try OpenFolder(path: path) }) else { return nil }
            return try ContentStore(in: folder).bytes(of: hash)
        }
    }

    /// Returns the sizes of contents in bytes. Contents missing in the archive are left out.
    func sizes(of hashes: some Sequence<ContentHash>) throws -> [ContentHash: Int] {
        try withFileErrors("read", path) {
            guard let folder = try nilIfMissing({ try OpenFolder(path: path) }) else { return [:] }
            let kept = ContentStore(in: folder)
            return try hashes.reduce(into: [:]) { $0[$1] = try kept.size(of: $1) }
        }
    }

    /// Returns the bytes of content; `nil` if it is missing or damaged in the archive.
    func wholeBytes(of hash: ContentHash) throws -> [UInt8]? {
        do {
            return try bytes(of: hash)
        } catch let error as RecollectError where error.code == .damaged {
            return nil
        }
    }

    // MARK: Changes on this device

    /// Records changes before they are made. On return, the lines are durable. The new and the replaced contents
    /// reach the disk before them.
    /// - Returns: The changes as recorded, for `finish` and `withdraw`. A change equal to an earlier one of its
    ///   file in every field is dated one or more milliseconds later.
    @discardableResult
    func begin(_ changes: [VersionLine], keeping contents: [[UInt8]]) throws -> [VersionLine] {
        try locked { folder, log in
            try ContentStore(in: folder).save(
                Dictionary(contents.map { (ContentHash(of: $0), $0) }, uniquingKeysWith: { first, _ in first }))
            let changes = changes.map { log.index.unlikeOthers($0).marked(.begun) }
            do {
                try log.append(changes, in: folder, durably: true)
            } catch {
                // Some lines may be in the log despite the error. The changes are not made.
                try? log.append(changes.map { $0.marked(.withdrawn) }, in: folder, durably: false)
                throw error
            }
            return changes
        }
    }

    /// Records changes as made. Begun changes are recorded as made, too, if these changes replaced their content.
    ///
    /// A change is ignored if its `begun` line and its content were pruned: another one replaced it long before. Without a later
    /// version of its file, a change begun more than a day before is dated now: the content before it was current until then.
    func finish(_ changes: [VersionLine], now: Date) throws {
        try locked { folder, log in
            let contents = ContentStore(in: folder)
            let lines = try changes.filter { try log.index.hasBegun($0) || contents.size(of: $0.version.hash) != nil }
                .flatMap { log.index.superseding(by: $0) + [log.index.isOpen($0) ? log.index.made($0, now: now) : $0] }
            // If this line is lost, the next scan finds the content of the `begun` line in the file.
            try log.append(lines.map { $0.marked(.done) }, in: folder, durably: false)
        }
    }

    /// Archives content already in a file.
    func save(_ bytes: [UInt8]) throws {
        try locked { folder, _ in try ContentStore(in: folder).save([ContentHash(of: bytes): bytes]) }
    }

    /// Records changes as refused.
    func withdraw(_ changes: [VersionLine]) throws {
        try locked { folder, log in
            try log.append(changes.map { $0.marked(.withdrawn) }, in: folder, durably: false)
        }
    }

    // MARK: Observed changes

    /// Records the contents observed in files, each file once.
    ///
    /// All contents to archive reach the disk before the first line naming one of them. If a file has the content
    /// of a begun change, the change is recorded as made.
    /// - Parameters:
    ///   - contents: The observed contents. Files with a line recorded since `position` are ignored.
    ///   - position: The log's position before the first of the files was read.
    ///   - now: The date of the scan.
    func found(_ contents: [ObservedContent], since position: Position, now: Date) throws {
        guard !contents.isEmpty else { return }
        try locked { folder, log in
            var lines: [VersionLine] = []
            var kept: [ContentHash: [UInt8]] = [:]
            for found in contents where log.isUntouched(found.path, since: position) {
                let file = log.index.files[found.path, default: .init()]
                if file.content == found.hash { continue }
                if let own = file.open.last(where: { $0.version.hash == found.hash && !$0.version.kind.isAbsence }) {
                    lines += (log.index.superseding(by: own) + [log.index.made(own, now: now)]).map { $0.marked(.done) }
                } else {
                    lines.append(found.line(at: now))
                    if let bytes = found.bytes { kept[found.hash] = bytes }
                }
            }
            try ContentStore(in: folder).save(kept)
            try log.append(lines, in: folder, durably: false)
        }
    }

    /// Records a merge into content already in the file.
    func recordMerge(_ path: WorkspacePath, into hash: ContentHash, parents: [ContentHash], now: Date) throws {
        try locked { folder, log in
            let version = WorkspaceVersion(
                hash: hash, date: now.wholeMilliseconds, author: .recollect, kind: .merged, parents: parents)
            let line = log.index.unlikeOthers(VersionLine(mark: .done, path: path, version: version))
            try log.append([line], in: folder, durably: false)
        }
    }

    /// Records files as removed. Files with a line recorded since `position` are ignored.
    ///
    /// If a removal of the file was begun, that change is recorded as made.
    func recordDeleted(_ paths: [WorkspacePath], since position: Position, now: Date) throws {
        guard !paths.isEmpty else { return }
        try locked { folder, log in
            let lines = paths.compactMap { path -> VersionLine? in
                guard log.isUntouched(path, since: position), let file = log.index.files[path],
                    let content = file.content
                else { return nil }
                if let own = log.index.removal(of: path, now: now) { return own.marked(.done) }
                let version = WorkspaceVersion(
                    hash: content, date: now.wholeMilliseconds, author: nil, kind: .removed)
                return VersionLine(mark: .done, path: path, version: version)
            }
            try log.append(lines, in: folder, durably: false)
        }
    }

    // MARK: Small files beside the log

    /// Returns the bytes of a file beside the log; `nil` if there is none.
    func note(_ name: String) throws -> [UInt8]? {
        try withFileErrors("read", path) {
            try nilIfMissing {
                let file = try OpenFolder(path: path).file(name, forWriting: false)
                return try file.readAll()
            }
        }
    }

    /// Replaces a file beside the log; `nil` removes it.
    func setNote(_ name: String, _ bytes: [UInt8]?) throws {
        try locked { folder, _ in
            if let bytes {
                _ = try folder.replace(name) { try $0.write(bytes, at: 0) }
            } else {
                _ = try nilIfMissing { try folder.remove(name) }
            }
        }
    }

    // MARK: Size

    /// Returns the number of contents, and their total size in bytes.
    func size() throws -> (contents: Int, bytes: Int) {
        try withFileErrors("list", path) {
            guard let folder = try nilIfMissing({ try OpenFolder(path: path) }) else { return (0, 0) }
            return try ContentStore(in: folder).size()
        }
    }

    /// Removes versions older than a date, except the one before the first remaining one of each file, which was replaced
    /// later, and those of an existing file that may be the base of its next merge: the current one, and the last observed or
    /// edited one.
    ///
    /// Then removes contents without a version, temporary files of killed writers, and metadata of files not
    /// recorded as removed. Begun changes stay for a day, because they may be in progress. Contents without a version stay if
    /// they were saved since the date: the log may have lost their versions. After visible damage to the log, all of them
    /// stay until `recover` adds versions.
    func prune(olderThan date: Date, now: Date) throws {
        try locked { folder, log in
            let lines = log.index.lines(
                keeping: { $0.date >= date }, isOpen: { VersionIndex.mayBeInProgress($0, now: now) })
            let contents = ContentStore(in: folder)
            let isGuarded = try note(Self.unnamedName) != nil
            let saved = try contents.all().filter { isGuarded || $0.value >= date }
            let unnamed = Set(saved.keys).subtracting(log.index.hashes)
            try log.replaceLines(with: lines, in: folder)
            try contents.removeAll(but: unnamed.union(lines.map(\.version.hash)))
            try folder.removeLeftovers(among: folder.names())
            let absent = log.index.files.filter { $0.value.content == nil }.keys
            try removeDetails(but: Set(absent.map(Self.detailsName)), in: folder)
        }
    }

    // MARK: Locking

    private func reading<Result>(_ body: (VersionLog) throws -> Result) throws -> Result {
        try log.withLock { log in
            try withFileErrors("read", path) {
                if let folder = try nilIfMissing({ try OpenFolder(path: path) }) {
                    try log.refresh(from: folder)
                } else {
                    log = VersionLog()
                }
            }
            return try body(log)
        }
    }

    func locked<Result>(_ body: (OpenFolder, inout VersionLog) throws -> Result) throws -> Result {
        try log.withLock { log in
            try withFileErrors("write", path) {
                let folder = try OpenFolder.make(path: path)
                return try withExtendedLifetime(folder) {
                    try folder.lock(exclusively: true)
                    try log.refresh(from: folder)
                    if log.isDamaged { try salvage(&log, in: folder) }
                    try finishRedactions(&log, in: folder)
                    return try body(folder, &log)
                }
            }
        }
    }

    /// Replaces a damaged log with one of its readable lines, and posts an event. The damaged log stays beside it,
    /// and contents without a line stay, too.
    private func salvage(_ log: inout VersionLog, in folder: OpenFolder) throws {
        let aside = Self.damagedLogPrefix + UUID.random().uuidString
        // This comes first: without the note, the next pruning removes contents without a line.
        _ = try folder.replace(Self.unnamedName) { _ in }
        let lines = log.index.lines(keeping: { _ in true }, isOpen: { _ in true })
        try log.replaceLines(with: lines, keepingOldAs: aside, in: folder)
        events?.post(StoreEvent(kind: .salvaged, setAsideURL: URL(fileURLWithPath: folder.path(of: aside))))
    }

    static let damagedLogPrefix = "log.damaged-"
    /// The name of a note about damage to the log: contents without a line may exist.
    static let unnamedName = "unnamed"
}
