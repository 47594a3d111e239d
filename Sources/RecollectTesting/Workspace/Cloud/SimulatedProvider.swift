import Foundation
import RecollectCore
import RecollectWorkspace

/// The folder of a simulated device as a workspace provider.
public struct SimulatedProvider: WorkspaceProvider {
    let device: SimulatedDevice

    /// The folder's URL. It does not exist on the real disk.
    public var rootURL: URL { device.rootURL }

    // MARK: - Reading

    /// Returns the items of a folder, except those with names of the sync service or the system.
    public func items(in folder: WorkspacePath) throws -> [WorkspaceItem] {
        try read { state, disk in
            let path = Self.key(folder)
            guard folder == .root || disk.isFolder(path) else { throw Self.missing(disk, path) }
            let prefix = folder == .root ? "" : SimulatedDisk.key(path, foldsCase: disk.foldsCase).string + "/"
            var items: [WorkspacePath: WorkspaceItem] = [:]
            for name in disk.files.keys.map({ $0 }) + disk.folders {
                let key = SimulatedDisk.key(name, foldsCase: disk.foldsCase).string
                guard key.hasPrefix(prefix), !key.dropFirst(prefix.count).contains("/"),
                    let path = try? WorkspacePath(name.string)
                else { continue }
                // Of two spellings of one path, use the one found by calls with this path.
                guard items[path] == nil || disk.spelling(of: Self.key(name)) == name else { continue }
                items[path] = item(at: name, named: path, state, disk)
            }
            return Array(items.values)
        }
    }

    /// Returns one file or folder.
    public func item(at path: WorkspacePath) throws -> WorkspaceItem? {
        try read { state, disk in
            let name = Self.key(path)
            if path == .root || disk.isFolder(name) { return WorkspaceItem(path: path, isFolder: true) }
            return disk.spelling(of: name).map { item(at: $0, named: path, state, disk) }
        }
    }

    /// Returns the path as spelled on disk.
    public func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath {
        try read { _, disk in (try? WorkspacePath(disk.pathOnDisk(for: Self.key(path)).string)) ?? path }
    }

    private func item(
        at name: ByteString, named path: WorkspacePath, _ state: CloudState, _ disk: SimulatedDisk
    ) -> WorkspaceItem {
        guard let file = disk.files[name] else { return WorkspaceItem(path: path, isFolder: true) }
        let isUnknown = file.state != .local && state.behavior.eviction == .placeholder
        let isConflicted =
            file.state == .local
            && !(versions(of: name, state, disk).isEmpty && disk.otherForms(of: name).isEmpty)
        return WorkspaceItem(
            path: path, size: isUnknown ? 0 : file.bytes.count, modified: file.modified, changed: file.changed,
            state: isConflicted ? .conflicted : file.state, stamp: "\(file.stamp)",
            upload: upload(of: name, state, disk))
    }

    private func upload(of name: ByteString, _ state: CloudState, _ disk: SimulatedDisk) -> UploadState {
        guard disk.edited.contains(name) || disk.unwritten[name] != nil else { return .uploaded }
        return state.exceedsQuota(name, from: disk) ? .overQuota : .waiting
    }

