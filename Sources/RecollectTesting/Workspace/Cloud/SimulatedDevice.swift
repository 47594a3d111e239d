import Foundation
import RecollectCore
import RecollectWorkspace

/// A device of a simulated cloud: its folder, and what may befall it.
///
/// What is done here is done as by other programs of the device (an editor, a file manager): without looking at what is there. A
/// workspace uses `provider` or `container`.
public struct SimulatedDevice: Sendable {
    /// The device's name; conflict copies bear it, or letters that follow from it.
    public let name: String
    /// The cloud whose device it is.
    public let cloud: SimulatedCloud

    /// The folder's URL; nothing lies there.
    public var rootURL: URL {
        URL(fileURLWithPath: "/simulated", isDirectory: true).appendingPathComponent(cloud.account, isDirectory: true)
            .appendingPathComponent(name, isDirectory: true)
    }

    /// The folder as a workspace sees it.
    public var provider: SimulatedProvider { SimulatedProvider(device: self) }

    /// What tells a workspace on this device which account is signed in; this cloud's, at first.
    public var container: SimulatedContainer { SimulatedContainer(device: self) }

    // MARK: - What other programs do

    /// The files whose content is here, by path as the disk spells it; of one that arrives in place, the part that is here. Of two
    /// spellings that Swift takes for one string, the composed one.
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

    /// The paths of files whose content is elsewhere.
    public func evictedFiles() -> Set<String> {
        read { disk in
            Set(disk.files.filter { $0.value.state != .local && !SimulatedDisk.isLineage($0.key) }.map(\.key.string))
        }
    }

    /// The files of which the service has written a part.
    public func arrivingFiles() -> Set<String> {
        read { disk in Set(disk.arriving.map(\.string)) }
    }

    /// Gives a file a content, whatever is there; on a disk that folds case, the file that has the name in any case.
    public func edit(_ path: String, _ bytes: [UInt8]) {
        cloud.change { state in
            let disk = state.disks[name] ?? SimulatedDisk()
            let place = disk.foldsCase ? disk.place(for: ByteString(path)) : ByteString(path)
            state.edit(place, to: bytes, on: name)
        }
    }

    /// Gives a file a text, whatever is there.
    public func edit(_ path: String, _ text: String) {
        edit(path, Array(text.utf8))
    }

    /// Adds to the end of a file as a program does that writes in pieces: a part of it now, the rest in some later step. The part may
    /// be at the service before the rest is written: append logs are seen cut in the middle of a line.
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

    /// Deletes a file, whether its content is here or not.
    public func delete(_ path: String) {
        cloud.change { $0.edit(ByteString(path), to: nil, on: name) }
    }

    /// Deletes all files, as somebody does who empties the folder: the other devices follow.
    public func deleteEverything() {
        cloud.change { state in
            for path in (state.disks[name]?.files.keys.sorted() ?? []) { state.edit(path, to: nil, on: name) }
        }
    }

    /// Lets the content of a file leave the device.
    /// - Throws: `invalidArgument` where the service does not have that content, or the file is not here.
    public func evict(_ path: String) throws {
        let canEvict = cloud.change { state in
            guard let disk = state.disks[name], state.canEvict(ByteString(path), disk) else { return false }
            state.evict(ByteString(path), on: name)
            return true
        }
        guard canEvict else {
            throw RecollectError(
                .invalidArgument, "\(path) is not here, or not at the service, and cannot leave \(name).")
        }
    }

    // MARK: - What befalls it

    /// Whether the device hears from the service and the service from it.
    public var isOnline: Bool {
        get { read(\.isOnline) }
        nonmutating set { change { $0.isOnline = newValue } }
    }

    /// Whether names that differ only in case are one file here. Set while the folder is empty.
    public var foldsCase: Bool {
        get { read(\.foldsCase) }
        nonmutating set { change { $0.foldsCase = newValue } }
    }

    /// By how many seconds the device's clock is ahead.
    public var clockSkew: TimeInterval {
        get { read(\.clockSkew) }
        nonmutating set { change { $0.clockSkew = newValue } }
    }

    /// How many bytes fit on the disk; `nil` for any number. Writes beyond throw `diskFull`, downloads wait.
    public var capacity: Int? {
        get { read(\.capacity) }
        nonmutating set { change { $0.capacity = newValue } }
    }

    /// Whether the folder itself is gone (not mounted, say): every call throws `unavailable`, and nothing syncs.
    public var isUnavailable: Bool {
        get { read(\.isUnavailable) }
        nonmutating set { change { $0.isUnavailable = newValue } }
    }

    /// Makes all files disappear at once while the folder stays, by a mishap that is none of the sync's: nothing is told to the service,
    /// and nothing syncs until `bringBack()`.
    public func vanish() {
        cloud.change { state in
            state.change(name) { disk in
                disk.hidden = disk.hidden ?? disk.files
                disk.files = [:]
            }
            state.note("everything on \(name) vanishes")
        }
    }

    /// Brings back what vanished; a file that was written meanwhile stays as it was written.
    public func bringBack() {
        cloud.change { state in
            state.change(name) { disk in
                disk.files.merge(disk.hidden ?? [:]) { written, _ in written }
                disk.hidden = nil
            }
            state.note("everything on \(name) is back")
        }
    }

    // MARK: - The disk

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
