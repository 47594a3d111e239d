import Foundation
import RecollectCore

/// A content of a file at the service, with the revisions it was based on.
struct CloudRevision {
    /// The revision's number, equal to its index in the list.
    let id: Int
    /// The revisions seen by the writer: none for a new file, two after a conflict.
    let parents: [Int]
    /// The content; `nil` for a deletion.
    let bytes: [UInt8]?
    /// The date of the write, by the clock of the writing device.
    let modified: Date
    /// The writing device.
    let device: String
}

/// The state of the service and all devices. Only its own methods change it, each deterministically.
///
/// All devices use one central service, even for Syncthing, where the real devices connect directly. The service
/// records the current revision of each name. Each device records the revision its own file is based on. An edit
/// not based on the current revision is a conflict. For two devices, version vectors give the same result. With
/// three, the conflict copy is made once here; Syncthing may make one on each device with the losing content.
struct CloudState {
    /// The service's record of one name.
    struct Entry {
        /// The current revision.
        var head: Int
        /// The losing revisions, kept as versions beside the file until they are resolved.
        var losers: [Int] = []
    }

    let account: String
    var behavior: CloudBehavior
    var revisions: [CloudRevision] = []
    var entries: [ByteString: Entry] = [:]
    var disks: [String: SimulatedDisk] = [:]
    /// The service's capacity in bytes; `nil` for unlimited.
    var quota: Int?
    var duplicatedFolders = 0
    /// Devices with changed folders and listeners not yet notified.
    var awake: Set<String> = []

    private(set) var log: [String] = []
    private var generator: SeededGenerator
    private var clock = Date(timeIntervalSince1970: 1_768_478_400)
    private var ticks = 0

    init(seed: UInt64, account: String, behavior: CloudBehavior) {
        self.account = account
        self.behavior = behavior
        generator = SeededGenerator(seed: seed)
    }

    // MARK: - Chance and time

    mutating func random(below count: Int) -> Int {
        Int.random(in: 0..<max(count, 1), using: &generator)
    }

    /// Returns the date by a device's clock. Each call returns a date one second later.
    mutating func now(on device: String) -> Date {
        clock += 1
        return clock.addingTimeInterval(disks[device]?.clockSkew ?? 0)
    }

    /// Returns a new stamp for a changed file.
    mutating func tick() -> Int {
        ticks += 1
        return ticks
    }

    mutating func note(_ words: String) {
        log.append("\(log.count + 1). \(words)")
    }

    // MARK: - Revisions

    func head(of path: ByteString) -> CloudRevision? {
        entries[path].map { revisions[$0.head] }
    }

    func bytes(at path: ByteString) -> [UInt8]? {
        head(of: path)?.bytes
    }

    /// The number of bytes at the service.
    var used: Int {
        entries.values.reduce(0) { $0 + (revisions[$1.head].bytes?.count ?? 0) }
    }

    mutating func addRevision(parents: [Int?], bytes: [UInt8]?, modified: Date, device: String) -> Int {
        let parents = parents.compactMap { $0 }
        revisions.append(
            CloudRevision(id: revisions.count, parents: parents, bytes: bytes, modified: modified, device: device))
        return revisions.count - 1
    }

    /// Returns the first name free at the service and on a device; the last name if none is free.
    func free(_ names: [ByteString], on device: String) -> ByteString {
        let disk = disks[device]
        return names.first { bytes(at: $0) == nil && disk?.files[$0] == nil } ?? names[names.count - 1]
    }

    // MARK: - Disks

    /// Changes a device's folder, and marks its listeners to be notified.
    mutating func change<Result>(
        _ device: String, _ body: (inout SimulatedDisk) throws -> Result
    ) rethrows -> Result {
        var disk = disks[device] ?? SimulatedDisk()
        defer {
            disks[device] = disk
            awake.insert(device)
        }
        return try body(&disk)
    }

    /// Writes or deletes a file like a program on a device. The sync service has yet to see the change.
    mutating func edit(_ path: ByteString, to bytes: [UInt8]?, on device: String) {
        let (date, stamp) = (now(on: device), tick())
        change(device) { $0.edit(path, to: bytes, modified: date, stamp: stamp) }
        note("\(device) \(bytes.map { "writes \($0.count) bytes to" } ?? "deletes") \(path.string)")
    }
}