    /// Returns the bytes of a file. Starts no download.
    public func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
        try read { _, disk in
            let file = try file(at: path, disk).file
            guard file.bytes.count <= limit else {
                throw RecollectError(
                    .tooLarge, "\(path.text) is \(file.bytes.count) bytes; the limit is \(limit) bytes")
            }
            return file.bytes
        }
    }

    // MARK: - Writing

    /// Writes a file if it has the expected content.
    public func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        try change { state, disk in
            let asked = Self.key(path)
            try checkWay(to: asked, disk)
            let name = disk.spelling(of: asked) ?? asked
            let current = try disk.files[name].map { try local($0, path).bytes }
            guard current.map({ ContentHash(of: $0) }) == expected else { throw ContentMismatchError(current: current) }
            guard disk.hasRoom(for: bytes.count, at: name) else {
                throw RecollectError(.diskFull, "no space left on \(device.name): \(path.text) was not changed")
            }
            state.edit(name, to: bytes, on: device.name)
        }
    }

    /// Removes a file with the expected content. Its folder stays.
    public func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        try change { state, disk in
            guard let name = disk.spelling(of: Self.key(path)) else {
                if disk.isFolder(Self.key(path)) { throw Self.inTheWay(path.text) }
                throw ContentMismatchError(current: nil)
            }
            let current = try file(at: path, disk).file.bytes
            guard ContentHash(of: current) == expected else { throw ContentMismatchError(current: current) }
            state.edit(name, to: nil, on: device.name)
        }
    }

    /// Removes an empty folder. Returns whether it was removed.
    @discardableResult
    public func removeFolder(_ path: WorkspacePath) throws -> Bool {
        try change { state, disk in
            guard path != .root, disk.isFolder(Self.key(path)) else { return false }
            let prefix = SimulatedDisk.key(Self.key(path), foldsCase: disk.foldsCase).string + "/"
            let isInside = { (name: ByteString) in
                SimulatedDisk.key(name, foldsCase: disk.foldsCase).string.hasPrefix(prefix)
            }
            guard !disk.files.keys.contains(where: isInside), !disk.folders.contains(where: isInside) else {
                return false
            }
            let asked = SimulatedDisk.key(Self.key(path), foldsCase: disk.foldsCase)
            state.change(device.name) { disk in
                disk.folders = disk.folders.filter { SimulatedDisk.key($0, foldsCase: disk.foldsCase) != asked }
            }
            return true
        }
    }

    /// Requests a download. It happens according to the cloud's behavior.
    public func requestDownload(of path: WorkspacePath) throws {
        try change { state, disk in
            guard let name = disk.spelling(of: Self.key(path)) else { throw Self.missing(disk, Self.key(path)) }
            guard disk.files[name]?.state == .notLocal else { return }
            let stamp = state.tick()
            state.change(device.name) { disk in
                disk.files[name]?.state = .downloading
                disk.files[name]?.stamp = stamp
            }
            state.note("\(device.name) requests a download of \(path.text)")
            if state.behavior.downloads == .atOnce { state.download(name, on: device.name) }
        }
    }

    // MARK: - Versions

    /// Returns the losing versions, after the winning content is on the device.
    ///
    /// They include files with names that differ only in Unicode normalization.
    public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        try read { state, disk in
            guard let name = disk.spelling(of: Self.key(path)) else { throw Self.missing(disk, Self.key(path)) }
            let forms = disk.otherForms(of: name).map { Self.version($0, disk) }
            return forms
                + versions(of: name, state, disk).map { id in
                    ConflictVersion(id: "\(id)", bytes: state.revisions[id].bytes ?? [])
                }
        }
    }

    /// Returns a file with another form of the name, as a version.
    private static func version(_ form: ByteString, _ disk: SimulatedDisk) -> ConflictVersion {
        ConflictVersion(id: "form", bytes: disk.files[form]?.bytes ?? [])
    }

    /// Marks versions as resolved here. The other devices learn it in a later step.
    public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        try change { state, disk in
            guard let name = disk.spelling(of: Self.key(path)) else { throw Self.missing(disk, Self.key(path)) }
            for form in disk.otherForms(of: name) where versions.contains(Self.version(form, disk)) {
                state.edit(form, to: nil, on: device.name)
            }
            let open = Set(self.versions(of: name, state, disk)).intersection(versions.compactMap { Int($0.id) })
            guard !open.isEmpty else { return }
            state.change(device.name) { $0.resolved[name, default: []].formUnion(open) }
        }
    }

    private func versions(of name: ByteString, _ state: CloudState, _ disk: SimulatedDisk) -> [Int] {
        guard let entry = state.entries[name], disk.known[name] == entry.head else { return [] }
        return entry.losers.filter { !(disk.resolved[name]?.contains($0) ?? false) }
    }

    // MARK: - Lineage

    /// Returns the local files of the lineage folder and its duplicates by the service. Requests downloads of
    /// evicted ones.
    public func lineageFiles() throws -> [LineageFile] {
        try change { state, disk in
            let names = disk.files.keys.filter(SimulatedDisk.isLineage).sorted()
            for name in names where disk.files[name]?.state == .notLocal {
                state.change(device.name) { $0.files[name]?.state = .downloading }
            }
            return names.compactMap { name in
                guard let file = disk.files[name], file.state == .local, file.bytes.count <= LineageFile.maxSize,
                    let fileName = name.string.split(separator: "/").last
                else { return nil }
                return LineageFile(name: String(fileName), bytes: file.bytes)
            }
        }
    }

    /// Replaces or removes a file of the lineage folder.
    public func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {
        try change { state, disk in
            let path = ByteString("\(LineageFile.folderName)/\(name)")
            guard disk.hasRoom(for: bytes?.count ?? 0, at: path) else {
                throw RecollectError(.diskFull, "no space left on \(device.name)")
            }
            state.edit(path, to: bytes, on: device.name)
        }
    }

    // MARK: - Notifications

    /// Returns a stream with an element after each change of the device's folder, by any writer.
    public func changeSignals() -> AsyncStream<Void> {
        device.cloud.listeners.withLock { listeners in
            let own = listeners[device.name] ?? Broadcast()
            listeners[device.name] = own
            return own.stream()
        }
    }

    // MARK: - Disk

    private func read<Result>(_ body: (CloudState, SimulatedDisk) throws -> Result) throws -> Result {
        try device.cloud.read { try body($0, disk(in: $0)) }
    }

    /// Reads and changes the state atomically.
    private func change<Result>(_ body: (inout CloudState, SimulatedDisk) throws -> Result) throws -> Result {
        try device.cloud.change { try body(&$0, disk(in: $0)) }
    }

    private func disk(in state: CloudState) throws -> SimulatedDisk {
        guard let disk = state.disks[device.name], disk.isSignedIn, !disk.isUnavailable else {
            throw RecollectError(.unavailable, "the folder of \(device.name) is unavailable")
        }
        return disk
    }

    private func file(
        at path: WorkspacePath, _ disk: SimulatedDisk
    ) throws -> (name: ByteString, file: SimulatedDisk.File) {
        let asked = Self.key(path)
        guard let name = disk.spelling(of: asked), let file = disk.files[name] else { throw Self.missing(disk, asked) }
        return (name, try local(file, path))
    }

    private func local(_ file: SimulatedDisk.File, _ path: WorkspacePath) throws -> SimulatedDisk.File {
        guard file.state == .local else {
            throw RecollectError(.notLocal, "the content of \(path.text) is not on \(device.name): request a download")
        }
        return file
    }

    /// Throws if a folder is at the path, or a file is at one of the folders above it.
    private func checkWay(to path: ByteString, _ disk: SimulatedDisk) throws {
        guard !path.string.isEmpty, !disk.isFolder(path) else { throw Self.inTheWay(path.string) }
        for folder in SimulatedDisk.folders(above: path) where disk.spelling(of: folder) != nil {
            throw Self.inTheWay(folder.string)
        }
    }

    private static func missing(_ disk: SimulatedDisk, _ path: ByteString) -> RecollectError {
        let isThere = path.string.isEmpty || disk.isFolder(path) || disk.spelling(of: path) != nil
        if isThere { return inTheWay(path.string) }
        return RecollectError(.notFound, "\(path.string) does not exist")
    }

    private static func inTheWay(_ path: String) -> RecollectError {
        RecollectError(
            .foreignStore, "\(path.isEmpty ? "the root" : path) is a folder where a file is required, or the reverse")
    }

    private static func key(_ path: WorkspacePath) -> ByteString {
        ByteString(path.text)
    }

    private static func key(_ name: ByteString) -> ByteString {
        SimulatedDisk.composed(name)
    }
}

extension WorkspacePath {
    /// The names joined by `/`.
    var text: String { names.joined(separator: "/") }
}
