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
    let database: String
    let writeAheadLog: String
    let sharedMemory: String

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
        self.database = database.path
        self.stem = stem
        writeAheadLog = self.database + "-wal"
        sharedMemory = self.database + "-shm"
    }

    /// How the names of files that lie beside the database begin.
    private let stem: String
    /// How the names of folders begin: in a folder that others may use too they tell whose they are.
    private let prefix: String

    /// Whether the folder is the history's own, and so every file of our names in it.
    var haveTheirFolder: Bool { prefix.isEmpty }

    var lock: String { path("\(stem).lock") }
    var attachments: URL { folder("attachments") }
    /// Where processes that write replies hold their locks.
    var writers: URL { folder("writers") }

    /// How the names of files begin that were set aside as damaged.
    var setAsidePrefix: String { "\(stem).damaged-" }

    private func folder(_ name: String) -> URL {
        directory.appendingPathComponent(prefix + name, isDirectory: true)
    }

    private func path(_ name: String) -> String {
        directory.appendingPathComponent(name, isDirectory: false).path
    }

    /// Makes the folder where it is missing, readable by its owner alone.
    func makeDirectory() throws {
        try Self.onDisk(directory, doing: "make the folder") { _ = try OpenFolder.make(path: directory.path) }
    }

    /// Makes an empty database file, which SQLite takes for an empty database, so that its permissions are right from the
    /// start: SQLite gives the log and the shared memory the permissions of the database.
    func makeDatabaseFile() throws {
        try Self.onDisk(URL(fileURLWithPath: database), doing: "make") {
            try FileObservation.perform(.makeFile(path: database)) {
                let descriptor = open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { throw POSIXFailure.last }
                close(descriptor)
            }
        }
        try synchronizeDirectory()
        try synchronizeParent()
    }

    /// Puts the folder's own name on the disk: an app may have made it a moment ago, or a process that was killed then.
    private func synchronizeParent() throws {
        try Self.onDisk(directory, doing: "synchronise the name of the folder") {
            do {
                try OpenFolder(path: directory.deletingLastPathComponent().path).synchronize()
            } catch let failure as POSIXFailure where failure.number == EACCES || failure.number == EPERM {
                // Nobody who may not read a folder has made one in it.
                return
            }
        }
    }

    /// Puts new names in the folder on the disk.
    private func synchronizeDirectory() throws {
        try Self.onDisk(directory, doing: "synchronise the folder") {
            try OpenFolder(path: directory.path).synchronize()
        }
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
            database: Self.file(at: database), log: Self.file(at: writeAheadLog), shared: Self.file(at: sharedMemory))
    }

    struct Identity: Equatable, Sendable {
        var database: FileID?
        var log: FileID?
        var shared: FileID?
    }

    struct FileID: Equatable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    private static func file(at path: String) -> FileID? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The first bytes of the database file; empty where there is none.
    func header() throws -> [UInt8] {
        let descriptor = open(database, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [] }
        guard descriptor >= 0 else { throw RecollectError(.last, doing: "open", path: database) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw RecollectError(.last, doing: "read", path: database) }
        return Array(bytes.prefix(count))
    }

    /// Renames the database and what belongs to it to names that nothing else has, and returns the database's.
    func setAside() throws -> URL {
        let stamp = Self.stamp(Date()) + "-" + UUID().uuidString.prefix(8).lowercased()
        let target = path("\(setAsidePrefix)\(stamp).sqlite")
        for suffix in ["", "-wal", "-shm"] {
            let (old, new) = (database + suffix, target + suffix)
            do {
                try FileObservation.perform(.rename(path: old, to: new)) {
                    guard rename(old, new) == 0 else { throw POSIXFailure.last }
                }
            } catch let failure as POSIXFailure {
                guard failure.number == ENOENT else {
                    throw RecollectError(failure, doing: "set aside", path: old)
                }
            }
        }
        try synchronizeDirectory()
        return URL(fileURLWithPath: target)
    }

    /// The files that were set aside.
    func setAsideFiles() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(setAsidePrefix) }
    }

    private static func stamp(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMdd'T'HHmmss"
        return formatter.string(from: date)
    }
}
