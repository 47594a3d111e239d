import Foundation
import RecollectCore
import RecollectWorkspace

/// A device of a simulated cloud: its folder, its files, and its faults.
///
/// Its methods act like other programs on the device (an editor, a file manager): they ignore the present content.
/// A workspace uses `provider` or `container`.
public struct SimulatedDevice: Sendable {
    /// The device's name. Conflict copies are named after it, or after letters derived from it.
    public let name: String
    /// The device's cloud.
    public let cloud: SimulatedCloud

    /// The folder's URL. It does not exist on the real disk.
    public var rootURL: URL {
        URL(fileURLWithPath: "/simulated", isDirectory: true).appendingPathComponent(cloud.account, isDirectory: true)
            .appendingPathComponent(name, isDirectory: true)
    }

    /// The folder as a workspace provider.
    public var provider: SimulatedProvider { SimulatedProvider(device: self) }

    /// The container with the device's account; initially the account of this cloud.
    public var container: SimulatedContainer { SimulatedContainer(device: self) }

    // MARK: - Other programs

    /// Returns the local files, without lineage files, by their paths as spelled on disk.
    ///
    /// A file being written in place has only its present part. Of two spellings equal in Swift, the composed one
    /// is returned.
    public func files() -> [String: [UInt8]] {
        read { disk in
            Dictionary(
                disk.files.filter { $0.value.state == .local && !SimulatedDisk.isLineage($0.key) }.sorted {
                    $0.key < $1.key
                }
                .map { ($0.key.string, $0.value.bytes) },
                uniquingKeysWith: { _, composed in composed })
        }
    }

    /// Returns the paths of files that are not local, without lineage files.
    public func evictedFiles() -> Set<String> {
        read { disk in
            Set(disk.files.filter { $0.value.state != .local && !SimulatedDisk.isLineage($0.key) }.map(\.key.string))
        }
    }

    /// Returns the paths of partly downloaded files.
    public func arrivingFiles() -> Set<String> {
        read { disk in Set(disk.arriving.map(\.string)) }
    }

    /// Writes a file, replacing any content. On a case-insensitive disk, this may be a file with the name in
    /// another case.
    public func edit(_ path: String, _ bytes: [UInt8]) {
        cloud.change { state in
            let disk = state.disks[name] ?? SimulatedDisk()
            let spelling = disk.foldsCase ? disk.pathOnDisk(for: ByteString(path)) : ByteString(path)
            state.edit(spelling, to: bytes, on: name)
        }
    }

    /// Writes a string to a file, replacing any content.
    public func edit(_ path: String, _ text: String) {
        edit(path, Array(text.utf8))
    }

    /// Appends to a file in two parts, like a slow program: a part now, the rest in a later step.
    ///
    /// The service may get the first part before the rest is written. So other devices can see a log cut in the
    /// middle of a line.
    public func appendSlowly(_ path: String, _ text: String) {
        cloud.change { state in
            let path = ByteString(path)
            let bytes = Array(text.utf8)
            let count = state.random(below: bytes.count)
            let before = state.disks[name]?.files[path]?.bytes ?? []
            let rest = state.disks[name]?.unwritten[path] ?? []
            state.edit(path, to: before + rest + bytes.prefix(count), on: name)
            state.change(name) { $0.unwritten[path] = Array(bytes.dropFirst(count)) }
        }
    }

    /// Deletes a file, whether local or not.
    public func delete(_ path: String) {
        cloud.change { $0.edit(ByteString(path), to: nil, on: name) }
    }

    /// Deletes all files, like a user emptying the folder. The other devices follow.
    public func deleteEverything() {
        cloud.change { state in
            for path in (state.disks[name]?.files.keys.sorted() ?? []) { state.edit(path, to: nil, on: name) }
        }
    }

    /// Evicts a file.
    ///
    /// - Throws: `invalidArgument` if the service does not have the content, or the file is not local.
    public func evict(_ path: String) throws {
        let canEvict = cloud.change { state in
            guard let disk = state.disks[name], state.canEvict(ByteString(path), disk) else { return false }
            state.evict(ByteString(path), on: name)
            return true
        }
        guard canEvict else {
            throw RecollectError(
                .invalidArgument, "\(path) cannot be evicted from \(name): it is not local or not uploaded")
        }
    }

    // MARK: - Faults

    /// Whether the device is connected to the service.
    public var isOnline: Bool {
        get { read(\.isOnline) }
        nonmutating set { change { $0.isOnline = newValue } }
    }

    /// Whether the disk is case-insensitive. Set it while the folder is empty.
    public var foldsCase: Bool {
        get { read(\.foldsCase) }
        nonmutating set { change { $0.foldsCase = newValue } }
    }

    /// The number of seconds the device's clock is ahead.
    public var clockSkew: TimeInterval {
        get { read(\.clockSkew) }
        nonmutating set { change { $0.clockSkew = newValue } }
    }

    /// The disk's capacity in bytes; `nil` for unlimited. Writes beyond it throw `diskFull`; downloads wait.
    public var capacity: Int? {
        get { read(\.capacity) }
        nonmutating set { change { $0.capacity = newValue } }
    }

    /// Whether the folder itself is missing, like an unmounted volume. Every call throws `unavailable`, and
    /// syncing stops.
    public var isUnavailable: Bool {
        get { read(\.isUnavailable) }
        nonmutating set { change { $0.isUnavailable = newValue } }
    }

    /// Removes all files at once, but not the folder, by a fault outside the sync service.
    ///
    /// The service does not see deletions, and syncing stops until `restoreFiles()`.
    public func removeAllFiles() {
        cloud.change { state in
            state.change(name) { disk in
                disk.hidden = disk.hidden ?? disk.files
                disk.files = [:]
            }
            state.note("a fault removes all files of \(name)")
        }
    }

    /// Brings back the files removed by `removeAllFiles()`, except those written since.
    public func restoreFiles() {
        cloud.change { state in
            state.change(name) { disk in
                disk.files.merge(disk.hidden ?? [:]) { written, _ in written }
                disk.hidden = nil
            }
            state.note("all files of \(name) are restored")
        }
    }

    // MARK: - Disk

    func read<Value>(_ value: (SimulatedDisk) throws -> Value) rethrows -> Value {
        try cloud.read { try value($0.disks[name] ?? SimulatedDisk()) }
    }

    func setSignedIn(_ isSignedIn: Bool) {
        change { $0.isSignedIn = isSignedIn }
    }

    private func change(_ body: (inout SimulatedDisk) -> Void) {
        cloud.change { $0.change(name, body) }
    }
}
