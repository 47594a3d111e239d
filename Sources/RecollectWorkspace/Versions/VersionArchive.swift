import Foundation
import RecollectCore

/// Every content that was seen or written in a workspace on this device, and a log of what became of which file.
///
/// Lies in a folder of its own that is never synced: contents in `objects` (`KeptContents`), each on the disk before a line names
/// it, and `log` (`VersionLog`), to which lines are only added. Processes share it: a line is added under the folder's lock, which is never
/// held while something waits for a provider; lines that others added are taken in before every answer. A change of a file is
/// written down before it is made and after, so that a process killed in between leaves nothing that could be taken for
/// somebody else's change.
///
/// All calls block, and throw `RecollectError`.
final class VersionArchive: Sendable {
    typealias Moment = VersionLog.Moment

    /// Where it lies.
    let path: String
    private let log = Locked(VersionLog())
    private let events: StoreEvents?

    /// - Parameter events: Where damage that was healed is told.
    init(path: String, events: StoreEvents? = nil) {
        self.path = path
        self.events = events
    }

    // MARK: What is known

    /// What the log says now.
    func index() throws -> VersionIndex {
        try reading { $0.index }
    }

    /// What the log says now, and a name for this moment.
    func snapshot() throws -> (index: VersionIndex, moment: Moment) {
        try reading { ($0.index, $0.moment) }
    }

    /// The versions of a path, newest first; those whose writer was killed before it knew whether they were made are `begun`.
    func versions(of path: WorkspacePath) throws -> [WorkspaceVersion] {
        try reading { log in
            guard let file = log.index.files[path] else { return [] }
            var versions = file.versions
            for line in file.begun where !line.version.kind.isAbsence {
                let begun = line.version.asBegun
                let earlier = versions.lastIndex { $0.date <= begun.date }
                versions.insert(begun, at: earlier.map { $0 + 1 } ?? 0)
            }
            return versions.reversed()
        }
    }

    /// The bytes of a content; `nil` where it is not kept.
    func bytes(of hash: ContentHash) throws -> [UInt8]? {
        try explaining("read", path) {
            guard let folder = try ifThere({ try OpenFolder(path: path) }) else { return nil }
            return try KeptContents(in: folder).bytes(of: hash)
        }
    }

    /// How many bytes each of some contents has; those that are not kept are left out.
    func sizes(of hashes: some Sequence<ContentHash>) throws -> [ContentHash: Int] {
        try explaining("look at", path) {
            guard let folder = try ifThere({ try OpenFolder(path: path) }) else { return [:] }
            let kept = KeptContents(in: folder)
            return try hashes.reduce(into: [:]) { $0[$1] = try kept.size(of: $1) }
        }
    }

    /// The bytes of a content; `nil` where it is not kept, or not any more as it was.
    func wholeBytes(of hash: ContentHash) throws -> [UInt8]? {
        do {
            return try bytes(of: hash)
        } catch let error as RecollectError where error.code == .damaged {
            return nil
        }
    }

    // MARK: Changes on this device

    /// Writes down changes that are about to be made, on the disk when this returns, after the contents that they begin or end.
    /// - Returns: The changes as they are written down, for `finish` and `withdraw`: a millisecond later where a file had a change that is
    ///   the same in every field.
    @discardableResult
    func begin(_ changes: [VersionLine], keeping contents: [[UInt8]]) throws -> [VersionLine] {
        try locked { folder, log in
            try KeptContents(in: folder).keep(
                Dictionary(contents.map { (ContentHash(of: $0), $0) }, uniquingKeysWith: { first, _ in first }))
            let changes = changes.map { log.index.unlikeOthers($0).marked(.begun) }
            do {
                try log.append(changes, in: folder, durably: true)
            } catch {
                // They may be there all the same, and nobody makes them now.
                try? log.append(changes.map { $0.marked(.withdrawn) }, in: folder, durably: false)
                throw error
            }
            return changes
        }
    }

    /// Writes down that changes were made, and so was what they replaced, where that was only begun.
    func finish(_ changes: [VersionLine]) throws {
        try locked { folder, log in
            let lines = changes.flatMap { log.index.settled(by: $0) + [$0] }
            // Should this be lost, the change is recognized by what was begun.
            try log.append(lines.map { $0.marked(.done) }, in: folder, durably: false)
        }
    }

