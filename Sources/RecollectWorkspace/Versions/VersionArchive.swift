import Foundation
import RecollectCore

/// Every content that was seen or written in a workspace on this device, and a log of what became of which file.
///
/// Lies in a folder of its own that is never synced: `objects/ab/cdef…` for contents by their hash, each on the disk before a
/// line names it, and `log`, to which lines are only added. Processes share it: a line is added under the folder's lock, which is never
/// held while something waits for a provider; lines that others added are taken in before every answer. A change of a file is
/// written down before it is made and after, so that a process killed in between leaves nothing that could be taken for
/// somebody else's change.
///
/// All calls block, and throw `RecollectError`.
final class VersionArchive: Sendable {
    /// Up to where somebody knew the log.
    struct Moment {
        fileprivate let header: [UInt8]
        fileprivate let end: Int
    }

    private struct State {
        var header: [UInt8] = []
        var end = 0
        var index = VersionIndex()

        /// Whether nothing was written down of a path since a moment.
        func isUntouched(_ path: WorkspacePath, since moment: Moment) -> Bool {
            guard let file = index.files[path] else { return true }
            return header == moment.header && file.end <= moment.end
        }
    }

    /// Where it lies.
    let path: String
    private let state = Locked(State())

    init(path: String) {
        self.path = path
    }

    // MARK: What is known

    /// What the log says now.
    func index() throws -> VersionIndex {
        try reading { $0.index }
    }

    /// What the log says now, and a name for this moment.
    func snapshot() throws -> (index: VersionIndex, moment: Moment) {
        try reading { ($0.index, Moment(header: $0.header, end: $0.end)) }
    }

    /// The versions of a path, newest first; those whose writer was killed before it knew whether they were made are `begun`.
    func versions(of path: WorkspacePath) throws -> [WorkspaceVersion] {
        try reading { state in
            guard let file = state.index.files[path] else { return [] }
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
            try ifThere {
                let name = ObjectName(hash)
                let file = try OpenFolder(path: path).folder("objects").folder(name.folder)
                    .file(name.file, forWriting: false)
                let bytes = try file.read(at: 0, count: try file.size())
                guard ContentHash(of: bytes) == hash else {
                    throw RecollectError(.damaged, "the content \(hash.rawValue) in \(path) is damaged")
                }
                return bytes
            }
        }
    }

    /// Whether one content of a path went into another one on this device, over any number of writes.
    func isAncestor(_ ancestor: ContentHash, of descendant: ContentHash, at path: WorkspacePath) throws -> Bool {
        try index().files[path]?.isAncestor(ancestor, of: descendant) ?? false
    }

    /// Whether a content came of folding on this device.
    func wasFolded(_ hash: ContentHash) throws -> Bool {
        try index().folded.contains(hash)
    }

    // MARK: Changes on this device

    /// Writes down changes that are about to be made, on the disk when this returns, after the contents that they begin or end.
    func begin(_ changes: [VersionLine], keeping contents: [[UInt8]]) throws {
        try locked { folder, state in
            for content in contents { try Self.keep(content, in: folder) }
            try Self.append(changes.map { $0.marked(.begun) }, to: folder, &state, durably: true)
        }
    }

    /// Writes down that changes were made. What they replaced was there then, so it too was made if it was only begun.
    func finish(_ changes: [VersionLine]) throws {
        try locked { folder, state in
            let lines = changes.flatMap { change in
                let replaced = Set(
                    change.version.parents + (change.version.kind.isAbsence ? [change.version.hash] : []))
                let settled = state.index.files[change.path, default: .init()].begun.filter {
                    replaced.contains($0.version.hash) && !$0.version.kind.isAbsence && !$0.isSameChange(as: change)
                }
                return (settled + [change]).map { $0.marked(.done) }
            }
            // Should this be lost, the change is recognized by what was begun.
            try Self.append(lines, to: folder, &state, durably: false)
        }
    }

