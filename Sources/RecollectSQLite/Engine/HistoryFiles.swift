import CFiles
import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The files of one history: where they lie, how they are made, and whether they are still the ones that were opened.
struct HistoryFiles: Sendable {
    let directory: URL
    // Paths are made once: a commit looks at three of them, and taking a URL apart costs more than the look.
    private(set) var database: String
    private(set) var writeAheadLog: String
    private(set) var sharedMemory: String
    /// The folder of these files, and of all files of a salvage.
    private(set) var folder: String
    /// The beginning of the names of a salvage's files.
    private(set) var salvageStem: String
    /// The symbolic link that leads to the database, of resolved files; else `nil`.
    private(set) var link: String?

    /// Names the files of a history in a folder of its own.
    init(directory: URL) {
        self.init(
            database: directory.appendingPathComponent("history.sqlite", isDirectory: false), stem: "history",
            prefix: "")
    }

    /// Names the files of a history whose database someone chose a name for; all else lies beside it under longer names.
    init(database: URL) {
        let name = database.lastPathComponent
        self.init(database: database, stem: name, prefix: name + ".")
    }

    private init(database: URL, stem: String, prefix: String) {
        self.prefix = prefix
        directory = database.deletingLastPathComponent()
        folder = directory.path
        self.database = database.path
        self.stem = stem
        salvageStem = stem
        writeAheadLog = self.database + "-wal"
        sharedMemory = self.database + "-shm"
    }

    /// How the names of files that lie beside the database begin.
    let stem: String
    /// How the names of folders begin: in a folder that others may use too they tell whose they are.
    private let prefix: String

    /// Whether the folder is the history's own, and so every file of our names in it.
    var haveTheirFolder: Bool { prefix.isEmpty && salvageStem == stem }

    var lock: String { path("\(stem).lock") }
    var attachments: URL { subfolder("attachments") }
    /// Where processes that write replies hold their locks.
    var writers: URL { subfolder("writers") }

    /// How the names of files begin that were set aside as damaged.
    var setAsidePrefix: String { "\(salvageStem).damaged-" }
    /// How the names of new databases begin that have not been moved into place.
    var newPrefix: String { "\(salvageStem).new-" }
    /// A path for a new database that nothing else has.
    func newDatabase() -> String { folder + "/\(newPrefix)\(UUID().uuidString.lowercased()).sqlite" }

    private func subfolder(_ name: String) -> URL {
        directory.appendingPathComponent(prefix + name, isDirectory: true)
    }

    private func path(_ name: String) -> String {
        directory.appendingPathComponent(name, isDirectory: false).path
    }

    /// Makes the folder where it is missing, readable by its owner alone.
    func makeDirectory() throws {
        try Self.onDisk(directory, doing: "make the folder") { _ = try OpenFolder.make(path: directory.path) }
    }

    /// Writes the folder's own name to the disk: an app may have made it a moment ago, or a process that was killed then.
    private func synchronizeParent() throws {
        try Self.onDisk(directory, doing: "synchronise the name of the folder") {
            do {
                try OpenFolder(path: URL(fileURLWithPath: folder).deletingLastPathComponent().path).synchronize()
            } catch let failure as POSIXFailure where failure.number == EACCES || failure.number == EPERM {
                // Nobody who may not read a folder has made one in it.
                return
            }
        }
    }

    /// Writes new names beside the database to the disk.
    func synchronizeDirectory() throws {
        try Self.onDisk(URL(fileURLWithPath: folder), doing: "synchronise the folder") {
            try OpenFolder(path: folder).synchronize()
        }
    }

    /// Syncs the log to disk.
    func synchronizeLog() throws {
        try Self.onDisk(URL(fileURLWithPath: writeAheadLog), doing: "synchronise") {
            let name = URL(fileURLWithPath: writeAheadLog).lastPathComponent
            try OpenFolder(path: folder).file(name, forWriting: true).synchronize()
        }
    }

    /// Whether the log may hold commits without a sync between them: `durability: .relaxed` was used since the log was emptied.
    var mayHoldUnsyncedCommits: Bool { FileID(at: relaxedMark) != nil }

    /// Marks the history as used with `durability: .relaxed`, durably, until the returned lock is released. Under the process lock.
    func noteUnsyncedCommits() throws -> LockFile {
        if !mayHoldUnsyncedCommits {
            try makeFile(at: relaxedMark)
            try Self.onDisk(directory, doing: "note the durability in") { try OpenFolder(path: folder).synchronize() }
        }
        let mark = try LockFile(path: relaxedMark)
        guard try mark.tryLock(shared: true) else {
            throw RecollectError(.busy, "\(relaxedMark) is locked; end the other program or try again later")
        }
        return mark
    }

    /// Removes the mark of `noteUnsyncedCommits` if no process uses the history with `.relaxed` any more. Under the process lock, with
    /// an empty log.
    func removeRelaxedMark() throws {
        guard mayHoldUnsyncedCommits, try LockFile(path: relaxedMark).tryLock() else { return }
        let name = URL(fileURLWithPath: relaxedMark).lastPathComponent
        try Self.onDisk(URL(fileURLWithPath: relaxedMark), doing: "remove") {
            let folder = try OpenFolder(path: folder)
            try folder.remove(name)
            try folder.synchronize()
        }
    }

    /// Lies beside the log, under every name of the database.
    private var relaxedMark: String { database + "-relaxed" }

    /// Whether a folder is at a path, through symbolic links.
    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Turns the failure of a system call into an error that names the action and the path.
    static func onDisk<Result>(_ place: URL, doing action: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as POSIXFailure {
            throw RecollectError(failure, doing: action, path: place.path)
        }
    }