    /// Writes down that changes were refused.
    func withdraw(_ changes: [VersionLine]) throws {
        try locked { folder, log in
            try log.append(changes.map { $0.marked(.withdrawn) }, in: folder, durably: false)
        }
    }

    // MARK: What was found

    /// Takes in what files were found to have, each file once.
    ///
    /// What is to be kept is on the disk, all of it, before the first line that names any of it.
    /// - Parameters:
    ///   - contents: What was found; of a file of which something was written down since the moment, nothing is concluded.
    ///   - moment: When the first of the files was about to be read.
    ///   - now: When they were found.
    func found(_ contents: [FoundContent], since moment: Moment, now: Date) throws {
        guard !contents.isEmpty else { return }
        try locked { folder, log in
            var lines: [VersionLine] = []
            var kept: [ContentHash: [UInt8]] = [:]
            for found in contents where log.isUntouched(found.path, since: moment) {
                let file = log.index.files[found.path, default: .init()]
                if file.content == found.hash { continue }
                if let own = file.begun.last(where: { $0.version.hash == found.hash && !$0.version.kind.isAbsence }) {
                    lines += (log.index.settled(by: own) + [own]).map { $0.marked(.done) }
                } else {
                    lines.append(found.line(at: now))
                    if let bytes = found.bytes { kept[found.hash] = bytes }
                }
            }
            try KeptContents(in: folder).keep(kept)
            try log.append(lines, in: folder, durably: false)
        }
    }

    /// Takes in that contents went into one that a file has already.
    func folded(_ path: WorkspacePath, into hash: ContentHash, parents: [ContentHash], now: Date) throws {
        try locked { folder, log in
            let version = WorkspaceVersion(
                hash: hash, date: now.wholeMilliseconds, author: .recollect, kind: .folded, parents: parents)
            let line = log.index.unlikeOthers(VersionLine(mark: .done, path: path, version: version))
            try log.append([line], in: folder, durably: false)
        }
    }

    /// Takes in that files were found gone.
    func foundGone(_ paths: [WorkspacePath], since moment: Moment, now: Date) throws {
        guard !paths.isEmpty else { return }
        try locked { folder, log in
            let lines = paths.compactMap { path -> VersionLine? in
                guard log.isUntouched(path, since: moment), let file = log.index.files[path],
                    let content = file.content
                else { return nil }
                if let own = file.begun.last(where: { $0.version.hash == content && $0.version.kind.isAbsence }) {
                    return own.marked(.done)
                }
                let version = WorkspaceVersion(
                    hash: content, date: now.wholeMilliseconds, author: nil, kind: .removed)
                return VersionLine(mark: .done, path: path, version: version)
            }
            try log.append(lines, in: folder, durably: false)
        }
    }

    // MARK: Small files beside the log

    /// The bytes of a file beside the log; `nil` where there is none.
    func note(_ name: String) throws -> [UInt8]? {
        try explaining("read", path) {
            try ifThere {
                let file = try OpenFolder(path: path).file(name, forWriting: false)
                return try file.read(at: 0, count: try file.size())
            }
        }
    }

    /// Replaces a file beside the log, or removes it.
    func setNote(_ name: String, _ bytes: [UInt8]?) throws {
        try locked { folder, _ in
            if let bytes {
                _ = try folder.replace(name) { try $0.write(bytes, at: 0) }
            } else {
                _ = try ifThere { try folder.remove(name) }
            }
        }
    }

    // MARK: What other devices are told

    /// What this device has written of its lineage log.
    func lineageWriter() throws -> LineageWriter {
        // An unreadable note is replaced: the device then writes a new log under a new name, and the old one stays.
        try note(Self.lineageName).flatMap { try? JSONDecoder().decode(LineageWriter.self, from: Data($0)) }
            ?? LineageWriter()
    }

