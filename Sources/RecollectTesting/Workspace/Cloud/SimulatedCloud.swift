import Foundation
import RecollectCore

/// A simulated sync service with any number of devices, in memory and repeatable by a seed.
///
/// Every device has a folder of its own. Programs read and write it freely. Changes pass between the folders only
/// on request. `step()` performs one event drawn by the seed: a change reaches the service or a device, one file
/// at a time and in any order; a file is evicted; a folder is duplicated. `syncCompletely()` performs all events,
/// until all devices agree. The same seed and the same calls give the same bytes everywhere, so the seed of a
/// failure repeats it. `log` lists the events.
///
/// ```swift
/// let cloud = SimulatedCloud(seed: 7, behavior: .syncthing)
/// let (a, b) = (cloud.device("a"), cloud.device("b"))
/// a.edit("context.md", "from a")
/// b.edit("context.md", "from b")
/// try cloud.syncCompletely()
/// // Both folders hold context.md and context.sync-conflict-….md.
/// ```
///
/// Calls may come from several threads; each is atomic. For repeatable runs, a test must make its calls in sequence.
public final class SimulatedCloud: Sendable {
    /// The seed of all random choices.
    public let seed: UInt64
    /// The account of the files. Devices signed in to another account have another cloud.
    public let account: String

    private let state: Locked<CloudState>
    /// The listeners to changes of a device's folder, by the device's name.
    let listeners = Locked<[String: Broadcast<Void>]>([:])
    /// The accounts signed in, by the device's name.
    let containers = Locked<[String: ContainerState]>([:])
    /// Signals the end of a hold to waiting container look-ups. It guards no state.
    let gate = NSCondition()

    /// Creates an empty cloud without devices.
    public init(seed: UInt64, behavior: CloudBehavior = .syncthing, account: String = "anna") {
        self.seed = seed
        self.account = account
        state = Locked(CloudState(seed: seed, account: account, behavior: behavior))
    }

    /// Returns the device with the name. A new device has an empty folder.
    public func device(_ name: String) -> SimulatedDevice {
        change { $0.disks[name] = $0.disks[name] ?? SimulatedDisk() }
        return SimulatedDevice(name: name, cloud: self)
    }

    /// The behavior of the service. It may be changed at any time.
    public var behavior: CloudBehavior {
        get { read { $0.behavior } }
        set { change { $0.behavior = newValue } }
    }

    /// The service's capacity in bytes; `nil` for unlimited. Uploads beyond it wait; local writes succeed.
    public var quota: Int? {
        get { read { $0.quota } }
        set { change { $0.quota = newValue } }
    }

    /// Whether an upload is waiting because it would exceed the quota.
    public var isOverQuota: Bool {
        read { state in
            state.disks.values.contains { disk in disk.edited.contains { state.exceedsQuota($0, from: disk) } }
        }
    }

    /// Returns the files at the service by path, without lineage files.
    public func files() -> [String: [UInt8]] {
        read { state in
            Dictionary(
                uniqueKeysWithValues: state.entries.compactMap { path, entry in
                    guard !SimulatedDisk.isLineage(path) else { return nil }
                    return state.revisions[entry.head].bytes.map { (path.string, $0) }
                })
        }
    }

    // MARK: - Events

    /// Performs one event drawn by the seed.
    ///
    /// - Returns: Whether there was an event.
    @discardableResult
    public func step() -> Bool {
        change { $0.step(withFaults: true) }
    }

    /// Performs all pending events, in an order drawn by the seed, until all devices agree. Faults do not occur
    /// meanwhile.
    ///
    /// Events that cannot happen stay pending (devices offline, a quota, stalled downloads, a full disk).
    ///
    /// - Returns: The number of events.
    /// - Throws: `UnfinishedSyncError` after `limit` events: the devices keep writing in response to each other.
    @discardableResult
    public func syncCompletely(limit: Int = 20_000) throws -> Int {
        for count in 0..<limit {
            guard change({ $0.step(withFaults: false) }) else { return count }
        }
        throw UnfinishedSyncError(seed: seed, steps: limit, log: log(last: 40))
    }

    /// Duplicates a folder (`Journal 2`) according to `behavior.duplicatesFolders`; copies all files if that is
    /// `never`.
    public func duplicate(_ folder: String) {
        change { $0.duplicate(ByteString(folder)) }
    }

    /// Returns descriptions of the last events, the latest at the end.
    public func log(last count: Int = 60) -> String {
        read { (["seed \(seed), account \(account)"] + $0.log.suffix(count)).joined(separator: "\n") }
    }

    // MARK: - State

    func read<Result>(_ body: (CloudState) throws -> Result) rethrows -> Result {
        try state.withLock { try body($0) }
    }

    /// Changes the state atomically, then notifies the listeners of all changed devices.
    func change<Result>(_ body: (inout CloudState) throws -> Result) rethrows -> Result {
        defer { signal() }
        return try state.withLock(body)
    }

    private func signal() {
        let awake = state.withLock { state in
            defer { state.awake = [] }
            return state.awake
        }
        guard !awake.isEmpty else { return }
        let changed = listeners.withLock { listeners in awake.compactMap { listeners[$0] } }
        for listeners in changed { listeners.signal() }
    }
}

/// An error for devices of a simulated cloud that did not reach agreement.
public struct UnfinishedSyncError: Error, CustomStringConvertible, Sendable {
    /// The seed to repeat the failure.
    public let seed: UInt64
    /// The number of events.
    public let steps: Int
    /// The last events.
    public let log: String

    /// The seed, the number of events, and the log.
    public var description: String { "seed \(seed): the devices still differ after \(steps) events\n\(log)" }
}
