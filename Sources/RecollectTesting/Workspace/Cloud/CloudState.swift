import Foundation
import RecollectCore

/// A content that a file had at the service, and what its writer knew when it wrote it.
struct CloudRevision {
    /// Its number; also its place in the list.
    let id: Int
    /// The revisions that its writer had seen: none for a new file, two where a conflict was settled.
    let parents: [Int]
    /// The content; `nil` for a deletion.
    let bytes: [UInt8]?
    /// When it was written, by the clock of the device that wrote it.
    let modified: Date
    /// The device that wrote it.
    let device: String
}

/// What the service and all devices hold: a value that only its own methods change, each deterministic.
///
/// There is one service in the middle, also for Syncthing, whose devices really talk to each other: of each name it knows the
/// revision that stands, and every device knows the revision that its own file came from. An edit that comes in from a device that
/// did not know the standing revision is a conflict. Version vectors say the same of two devices; with three, the copies of a
/// conflict are made once here, where Syncthing may make them on each device that had the loser.
struct CloudState {
    /// What the service knows of one name.
    struct Entry {
        /// The revision that stands.
        var head: Int
        /// The revisions that lost and are kept beside the file, until somebody resolves them.
        var losers: [Int] = []
    }

    let account: String
    var behaviour: CloudBehaviour
    var revisions: [CloudRevision] = []
    var entries: [ByteString: Entry] = [:]
    var disks: [String: SimulatedDisk] = [:]
    /// How many bytes the service takes in all; `nil` for any number.
    var quota: Int?
    var duplicatedFolders = 0
    /// Devices whose folder changed since somebody looked.
    var awake: Set<String> = []

    private(set) var log: [String] = []
    private var generator: SeededGenerator
    private var clock = Date(timeIntervalSince1970: 1_768_478_400)
    private var ticks = 0

    init(seed: UInt64, account: String, behaviour: CloudBehaviour) {
        self.account = account
        self.behaviour = behaviour
        generator = SeededGenerator(seed: seed)
    }

    // MARK: - Chance and time

    mutating func random(below count: Int) -> Int {
        Int.random(in: 0..<max(count, 1), using: &generator)
    }

    /// The moment by a device's clock; each time is a second later than the one before.
    mutating func now(on device: String) -> Date {
        clock += 1
        return clock.addingTimeInterval(disks[device]?.clockSkew ?? 0)
    }

    /// Another stamp for a file that changes.
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

    /// How many bytes the service holds.
    var used: Int {
        entries.values.reduce(0) { $0 + (revisions[$1.head].bytes?.count ?? 0) }
    }

    mutating func addRevision(parents: [Int?], bytes: [UInt8]?, modified: Date, device: String) -> Int {
        let parents = parents.compactMap { $0 }
        revisions.append(
            CloudRevision(id: revisions.count, parents: parents, bytes: bytes, modified: modified, device: device))
        return revisions.count - 1
    }

    /// The first name of some that is free at the service and on a device.
    func free(_ names: [ByteString], on device: String) -> ByteString {
        let disk = disks[device]
        return names.first { bytes(at: $0) == nil && disk?.files[$0] == nil } ?? names[names.count - 1]
    }

    // MARK: - Disks

    /// Changes a device's folder, and wakes who listens there.
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

    /// A program of a device gives a file a content, or takes the file away; the sync has yet to see it.
    mutating func edit(_ path: ByteString, to bytes: [UInt8]?, on device: String) {
        let (moment, stamp) = (now(on: device), tick())
        change(device) { $0.edit(path, to: bytes, modified: moment, stamp: stamp) }
        note("\(device) \(bytes.map { "writes \($0.count) bytes to" } ?? "deletes") \(path.string)")
    }
}