    /// Adds the changes that were written down since the last call to the lineage log.
    ///
    /// What is returned here and not written, because the process is killed or the provider refuses, is missing in the log: others
    /// know less then, and nothing wrong.
    /// - Parameter file: The content of the segment's file; `nil` where there is none.
    /// - Returns: The segments to write, and the names of the files to remove.
    func addToLineage(over file: [UInt8]?) throws -> (written: [LineageSegment], removed: [String]) {
        try locked { folder, log in
            var writer = try lineageWriter()
            let changes = try log.lines(since: writer.moment, in: folder)
            var versions: [WorkspacePath: [WorkspaceVersion: WorkspaceVersion]] = [:]
            for path in Set(changes.map(\.path)) {
                guard let file = log.index.files[path] else { continue }
                // Of two that are the same in every field, within one millisecond, the last one is told.
                versions[path] = Dictionary(zip(file.versions, file.lineage), uniquingKeysWith: { _, last in last })
            }
            let told = changes.compactMap { line -> VersionLine? in
                guard line.mark == .done, let version = versions[line.path]?[line.version] else { return nil }
                let told = VersionLine(mark: .done, path: line.path, version: version)
                return told.tellsOthers ? told : nil
            }
            guard !told.isEmpty else { return ([], []) }
            let result = writer.add(told, file: file)
            writer.moment = log.moment
            let note = try JSONEncoder().encode(writer)
            // Not synced to the disk: after a power cut the device writes a new log at worst.
            let (name, _) = try folder.stage { try $0.write(Array(note), at: 0) }
            try folder.rename(name, to: Self.lineageName)
            return result
        }
    }

    private static let lineageName = "lineage"

    // MARK: Size

    /// How many contents are kept, and their bytes in all.
    func size() throws -> (contents: Int, bytes: Int) {
        try explaining("list", path) {
            guard let folder = try ifThere({ try OpenFolder(path: path) }) else { return (0, 0) }
            return try KeptContents(in: folder).size()
        }
    }

    /// Forgets versions older than a moment, except the content that each file has and the last one from elsewhere, and removes the contents
    /// that no version has any more, and what writers that were killed left. Begun changes stay for a day: they may be under way. Once the log
    /// was damaged, what no version has stays until `recover` gave it one.
    func prune(olderThan moment: Date, now: Date) throws {
        try locked { folder, log in
            let lines = log.index.lines(
                keeping: { $0.date >= moment }, isOpen: { abs(now.timeIntervalSince($0.date)) < Self.longestChange })
            let contents = KeptContents(in: folder)
            let isGuarded = try note(Self.unnamedName) != nil
            let unnamed = try isGuarded ? Set(contents.all().keys).subtracting(log.index.hashes) : []
            try log.begin(anew: lines, in: folder)
            try contents.removeAll(but: unnamed.union(lines.map(\.version.hash)))
            try folder.removeLeftovers(among: folder.names())
            let absent = log.index.files.filter { $0.value.content == nil }.keys
            try removeDetails(but: Set(absent.map(Self.detailsName)), in: folder)
        }
    }

    /// The longest time between the lines `begun` and `done` of a change, in seconds.
    private static let longestChange: TimeInterval = 86_400

    // MARK: Taking turns

    private func reading<Result>(_ body: (VersionLog) throws -> Result) throws -> Result {
        try log.withLock { log in
            try explaining("read", path) {
                if let folder = try ifThere({ try OpenFolder(path: path) }) {
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
            try explaining("write", path) {
                let folder = try OpenFolder.make(path: path)
                return try withExtendedLifetime(folder) {
                    try folder.lock(exclusively: true)
                    try log.refresh(from: folder)
                    if log.isDamaged { try heal(&log, in: folder) }
                    return try body(folder, &log)
                }
            }
        }
    }

    /// Begins the log anew with what can be read of it. The damaged one stays beside it, and contents that no line names any more stay too.
    private func heal(_ log: inout VersionLog, in folder: OpenFolder) throws {
        let aside = Self.damagedLogPrefix + UUID().uuidString
        // First of all: contents that nothing protects go with the next pruning.
        _ = try folder.replace(Self.unnamedName) { _ in }
        let lines = log.index.lines(keeping: { _ in true }, isOpen: { _ in true })
        try log.begin(anew: lines, keepingOldAs: aside, in: folder)
        events?.post(StoreEvent(kind: .salvaged, setAside: URL(fileURLWithPath: folder.path(of: aside))))
    }

    static let damagedLogPrefix = "log.damaged-"
    /// A note that says that there may be contents which no line names, because the log was damaged.
    static let unnamedName = "unnamed"
}