    /// Writes down that changes were refused.
    func withdraw(_ changes: [VersionLine]) throws {
        try locked { folder, state in
            try Self.append(changes.map { $0.marked(.withdrawn) }, to: folder, &state, durably: false)
        }
    }

    // MARK: What was found

    /// Takes in the content that a file was found to have.
    /// - Parameters:
    ///   - bytes: The content, if it is to be kept.
    ///   - moment: When the file was about to be read: if something was written down of the path since then, nothing is concluded.
    ///   - isContested: Whether copies that contradict it lie beside it.
    func found(
        _ hash: ContentHash, keeping bytes: [UInt8]?, at path: WorkspacePath, since moment: Moment, isContested: Bool,
        now: Date
    ) throws {
        try locked { folder, state in
            guard state.isUntouched(path, since: moment) else { return }
            let file = state.index.files[path, default: .init()]
            if file.content == hash { return }
            if let own = file.begun.last(where: { $0.version.hash == hash && !$0.version.kind.isAbsence }) {
                return try Self.append([own.marked(.done)], to: folder, &state, durably: false)
            }
            if let bytes { try Self.keep(bytes, in: folder) }
            let version = WorkspaceVersion(
                hash: hash, date: now.wholeMilliseconds, author: nil, kind: isContested ? .contested : .seen)
            let line = VersionLine(mark: .done, path: path, version: version)
            try Self.append([line], to: folder, &state, durably: false)
        }
    }

