import Foundation
import RecollectCore
import RecollectWorkspace

/// Something that happens between a device and the service.
enum CloudEvent: Hashable {
    /// A device renames a file to the composed form of its name, as Syncthing does with decomposed names.
    case compose(String, ByteString)
    /// A change of a device comes to the service.
    case upload(String, ByteString)
    /// A program of a device writes the rest of what it began.
    case finishWriting(String, ByteString)
    /// The standing content of a name, or the first part of it, comes to a device.
    case receive(String, ByteString)
    /// The rest of it comes.
    case complete(String, ByteString)
    /// The content of an evicted file comes.
    case download(String, ByteString)
    /// The service is told which versions were resolved.
    case resolve(String, ByteString)
    /// The content of a file leaves a device.
    case evict(String, ByteString)
    /// The service duplicates a folder.
    case duplicate(ByteString)
}

extension CloudState {
    /// What has to happen until all devices agree, in a fixed order.
    ///
    /// Uploads over the quota, downloads that stall, and what a full or case-folding disk cannot take are not among them: they happen when
    /// the reason is gone.
    func pending() -> [CloudEvent] {
        var events: [CloudEvent] = []
        for device in disks.keys.sorted() {
            guard let disk = disks[device], disk.isSyncing else { continue }
            events += sent(by: device, disk) + taken(by: device, disk) + downloaded(by: device, disk)
        }
        return events
    }

    /// A device's finished work and messages to the service.
    private func sent(by device: String, _ disk: SimulatedDisk) -> [CloudEvent] {
        var events: [CloudEvent] = []
        for path in disk.unwritten.keys.sorted() { events.append(.finishWriting(device, path)) }
        for path in disk.edited.sorted() {
            let composed = SimulatedDisk.composed(path)
            if composed != path && disk.known[path] == nil {
                if disk.files[path] == nil || disk.files[composed] == nil { events.append(.compose(device, path)) }
            } else if !isTooMuch(path, from: disk) {
                events.append(.upload(device, path))
            }
        }
        for path in disk.resolved.keys.sorted() { events.append(.resolve(device, path)) }
        return events
    }

    /// The service's messages to a device behind it.
    private func taken(by device: String, _ disk: SimulatedDisk) -> [CloudEvent] {
        let paths = entries.keys.filter { isAwaited($0, disk) }.sorted()
        return paths.map { arrival(of: $0, at: device, disk) }
    }

    // Inlined into a loop, this ends swiftc 6.3.1 with an ownership error when it optimizes.
    @inline(never)
    private func arrival(of path: ByteString, at device: String, _ disk: SimulatedDisk) -> CloudEvent {
        disk.arriving.contains(path) ? .complete(device, path) : .receive(device, path)
    }

    private func isAwaited(_ path: ByteString, _ disk: SimulatedDisk) -> Bool {
        disk.known[path] != entries[path]?.head && !disk.edited.contains(path) && canTake(path, disk)
    }

    /// The contents requested by a device.
    private func downloaded(by device: String, _ disk: SimulatedDisk) -> [CloudEvent] {
        guard behaviour.downloads != .stalled else { return [] }
        var events: [CloudEvent] = []
        for path in disk.files.keys.sorted() {
            guard let file = disk.files[path], file.state == .downloading, disk.known[path] == entries[path]?.head,
                disk.hasRoom(for: file.bytes.count, at: path)
            else { continue }
            events.append(.download(device, path))
        }
        return events
    }

    /// What may happen besides.
    func mishaps() -> [CloudEvent] {
        var events: [CloudEvent] = []
        if behaviour.evicts {
            for device in disks.keys.sorted() {
                guard let disk = disks[device], disk.isSyncing else { continue }
                events += disk.files.keys.filter { canEvict($0, disk) }.sorted().map { .evict(device, $0) }
            }
        }
        if behaviour.duplicatesFolders != .never && duplicatedFolders < 2 {
            events += Set(entries.keys.flatMap(SimulatedDisk.folders(above:))).sorted().map { .duplicate($0) }
        }
        return events
    }

    /// Lets one event happen that the seed chooses; one in eight times a mishap, where there are any.
    /// - Returns: Whether anything happened.
    mutating func step(withMishaps: Bool) -> Bool {
        let mishaps = withMishaps && random(below: 8) == 0 ? mishaps() : []
        let events = mishaps.isEmpty ? pending() : mishaps
        guard !events.isEmpty else { return false }
        happen(events[random(below: events.count)])
        return true
    }

    mutating func happen(_ event: CloudEvent) {
        switch event {
        case .compose(let device, let path): compose(path, on: device)
        case .upload(let device, let path): upload(path, from: device)
        case .finishWriting(let device, let path): finishWriting(path, on: device)
        case .receive(let device, let path): receive(path, on: device, wholly: behaviour.arrival == .whole)
        case .complete(let device, let path): receive(path, on: device, wholly: true)
        case .download(let device, let path): download(path, on: device)
        case .resolve(let device, let path): resolve(path, from: device)
        case .evict(let device, let path): evict(path, on: device)
        case .duplicate(let folder): duplicate(folder)
        }
    }

    // MARK: - What cannot happen

    /// Whether an upload would not fit into the quota. Deletions always do.
    func isTooMuch(_ path: ByteString, from disk: SimulatedDisk) -> Bool {
        guard let quota, let file = disk.files[path] else { return false }
        return used - (bytes(at: path)?.count ?? 0) + file.bytes.count > quota
    }

    /// Whether the disk has room for what stands at the service, and no twin in its way, of a folder above it neither. Syncthing leaves such a file out and says so,
    /// rather than write into the twin.
    private func canTake(_ path: ByteString, _ disk: SimulatedDisk) -> Bool {
        guard let bytes = bytes(at: path) else { return true }
        if disk.files[path] == nil && disk.foldsCase && disk.place(for: path) != path { return false }
        return behaviour.arrivesEvicted || disk.hasRoom(for: bytes.count, at: path)
    }

    /// Only what the service has too is evicted.
    func canEvict(_ path: ByteString, _ disk: SimulatedDisk) -> Bool {
        disk.files[path]?.state == .local && !disk.edited.contains(path) && disk.unwritten[path] == nil
            && disk.known[path] == entries[path]?.head
    }
}
