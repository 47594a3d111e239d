import Foundation
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The files of one history: their paths, their creation, and their identity.
struct HistoryFiles: Sendable {
    let directory: URL
    // Paths are computed once: a commit checks three of them, and taking a URL apart costs more than the check.
    private(set) var database: String
    private(set) var writeAheadLog: String
    private(set) var sharedMemory: String
    /// The folder of these files, and of all files of a salvage.
    private(set) var folder: String
    /// The prefix of the names of a salvage's files.
    private(set) var salvageStem: String
    /// The symbolic link to the database, for resolved files; otherwise `nil`.
    private(set) var link: String?

    /// Creates the paths of a history in a folder of its own.
    init(directory: URL) {
        self.init(
            database: directory.appendingPathComponent("history.sqlite", isDirectory: false), stem: "history",
            prefix: "")
    }

    /// Creates the paths of a history with a chosen name for its database. All other files are beside it under
    /// longer names.
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

    /// The prefix of the names of files beside the database.
    let stem: String
    /// The prefix of folder names. In a folder shared with other files it shows the history they belong to.
    private let prefix: String

    /// Whether the folder belongs to the history alone, and with it every file with one of Recollect's names.
    var ownDirectory: Bool { prefix.isEmpty && salvageStem == stem }

    /// The database's name in its folder.
    var databaseName: String { URL(fileURLWithPath: database).lastPathComponent }
    var lock: String { path("\(stem).lock") }
    var attachments: URL { subfolder("attachments") }
    /// The folder with the locks of processes writing replies.
    var writers: URL { subfolder("writers") }

    /// The prefix of the names of damaged files set aside.
    var setAsidePrefix: String { "\(salvageStem).damaged-" }
    /// The prefix of the names of new databases before they are moved into place.
    var newPrefix: String { "\(salvageStem).new-" }
    /// Returns a unique path for a new database.
    func newDatabase() -> String { folder + "/\(newPrefix)\(UUID.random().uuidString.lowercased()).sqlite" }

    private func subfolder(_ name: String) -> URL {
        directory.appendingPathComponent(prefix + name, isDirectory: true)
    }

    private func path(_ name: String) -> String {
        directory.appendingPathComponent(name, isDirectory: false).path
    }

    /// Creates the folder if it is missing, readable only by its owner.
    func makeDirectory() throws {
        try Self.onDisk(directory, doing: "create the folder") { _ = try OpenFolder.make(path: directory.path) }
    }

    /// Syncs the folder's own name: an app may have created the folder just before, or a process killed before its
    /// sync.
    private func synchronizeParent() throws {
        try Self.onDisk(directory, doing: "sync the parent folder of") {
            do {
                try OpenFolder(path: URL(fileURLWithPath: folder).deletingLastPathComponent().path).synchronize()
            } catch let failure as POSIXFailure where failure.number == EACCES || failure.number == EPERM {
                // A process may create folders in a parent it may not read, and a sync requires reading. The sync
                // of the whole file system includes the name. Without this call, as on Darwin, the name cannot be
                // synced: a power loss may remove a folder created just before.
                do {
                    try OpenFolder(path: folder).synchronizeFileSystem()
                } catch let failure as POSIXFailure where failure.number == ENOSYS {}
            }
        }
    }

    /// Syncs new names beside the database.
    func synchronizeDirectory() throws {
        try Self.onDisk(URL(fileURLWithPath: folder), doing: "sync the folder") {
            try OpenFolder(path: folder).synchronize()
        }
    }

    /// Syncs the log.
    func synchronizeLog() throws {
        try Self.onDisk(URL(fileURLWithPath: writeAheadLog), doing: "sync") {
            let name = URL(fileURLWithPath: writeAheadLog).lastPathComponent
            try OpenFolder(path: folder).file(name, forWriting: true).synchronize()
        }
    }

    /// Whether the log may contain commits without a sync between them: `durability: .relaxed` was used since the
    /// log was emptied.
    var mayHoldUnsyncedCommits: Bool { FileID(at: relaxedMark) != nil }

    /// Marks the history as used with `durability: .relaxed`, durably, until the returned lock is released. Call
    /// it under the process lock.
    /// - Throws: `busy` if another program has an exclusive lock on the mark.
    func noteUnsyncedCommits() throws -> LockFile {
        if !mayHoldUnsyncedCommits {
            try makeFile(at: relaxedMark)
            try Self.onDisk(directory, doing: "record the durability in") { try OpenFolder(path: folder).synchronize() }
        }
        let mark = try LockFile(path: relaxedMark)
        guard try mark.tryLock(shared: true) else {
            throw RecollectError(.busy, "\(relaxedMark) is locked; end the other program or try again later")
        }
        return mark
    }

    /// Removes the mark of `noteUnsyncedCommits` if no process uses the history with `.relaxed` any more. Call it
    /// under the process lock, with an empty log.
    func removeRelaxedMark() throws {
        guard mayHoldUnsyncedCommits, try LockFile(path: relaxedMark).tryLock() else { return }
        let name = URL(fileURLWithPath: relaxedMark).lastPathComponent
        try Self.onDisk(URL(fileURLWithPath: relaxedMark), doing: "remove") {
            let folder = try OpenFolder(path: folder)
            try folder.remove(name)
            try folder.synchronize()
        }
    }

