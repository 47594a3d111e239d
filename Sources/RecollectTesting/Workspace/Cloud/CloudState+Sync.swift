import Foundation
import RecollectCore
import RecollectWorkspace

extension CloudState {
    // MARK: - To the service

    /// Accepts a device's change at the service.
    ///
    /// - Content equal to the service's is no conflict, from any writer (observed with Syncthing 1.19; reported of
    ///   iCloud).
    /// - An edit wins over a deletion, in any order (observed with Syncthing 1.19; its change #10207 of July 2025
    ///   lets later deletions win).
    /// - Of two edits, for Syncthing and for versions the one with the later date wins, by the devices' own clocks
    ///   (`WinsConflict`; Apple: "chosen by iCloud on some basis"). For other services the first to arrive wins.
    mutating func upload(_ path: ByteString, from device: String) {
        guard let disk = disks[device] else { return }
        let (base, file, head) = (disk.known[path], disk.files[path], head(of: path))
        if let variant = caseVariant(of: path), file != nil { return moveAside(path, variant: variant, on: device) }
        if base == head?.id || head?.bytes == nil {
            return accept(path, from: device, parents: [base, head?.id])
        }
        guard let head, let theirs = head.bytes else { return }
        guard let file else {
            note("an edit wins over the deletion of \(path.string) by \(device)")
            return takeHead(of: path, on: device)
        }
        if file.bytes == theirs {
            note("\(device) and the service have the same content of \(path.string)")
            return takeHead(of: path, on: device)
        }
        resolveConflict(path, local: file, base: base, standing: head, on: device)
    }

    private mutating func accept(_ path: ByteString, from device: String, parents: [Int?]) {
        let file = disks[device]?.files[path]
        let known = Set(parents.compactMap { $0 }).sorted()
        let date = file?.modified ?? now(on: device)
        let id = addRevision(parents: known, bytes: file?.bytes, modified: date, device: device)
        let losers = file == nil ? [] : entries[path]?.losers ?? []
        entries[path] = Entry(head: id, losers: losers)
        change(device) { disk in
            disk.known[path] = id
            disk.edited.remove(path)
        }
        note("\(path.string) of \(device) is uploaded as revision \(id)")
    }

    private mutating func resolveConflict(
        _ path: ByteString, local: SimulatedDisk.File, base: Int?, standing: CloudRevision, on device: String
    ) {
        let fileExisted = base.map { revisions[$0].bytes != nil } ?? false
        let keepsVersion = behavior.conflicts == .fileVersions || behavior.conflicts == .iCloud && fileExisted
        let isLatestFirst = keepsVersion || behavior.conflicts == .syncthing
        let localWins = isLatestFirst && (local.modified, device) > (standing.modified, standing.device)
        let mine = addRevision(parents: [base], bytes: local.bytes, modified: local.modified, device: device)
        let (winner, loser) = localWins ? (revisions[mine], standing) : (standing, revisions[mine])
        // The joint revision has both as parents, so that no later edit conflicts with the loser again.
        let joined = addRevision(
            parents: [winner.id, loser.id], bytes: winner.bytes, modified: winner.modified, device: winner.device)
        entries[path]?.head = joined
        takeHead(of: path, on: device)
        if keepsVersion {
            entries[path]?.losers.append(loser.id)
            note(
                "conflict at \(path.string): \(winner.device) wins, the content of \(loser.device) becomes a conflict version"
            )
        } else if behavior.losesEditedCopies && CopyName.isSyncthings(path) {
            note("conflict at \(path.string), which is a conflict copy: the content of \(loser.device) is lost")
        } else {
            let names = CopyName.candidates(
                for: path, conflicts: behavior.conflicts, winner: winner.device, loser: loser.device,
                at: now(on: device))
            let copy = free(names, on: device)
            let id = addRevision(
                parents: [head(of: copy)?.id], bytes: loser.bytes, modified: loser.modified, device: loser.device)
            entries[copy] = Entry(head: id)
            takeHead(of: copy, on: device, isHere: true)
            note(
                "conflict at \(path.string): \(winner.device) wins, the content of \(loser.device) becomes \(copy.string)"
            )
        }
    }

    /// Returns an existing name the service treats as the same.
    private func caseVariant(of path: ByteString) -> ByteString? {
        guard behavior.foldsCase else { return nil }
        let key = SimulatedDisk.key(path, foldsCase: true)
        return entries.keys.filter {
            $0 != path && bytes(at: $0) != nil && SimulatedDisk.key($0, foldsCase: true) == key
        }.min()
    }

    private mutating func moveAside(_ path: ByteString, variant: ByteString, on device: String) {
        let name = free(CopyName.caseConflicts(for: path), on: device)
        move(path, to: name, on: device)
        note("\(path.string) of \(device) is renamed to \(name.string), because \(variant.string) exists")
    }

    /// Writes the rest of a program's data. The service may have the first part already.
    mutating func finishWriting(_ path: ByteString, on device: String) {
        guard let rest = disks[device]?.unwritten[path] else { return }
        edit(path, to: (disks[device]?.files[path]?.bytes ?? []) + rest, on: device)
    }