    /// Takes in that files were found gone.
    func foundGone(_ paths: [WorkspacePath], since moment: Moment, now: Date) throws {
        try locked { folder, state in
            let lines = paths.compactMap { path -> VersionLine? in
                guard state.isUntouched(path, since: moment), let file = state.index.files[path],
                    let content = file.content
                else { return nil }
                if let own = file.begun.last(where: { $0.version.hash == content && $0.version.kind.isAbsence }) {
                    return own.marked(.done)
                }
                let version = WorkspaceVersion(
                    hash: content, date: now.wholeMilliseconds, author: nil, kind: .removed)
                return VersionLine(mark: .done, path: path, version: version)
            }
            try Self.append(lines, to: folder, &state, durably: false)
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

    // MARK: Size

    /// How many contents are kept, and their bytes in all.
    func size() throws -> (contents: Int, bytes: Int) {
        try explaining("list", path) {
            var size = (contents: 0, bytes: 0)
            try Self.forEachObject(in: OpenFolder.make(path: path)) { _, folder, name in
                size.contents += 1
                size.bytes += try ifThere { try folder.file(name, forWriting: false).size() } ?? 0
            }
            return size
        }
    }

    /// Forgets versions older than a moment, except the content that each file has and its shadow base, and removes the contents
    /// that no version has any more.
    func prune(olderThan moment: Date) throws {
        try locked { folder, state in
            let lines = state.index.lines { $0.date >= moment }
            _ = try folder.replace(Self.logName) { log in
                try log.write(Self.newHeader() + lines.flatMap(\.bytes), at: 0)
            }
            let kept = Set(lines.map(\.version.hash))
            try Self.forEachObject(in: folder) { hash, folder, name in
                if !kept.contains(hash) { try folder.remove(name) }
            }
            try Self.refresh(&state, from: folder)
        }
    }

    // MARK: The log

    private static let logName = "log"
    private static let format = "recollect-archive 1 "

    /// The first line of a log tells its format, and one log from another.
    private static func newHeader() -> [UInt8] {
        Array((format + UUID().uuidString + "\n").utf8)
    }

    private func reading<Result>(_ body: (State) throws -> Result) throws -> Result {
        try state.withLock { state in
            try explaining("read", path) {
                if let folder = try ifThere({ try OpenFolder(path: path) }) {
                    try Self.refresh(&state, from: folder)
                } else {
                    state = State()
                }
            }
            return try body(state)
        }
    }

    private func locked<Result>(_ body: (OpenFolder, inout State) throws -> Result) throws -> Result {
        try state.withLock { state in
            try explaining("write", path) {
                let folder = try OpenFolder.make(path: path)
                return try withExtendedLifetime(folder) {
                    do {
                        try folder.lock(exclusively: true)
                    } catch let failure as POSIXFailure where failure.number == EWOULDBLOCK {
                        throw RecollectError(
                            .busy, "another process has held \(path) for too long; end it if it hangs", cause: failure)
                    }
                    try Self.refresh(&state, from: folder)
                    return try body(folder, &state)
                }
            }
        }
    }

    /// Takes in the whole lines that the log has more than is known; another log than the known one is taken in from its beginning.
    private static func refresh(_ state: inout State, from folder: OpenFolder) throws {
        guard let log = try ifThere({ try folder.file(logName, forWriting: false) }) else { return state = State() }
        let header = try log.read(at: 0, count: format.utf8.count + 37)
        let size = try log.size()
        // A log that is shorter than it was came back from a backup.
        if header != state.header || size < max(1, state.end) {
            guard header.starts(with: format.utf8), header.last == UInt8(ascii: "\n") else {
                let isNewer = header.starts(with: "recollect-archive ".utf8)
                throw RecollectError(
                    isNewer ? .newerSchema : .damaged,
                    isNewer
                        ? "a newer version of Recollect keeps the versions in \(folder.path(of: logName))"
                        : "\(folder.path(of: logName)) is damaged: move it away, and versions are kept anew")
            }
            state = State(header: header, end: header.count)
        }
        guard size > state.end else { return }
        let bytes = try log.read(at: state.end, count: size - state.end)
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return }
        for line in bytes[..<last].split(separator: UInt8(ascii: "\n")) {
            guard let read = VersionLine(line) else { continue }
            state.index.apply(read, endingAt: state.end + line.endIndex + 1)
        }
        state.end += last + 1
    }

    private static func append(
        _ lines: [VersionLine], to folder: OpenFolder, _ state: inout State, durably: Bool
    ) throws {
        guard !lines.isEmpty else { return }
        let log =
            try ifThere { try folder.file(logName, forWriting: true) }
            ?? folder.replace(logName) { try $0.write(newHeader(), at: 0) }
        let size = try log.size()
        // A killed process may have left a part of a line.
        let isWhole = try log.read(at: size - 1, count: 1) == [UInt8(ascii: "\n")]
        try log.write((isWhole ? [] : [UInt8(ascii: "\n")]) + lines.flatMap(\.bytes), at: size)
        if durably { try log.synchronize() }
        try refresh(&state, from: folder)
    }

    // MARK: Contents

    private struct ObjectName {
        let folder: String
        let file: String

        init(_ hash: ContentHash) {
            folder = String(hash.rawValue.prefix(2))
            file = String(hash.rawValue.dropFirst(2))
        }
    }

    private static func keep(_ bytes: [UInt8], in folder: OpenFolder) throws {
        let name = ObjectName(ContentHash(of: bytes))
        let objects = try made("objects", in: folder)
        let place = try made(name.folder, in: objects)
        // What was damaged since is written anew.
        let isKept = try ifThere {
            try place.file(name.file, forWriting: false).read(at: 0, count: bytes.count + 1) == bytes
        }
        if isKept ?? false { return }
        _ = try place.replace(name.file) { try $0.write(bytes, at: 0) }
    }

    private static func made(_ name: String, in folder: OpenFolder) throws -> OpenFolder {
        if let there = try ifThere({ try folder.folder(name) }) { return there }
        try folder.makeFolder(name)
        try folder.synchronize()
        return try folder.folder(name)
    }

    private static func forEachObject(
        in folder: OpenFolder, _ body: (ContentHash, OpenFolder, String) throws -> Void
    ) throws {
        guard let objects = try ifThere({ try folder.folder("objects") }) else { return }
        for prefix in try objects.names() {
            let place = try objects.folder(prefix)
            for name in try place.names() {
                guard let hash = ContentHash(hexadecimal: prefix + name) else { continue }
                try body(hash, place, name)
            }
        }
    }
}
