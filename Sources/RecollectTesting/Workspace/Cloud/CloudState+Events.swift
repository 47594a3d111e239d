import Foundation
import RecollectCore
import RecollectWorkspace

/// An event between a device and the service.
enum CloudEvent: Hashable {
    /// A device renames a file to the composed form of its name, as Syncthing does with decomposed names.
    case compose(String, ByteString)
    /// A device's change reaches the service.
    case upload(String, ByteString)
    /// A program on a device writes the rest of its data.
    case finishWriting(String, ByteString)
    /// The current content of a name, or its first part, reaches a device.
    case receive(String, ByteString)
    /// The rest of the content reaches the device.
    case complete(String, ByteString)
    /// The content of an evicted file is downloaded.
    case download(String, ByteString)
    /// The service learns the versions resolved on a device.
    case resolve(String, ByteString)
    /// A file is evicted from a device.
    case evict(String, ByteString)
    /// The service duplicates a folder.
    case duplicate(ByteString)
}

extension CloudState {
    /// Returns the events necessary for all devices to agree, in a fixed order.
    ///
    /// Uploads over the quota, stalled downloads, and files that do not fit on a disk or collide with a name there
    /// are not included. They happen after the obstacle is gone.
    func pending() -> [CloudEvent] {
        var events: [CloudEvent] = []
        for device in disks.keys.sorted() {
            guard let disk = disks[device], disk.isSyncing else { continue }
            events += sent(by: device, disk) + taken(by: device, disk) + downloaded(by: device, disk)
        }
        return events
    }

    /// Returns a device's finished writes, and its messages to the service.
    private func sent(by device: String, _ disk: SimulatedDisk) -> [CloudEvent] {
        var events: [CloudEvent] = []
        for path in disk.unwritten.keys.sorted() { events.append(.finishWriting(device, path)) }
        for path in disk.edited.sorted() {
            let composed = SimulatedDisk.composed(path)
            if composed != path && disk.known[path] == nil {
                if disk.files[path] == nil || disk.files[composed] == nil { events.append(.compose(device, path)) }
            } else if !exceedsQuota(path, from: disk) {
                events.append(.upload(device, path))
            }
        }
        for path in disk.resolved.keys.sorted() { events.append(.resolve(device, path)) }
        return events
    }

    /// Returns the service's messages to a device with older files.
    private func taken(by device: String, _ disk: SimulatedDisk) -> [CloudEvent] {
        let paths = entries.keys.filter { isAwaited($0, disk) }.sorted()
        return paths.map { arrival(of: $0, at: device, disk) }
    }

    // When inlined into a loop, this crashes swiftc 6.3.1 with an ownership error in optimized builds.
    @inline(never)
    private func arrival(of path: ByteString, at device: String, _ disk: SimulatedDisk) -> CloudEvent {
        disk.arriving.contains(path) ? .complete(device, path) : .receive(device, path)
    }

    private func isAwaited(_ path: ByteString, _ disk: SimulatedDisk) -> Bool {
        disk.known[path] != entries[path]?.head && !disk.edited.contains(path) && canTake(path, disk)
    }

    /// Returns the downloads requested by a device.
    private func downloaded(by device: String, _ disk: SimulatedDisk) -> [CloudEvent] {
        guard behavior.downloads != .stalled else { return [] }
        var events: [CloudEvent] = []
        for path in disk.files.keys.sorted() {
            guard let file = disk.files[path], file.state == .downloading, disk.known[path] == entries[path]?.head,
                disk.hasRoom(for: file.bytes.count, at: path)
            else { continue }
            events.append(.download(device, path))
        }
        return events
    }

    /// Returns the possible faults.
    func faults() -> [CloudEvent] {
        var events: [CloudEvent] = []
        if behavior.evicts {
            for device in disks.keys.sorted() {
                guard let disk = disks[device], disk.isSyncing else { continue }
                events += disk.files.keys.filter { canEvict($0, disk) }.sorted().map { .evict(device, $0) }
            }
        }
        if behavior.duplicatesFolders != .never && duplicatedFolders < 2 {
            events += Set(entries.keys.flatMap(SimulatedDisk.folders(above:))).sorted().map { .duplicate($0) }
        }
        return events
    }

    /// Performs one event drawn by the seed. One in eight is a fault, if there are any.
    ///
    /// - Returns: Whether there was an event.
    mutating func step(withFaults: Bool) -> Bool {
        let faults = withFaults && random(below: 8) == 0 ? faults() : []
        let events = faults.isEmpty ? pending() : faults
        guard !events.isEmpty else { return false }
        happen(events[random(below: events.count)])
        return true
    }

    mutating func happen(_ event: CloudEvent) {
        switch event {
        case .compose(let device, let path): compose(path, on: device)
        case .upload(let device, let path): upload(path, from: device)
        case .finishWriting(let device, let path): finishWriting(path, on: device)
        case .receive(let device, let path): receive(path, on: device, wholly: behavior.arrival == .whole)
        case .complete(let device, let path): receive(path, on: device, wholly: true)
        case .download(let device, let path): download(path, on: device)
        case .resolve(let device, let path): resolve(path, from: device)
        case .evict(let device, let path): evict(path, on: device)
        case .duplicate(let folder): duplicate(folder)
        }
    }

    // MARK: - Obstacles

    /// Whether an upload would exceed the quota. Deletions never do.
    func exceedsQuota(_ path: ByteString, from disk: SimulatedDisk) -> Bool {
        guard let quota, let file = disk.files[path] else { return false }
        return used - (bytes(at: path)?.count ?? 0) + file.bytes.count > quota
    }

    /// Whether the disk has room for the service's content, with no name collision for the file or a folder above it.
    ///
    /// Syncthing omits and reports a file with a collision, rather than write into the other file.
    private func canTake(_ path: ByteString, _ disk: SimulatedDisk) -> Bool {
        guard let bytes = bytes(at: path) else { return true }
        if disk.files[path] == nil && disk.foldsCase && disk.pathOnDisk(for: path) != path { return false }
        return behavior.arrivesEvicted || disk.hasRoom(for: bytes.count, at: path)
    }

    /// Whether a file can be evicted: only if the service has its content.
    func canEvict(_ path: ByteString, _ disk: SimulatedDisk) -> Bool {
        disk.files[path]?.state == .local && !disk.edited.contains(path) && disk.unwritten[path] == nil
            && disk.known[path] == entries[path]?.head
    }
}