    mutating func compose(_ path: ByteString, on device: String) {
        let composed = SimulatedDisk.composed(path)
        move(path, to: composed, on: device)
        note("\(device) renames \(composed.string) to its composed form")
    }

    private mutating func move(_ path: ByteString, to name: ByteString, on device: String) {
        let stamp = tick()
        change(device) { disk in
            disk.edited.remove(path)
            guard let file = disk.files.removeValue(forKey: path) else { return }
            disk.edit(name, to: file.bytes, modified: file.modified, stamp: stamp)
        }
    }

    mutating func resolve(_ path: ByteString, from device: String) {
        let resolved = change(device) { $0.resolved.removeValue(forKey: path) } ?? []
        entries[path]?.losers.removeAll(where: resolved.contains)
        // The files of other devices are no longer in conflict.
        awake.formUnion(disks.keys)
        note("\(device) has resolved \(resolved.count) versions of \(path.string)")
    }

    // MARK: - To a device

    /// Gives a device the service's content, either complete or only its first part.
    mutating func receive(_ path: ByteString, on device: String, wholly: Bool) {
        guard let bytes = bytes(at: path), let disk = disks[device] else { return takeHead(of: path, on: device) }
        let isEvicted = disk.files[path].map { $0.state != .local } ?? behavior.arrivesEvicted
        guard !wholly && !isEvicted && bytes.count > 1 else { return takeHead(of: path, on: device) }
        if behavior.arrival == .inPlace {
            let part = Array(bytes.prefix(1 + random(below: bytes.count - 1)))
            let (date, stamp) = (now(on: device), tick())
            change(device) {
                $0.files[path] = SimulatedDisk.File(bytes: part, modified: date, changed: date, stamp: stamp)
            }
            note("\(part.count) of \(bytes.count) bytes of \(path.string) are on \(device)")
        }
        change(device) { disk in
            disk.makeFolders(above: path)
            _ = disk.arriving.insert(path)
        }
    }

    /// Replaces a device's file by the service's content.
    private mutating func takeHead(of path: ByteString, on device: String, isHere: Bool = false) {
        guard let head = head(of: path) else { return }
        let (date, stamp) = (now(on: device), tick())
        let state = isHere ? .local : stateOfArrival(path, on: device)
        change(device) { disk in
            let file = head.bytes.map {
                SimulatedDisk.File(
                    bytes: $0, modified: head.modified, changed: date, stamp: stamp, state: state)
            }
            disk.sync(path, to: file, revision: head.id)
        }
        note(
            "\(device) \(head.bytes == nil ? "no longer has \(path.string)" : "has \(path.string), revision \(head.id)")"
        )
    }

    /// Returns the state of an arriving file: an evicted one stays evicted, a new one depends on the behavior.
    private func stateOfArrival(_ path: ByteString, on device: String) -> FileState {
        if let file = disks[device]?.files[path] { return file.state }
        return behavior.arrivesEvicted ? .notLocal : .local
    }

    mutating func download(_ path: ByteString, on device: String) {
        let stamp = tick()
        change(device) { disk in
            disk.files[path]?.state = .local
            disk.files[path]?.stamp = stamp
        }
        note("the content of \(path.string) is downloaded to \(device)")
    }

    mutating func evict(_ path: ByteString, on device: String) {
        let stamp = tick()
        change(device) { disk in
            disk.files[path]?.state = .notLocal
            disk.files[path]?.stamp = stamp
        }
        note("the content of \(path.string) is evicted from \(device)")
    }

    // MARK: - Folders

    /// Creates `Journal 2` from `Journal`, with all or some of its files. iCloud was observed to do so after two
    /// devices created one folder.
    mutating func duplicate(_ folder: ByteString) {
        let names = (2...100).map { ByteString("\(folder.string) \($0)") }
        let isFree = { (name: ByteString) in
            !self.entries.keys.contains { SimulatedDisk.folders(above: $0).contains(name) || $0 == name }
        }
        guard let copy = names.first(where: isFree) else { return }
        duplicatedFolders += 1
        let inside = entries.keys.filter { SimulatedDisk.folders(above: $0).contains(folder) && bytes(at: $0) != nil }
        let isSplit = behavior.duplicatesFolders == .splits
        let staying = isSplit ? inside.sorted().filter { _ in random(below: 2) == 0 } : []
        // Of a split folder, at least one file moves.
        for path in inside.sorted() where staying.count == inside.count || !staying.contains(path) {
            guard let head = head(of: path) else { continue }
            let variant = ByteString(copy.string + path.string.dropFirst(folder.string.count))
            let id = addRevision(parents: [], bytes: head.bytes, modified: head.modified, device: head.device)
            let losers = entries[path]?.losers ?? []
            entries[variant] = Entry(head: id)
            guard isSplit else { continue }
            // A moved file keeps its versions.
            entries[variant]?.losers = losers
            entries[path]?.losers = []
            let deletion = addRevision(
                parents: [head.id], bytes: nil, modified: head.modified, device: head.device)
            entries[path]?.head = deletion
        }
        note("the service duplicates \(folder.string) as \(copy.string)")
    }
}