    /// The path of the mark, beside the log, under each name of the database.
    private var relaxedMark: String { database + "-relaxed" }

    /// Whether there is a folder at a path, following symbolic links.
    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    /// Converts the failure of a system call to an error with the action and the path.
    static func onDisk<Result>(_ url: URL, doing action: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as POSIXFailure {
            throw RecollectError(failure, doing: action, path: url.path)
        }
    }

    /// Returns the identity of the files at the paths now.
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
    /// SQLite opens files by name. Its files have this identity if the paths have it before the opening and after
    /// the first read. SQLite treats an empty log or index as a missing one. It sets the owner and the permissions
    /// of both.
    func identityForOpening() throws -> Identity {
        for path in [writeAheadLog, sharedMemory] where FileID(at: path) == nil {
            try Self.onDisk(URL(fileURLWithPath: path), doing: "create") {
                do {
                    _ = try OpenFolder(path: folder).makeFile(URL(fileURLWithPath: path).lastPathComponent)
                } catch let failure as POSIXFailure where failure.number == EEXIST {
                    return
                }
            }
        }
        return identity()
    }

    /// The same files, following a symbolic link in place of the database. SQLite keeps the log beside the link's
    /// target, and a salvage works there, under names beginning with the target's.
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

    /// Whether the database is a symbolic link to the database of a history with another lock. Only for resolved
    /// files.
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

    /// The log beside the symbolic link, if it may have messages: it was left there when the database was moved. Only for
    /// resolved files.
    var logBesideLink: String? {
        // The header of a log without messages has 32 bytes.
        link.map { $0 + "-wal" }.flatMap { OpenFile.size(at: $0) > 32 ? $0 : nil }
    }

    /// The text about `logBesideLink`, with the instruction for the user. The log fits only an unused database.
    var logBesideLinkWarning: String? {
        logBesideLink.map { log in
            let stamps = (FileStamp(at: database), FileStamp(at: log))
            let isUnused = if case (let database?, let log?) = stamps { !database.isLater(than: log) } else { false }
            let advice =
                !isUnused || OpenFile.size(at: writeAheadLog) > 0
                ? "the database has been used since, so the log no longer matches it: copy the log, and move it out of this folder"
                : "close all programs using this history, and move the log to \(writeAheadLog)"
            return
                "\(log) may contain messages of the history whose database was moved to \(database); they are not shown; "
                + advice
        }
    }

    /// Whether the database's file is a mount by itself, as is possible in containers. Detected only on Linux.
    var databaseIsMounted: Bool {
        guard let file = MountID(at: database), let folder = MountID(at: folder) else { return false }
        return file != folder
    }

    /// Moves a complete new database to the path of the history's. Replaces only an empty file.
    func place(_ new: String) throws {
        try Self.onDisk(directory, doing: "create a history in") {
            let name = URL(fileURLWithPath: database).lastPathComponent
            let folder = try OpenFolder(path: folder)
            if FileID(at: database) != nil, OpenFile.size(at: database) == 0 { try folder.remove(name) }
            try FileObservation.perform(.rename(path: new, to: database)) {
                do {
                    try OpenFolder.renameExclusively(new, to: database)
                } catch let failure as POSIXFailure where [EINVAL, ENOSYS, ENOTSUP].contains(failure.number) {
                    // Some file systems cannot do it in one step. The lock excludes all other creators of a history
                    // here.
                    guard FileID(at: database) == nil else { throw failure }
                    guard rename(new, database) == 0 else { throw POSIXFailure.last }
                }
            }
            try folder.synchronize()
        }
        try synchronizeParent()
    }

    /// Removes new databases never moved into place. Call it under the process lock, so that no database is being
    /// created.
    func removeLeftovers() throws {
        try Self.onDisk(directory, doing: "clean up in") {
            let folder = try OpenFolder(path: folder)
            for name in try folder.names() where name.hasPrefix(newPrefix) { try folder.remove(name) }
        }
    }

    /// Creates an empty file, readable only by its owner. SQLite treats it as an empty database, and gives the log
    /// and its index the same permissions.
    func makeFile(at path: String) throws {
        try Self.onDisk(URL(fileURLWithPath: path), doing: "create") {
            let name = URL(fileURLWithPath: path).lastPathComponent
            _ = try OpenFolder(path: folder).makeFile(name)
        }
    }

    /// Returns a unique part for file names.
    static func newStamp() -> String {
        stamp(Date()) + "-" + UUID.random().uuidString.prefix(8).lowercased()
    }

    /// Returns the names of files with parts of a history and without a use: those set aside, those of an
    /// interrupted salvage, and loss records. Call it under the process lock, with no salvage in progress.
    func remains() throws -> [String] {
        let files = resolved
        return try FileManager.default.contentsOfDirectory(atPath: files.folder).filter(files.isRemains)
    }

    /// Returns the names of the damaged files set aside.
    func setAside() throws -> [String] {
        let files = resolved
        return try files.remains().filter { $0.hasPrefix(files.setAsidePrefix) }.sorted()
    }

    private func isRemains(_ name: String) -> Bool {
        name.hasPrefix(setAsidePrefix) || setAside(ofLossRecord: name) != nil || isLeftover(name)
    }

    /// Removes a file returned by `remains`, durably. Does nothing if it no longer exists.
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
