import Foundation
import RecollectCore

/// A cloud folder with any number of devices, in memory: what happens in it follows from a seed.
///
/// Every device has a folder of its own that programs read and write as they like. Between the folders nothing happens by itself:
/// `step()` lets one thing happen that the seed chooses (a change comes to the service or to a device, one file at a time and in any
/// order; a file is evicted; a folder is duplicated), `settle()` lets happen what has to until all devices agree. The same seed and the
/// same calls give the same bytes everywhere, so a failing case is replayed by its seed; `log` tells it in words.
///
/// ```swift
/// let cloud = SimulatedCloud(seed: 7, behaviour: .syncthing)
/// let (a, b) = (cloud.device("a"), cloud.device("b"))
/// a.edit("context.md", "from a")
/// b.edit("context.md", "from b")
/// try cloud.settle()
/// // Both folders hold context.md and context.sync-conflict-….md.
/// ```
///
/// Calls may come from several threads; each is atomic. A test that wants the same run from the same seed makes its calls one after
/// the other.
public final class SimulatedCloud: Sendable {
    /// What all choices follow from.
    public let seed: UInt64
    /// Whose files these are: devices that are signed in to another account have another cloud.
    public let account: String

    private let state: Locked<CloudState>
    /// Who listens to changes in a device's folder, by the device's name.
    let listeners = Locked<[String: [UUID: AsyncStream<Void>.Continuation]]>([:])
    /// Who is signed in where, by the device's name.
    let containers = Locked<[String: ContainerState]>([:])
    /// Guards nothing; look-ups of containers that are held wait on it.
    let gate = NSCondition()

    /// Makes an empty cloud without devices.
    public init(seed: UInt64, behaviour: CloudBehaviour = .syncthing, account: String = "anna") {
        self.seed = seed
        self.account = account
        state = Locked(CloudState(seed: seed, account: account, behaviour: behaviour))
    }

    /// The device of that name; a new one has an empty folder.
    public func device(_ name: String) -> SimulatedDevice {
        change { $0.disks[name] = $0.disks[name] ?? SimulatedDisk() }
        return SimulatedDevice(name: name, cloud: self)
    }

    /// How the service acts; may be changed while it runs.
    public var behaviour: CloudBehaviour {
        get { read { $0.behaviour } }
        set { change { $0.behaviour = newValue } }
    }

    /// How many bytes the service takes in all; `nil` for any number. Uploads that are too much wait; local writes work.
    public var quota: Int? {
        get { read { $0.quota } }
        set { change { $0.quota = newValue } }
    }

    /// Whether an upload waits because it would not fit into the quota.
    public var isOverQuota: Bool {
        read { state in
            state.disks.values.contains { disk in disk.edited.contains { state.isTooMuch($0, from: disk) } }
        }
    }

    /// What the service holds, by path.
    public func files() -> [String: [UInt8]] {
        read { state in
            Dictionary(
                uniqueKeysWithValues: state.entries.compactMap { path, entry in
                    guard !SimulatedDisk.isLineage(path) else { return nil }
                    return state.revisions[entry.head].bytes.map { (path.string, $0) }
                })
        }
    }

    // MARK: - What happens

    /// Lets one thing happen that the seed chooses.
    /// - Returns: Whether anything could.
    @discardableResult
    public func step() -> Bool {
        change { $0.step(withMishaps: true) }
    }

    /// Lets happen, in an order that the seed chooses, what has to until all devices agree; mishaps do not happen meanwhile.
    ///
    /// What cannot happen (devices offline, a quota, stalled downloads, a full disk) is left as it is.
    /// - Returns: How many things happened.
    /// - Throws: `SettlingError` after `limit` of them: something makes the devices write again and again.
    @discardableResult
    public func settle(limit: Int = 20_000) throws -> Int {
        for count in 0..<limit {
            guard change({ $0.step(withMishaps: false) }) else { return count }
        }
        throw SettlingError(seed: seed, steps: limit, log: log(last: 40))
    }

    /// Lets the service duplicate a folder (`Journal 2`), as `behaviour.duplicatesFolders` says, or copying all where that says never.
    public func duplicate(_ folder: String) {
        change { $0.duplicate(ByteString(folder)) }
    }

    /// What happened last, in words, the latest at the end.
    public func log(last count: Int = 60) -> String {
        read { (["seed \(seed), account \(account)"] + $0.log.suffix(count)).joined(separator: "\n") }
    }

    // MARK: - The state

    func read<Result>(_ body: (CloudState) throws -> Result) rethrows -> Result {
        try state.withLock { try body($0) }
    }

    /// Changes the state in one piece, then wakes who listens on the devices that it touched.
    func change<Result>(_ body: (inout CloudState) throws -> Result) rethrows -> Result {
        defer { wake() }
        return try state.withLock(body)
    }

    private func wake() {
        let awake = state.withLock { state in
            defer { state.awake = [] }
            return state.awake
        }
        guard !awake.isEmpty else { return }
        let continuations = listeners.withLock { listeners in awake.flatMap { listeners[$0]?.values.map { $0 } ?? [] } }
        for continuation in continuations { continuation.yield() }
    }
}

/// The devices of a simulated cloud did not come to agree.
public struct SettlingError: Error, CustomStringConvertible, Sendable {
    /// What replays the case.
    public let seed: UInt64
    /// How many things happened.
    public let steps: Int
    /// What happened last.
    public let log: String

    /// The seed, the count and the log.
    public var description: String { "seed \(seed): not settled after \(steps) steps\n\(log)" }
}