    /// Which files the paths lead to now.
    func identity() -> Identity {
        Identity(
            database: FileID(at: link ?? database), log: FileID(at: writeAheadLog), shared: FileID(at: sharedMemory))
    }

    struct Identity: Equatable, Sendable {
        let database: FileID?
        let log: FileID?
        let shared: FileID?
    }

    /// Creates a missing log and log index, both empty. Returns the identity of the files.
    ///
    /// SQLite opens files by name. Its files have this identity if the paths have it before the opening and after the first read.
    /// SQLite treats an empty log or index as a missing one. It sets the owner and the permissions of both.
    func identityForOpening() throws -> Identity {
        for path in [writeAheadLog, sharedMemory] where FileID(at: path) == nil {
            try Self.onDisk(URL(fileURLWithPath: path), doing: "make") {
                do {
                    _ = try OpenFolder(path: folder).makeFile(URL(fileURLWithPath: path).lastPathComponent)
                } catch let failure as POSIXFailure where failure.number == EEXIST {
                    return
                }
            }
        }
        return identity()
    }

    /// The same files behind a symbolic link in place of the database: SQLite keeps the log beside the link's target, and a
    /// salvage works there, under names beginning with the target's.
    var resolved: HistoryFiles {
        var status = stat()
        guard lstat(database, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, let real = realpath(database, nil)
        else {
            return self
        }
        defer { free(real) }
        var files = self
        files.link = database
        files.database = String(cString: real)
        files.writeAheadLog = files.database + "-wal"
        files.sharedMemory = files.database + "-shm"
        files.folder = URL(fileURLWithPath: files.database).deletingLastPathComponent().path
        files.salvageStem = files.databaseName
        return files
    }

    /// Whether the database is a symbolic link to the database of a history with another lock. Of resolved files.
    var leadToAnotherHistory: Bool {
        guard link != nil else { return false }
        let inItsFolder = HistoryFiles(directory: URL(fileURLWithPath: folder, isDirectory: true))
        let chosen = HistoryFiles(database: URL(fileURLWithPath: database))
        let own = FileID(at: lock)
        return [inItsFolder, chosen].contains { other in
            guard other.database == database, let lock = FileID(at: other.lock) else { return false }
            return lock != own
        }
    }

    /// Whether the database's file is mounted into its folder by itself, as containers can do. Known on Linux alone.
    var databaseIsMounted: Bool {
        guard let file = MountID(at: database), let folder = MountID(at: folder) else { return false }
        return file != folder
    }

    /// Moves a complete new database to the path of the history's, where no file may be but an empty one.
    func place(_ new: String) throws {
        try Self.onDisk(directory, doing: "make a history in") {
            let name = URL(fileURLWithPath: database).lastPathComponent
            let folder = try OpenFolder(path: folder)
            if FileID(at: database) != nil, HistoryCheck.size(of: database) == 0 { try folder.remove(name) }
            try FileObservation.perform(.rename(path: new, to: database)) {
                if recollect_rename_exclusively(AT_FDCWD, new, AT_FDCWD, database) == 0 { return }
                // Some file systems cannot do it in one step. The lock excludes everyone else who makes a history here.
                guard [EINVAL, ENOSYS, ENOTSUP].contains(errno), FileID(at: database) == nil, rename(new, database) == 0
                else { throw POSIXFailure.last }
            }
            try folder.synchronize()
        }
        try synchronizeParent()
    }

    /// Removes new databases that were never moved into place. Under the process lock: nobody is making one.
    func removeLeftovers() throws {
        try Self.onDisk(directory, doing: "clean up in") {
            let folder = try OpenFolder(path: folder)
            for name in try folder.names() where name.hasPrefix(newPrefix) { try folder.remove(name) }
        }
    }

    /// Makes an empty file that only its owner may read. SQLite takes it for an empty database, and gives the log and its index
    /// the same permissions.
    func makeFile(at path: String) throws {
        try Self.onDisk(URL(fileURLWithPath: path), doing: "make") {
            let name = URL(fileURLWithPath: path).lastPathComponent
            _ = try OpenFolder(path: folder).makeFile(name)
        }
    }

    /// A part for the names of files that nothing else has.
    static func newStamp() -> String {
        stamp(Date()) + "-" + UUID().uuidString.prefix(8).lowercased()
    }

    /// The files that hold parts of a history and belong to none: those that were set aside, and those that an interrupted salvage
    /// left. Under the process lock, when nothing is being salvaged.
    func remains() throws -> [String] {
        let files = resolved
        return try FileManager.default.contentsOfDirectory(atPath: files.folder).filter(files.isRemains)
    }

    /// The names of the damaged files set aside.
    func setAside() throws -> [String] {
        let files = resolved
        return try files.remains().filter { $0.hasPrefix(files.setAsidePrefix) }.sorted()
    }

    private func isRemains(_ name: String) -> Bool {
        name.hasPrefix(setAsidePrefix) || setAside(ofLossRecord: name) != nil || isLeftover(name)
    }

    /// Removes a file that `remains` gave, if it is still there; it is gone past a power cut when this returns.
    func remove(_ name: String) throws {
        let files = resolved
        guard files.isRemains(name), !name.contains("/") else { return }
        try Self.onDisk(URL(fileURLWithPath: files.folder + "/" + name), doing: "remove") {
            do {
                try OpenFolder(path: files.folder).remove(name)
            } catch let failure as POSIXFailure where failure.number == ENOENT {
                return
            }
        }
        try files.synchronizeDirectory()
    }

    private static func stamp(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd'T'HHmmss"
        return formatter.string(from: date)
    }
}
