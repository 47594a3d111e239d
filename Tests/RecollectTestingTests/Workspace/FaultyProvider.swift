import Foundation
import RecollectCore
import RecollectTesting
import RecollectWorkspace

/// A provider of a simulated device, correct or with one fault.
struct FaultyProvider: WorkspaceProvider {
    let fault: WorkspaceFault?
    let device: SimulatedDevice
    /// The state of the fault: requested downloads and the number of listeners.
    let asked = Locked<Set<WorkspacePath>>([])
    let listeners = Locked(0)
    let bells = Locked<[AsyncStream<Void>.Continuation]>([])

    private var sound: SimulatedProvider { device.provider }
    var rootURL: URL { sound.rootURL }

    /// Returns a fixture of providers with the fault; correct ones for `nil`.
    static func fixture(_ fault: WorkspaceFault?) -> StoreFixture<WorkspaceProviderFixture> {
        let behavior = CloudBehavior(conflicts: .syncthing)
        return StoreFixture(
            capabilities: .workspace, location: { SimulatedCloud(seed: 1, behavior: behavior) },
            open: { cloud in
                let device = cloud.device("device")
                let provider = FaultyProvider(fault: fault, device: device)
                return WorkspaceProviderFixture(
                    provider: provider,
                    maxWait: fault == nil ? .seconds(20) : .milliseconds(50),
                    put: { path, bytes in
                        device.edit(path, bytes)
                        provider.ring(path, isOwn: false)
                    },
                    evict: { path in
                        try cloud.syncCompletely()
                        try device.evict(path)
                    },
                    setRootRemoved: { device.isUnavailable = $0 })
            },
            remove: { _ in })
    }

    // MARK: - Reading

    func items(in folder: WorkspacePath) throws -> [WorkspaceItem] {
        do {
            var items = try sound.items(in: folder)
            switch fault {
            case .listsAllLevels:
                for item in items where item.isFolder { items += try self.items(in: item.path) }
            case .forgetsSizesOfListedItems: items = items.map { WorkspaceItem(path: $0.path, isFolder: $0.isFolder) }
            case .stampsBySize: items = items.map(stampedBySize)
            case .listsTemporaryFiles:
                let prefix = folder == .root ? "" : folder.names.joined(separator: "/") + "/"
                let hidden = device.files().keys.filter { $0.hasPrefix(prefix) && $0.hasSuffix(".tmp") }
                items += try hidden.map {
                    WorkspaceItem(path: try WorkspacePath(prefix + "_" + $0.dropFirst(prefix.count)))
                }
            case .hidesConflictCopies: items.removeAll { $0.path.name.contains(".sync-conflict-") }
            case .hidesEvictedFiles: items.removeAll { $0.state == .notLocal }
            default: break
            }
            return items
        } catch let error as RecollectError {
            if fault == .listsMissingFoldersAsEmpty && error.code == .notFound { return [] }
            if fault == .takesAGoneRootForAnEmptyOne && error.code == .unavailable { return [] }
            throw error
        }
    }

    func item(at path: WorkspacePath) throws -> WorkspaceItem? {
        if fault == .findsComposedNamesAlone && isSpelledOtherwise(path) { return nil }
        let item = try sound.item(at: path)
        return fault == .stampsBySize ? item.map(stampedBySize) : item
    }

    private func stampedBySize(_ item: WorkspaceItem) -> WorkspaceItem {
        WorkspaceItem(
            path: item.path, isFolder: item.isFolder, size: item.size, modified: item.modified, state: item.state,
            stamp: "\(item.size)")
    }

    private func isSpelledOtherwise(_ path: WorkspacePath) -> Bool {
        let name = ByteString(path.names.joined(separator: "/"))
        return !device.files().keys.contains { ByteString($0) == name }
    }

    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
        switch fault {
        case .readsWithoutLimit: return try sound.read(path, limit: .max)
        case .readsNothingAsEmpty where try sound.item(at: path) == nil: return []
        case .findsComposedNamesAlone where isSpelledOtherwise(path):
            throw RecollectError(.notFound, "no \(path.names)")
        case .downloadsWhenReading:
            if try sound.item(at: path) != nil { try sound.requestDownload(of: path) }
            return try sound.read(path, limit: limit)
        default: return try sound.read(path, limit: limit)
        }
    }

    // MARK: - Writing

    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        defer { ring(path.names.joined(separator: "/"), isOwn: true) }
        let current = { try? sound.read(path, limit: .max) }
        switch fault {
        case .takesEmptyForNothing where bytes.isEmpty && expected == nil: return
        case .neverReplaces where expected != nil: try sound.write(bytes, to: path, replacing: nil)
        case .ignoresReplacing where expected != nil && current() != nil:
            try sound.write(bytes, to: path, replacing: current().map { ContentHash(of: $0) })
        case .takesNothingForAnything where expected == nil:
            try sound.write(bytes, to: path, replacing: current().map { ContentHash(of: $0) })
        case .makesWhatIsGone where current() == nil && (try? sound.item(at: path)) == .some(nil):
            try sound.write(bytes, to: path, replacing: nil)
        case .leavesItsStagedFile:
            device.edit(path.names.joined(separator: "/") + ".staged", bytes)
            try sound.write(bytes, to: path, replacing: expected)
        case .saysNotFoundOfFolders:
            do {
                try sound.write(bytes, to: path, replacing: expected)
            } catch let error as RecollectError where error.code == .foreignStore {
                throw RecollectError(.notFound, "no \(path.names)")
            }
        case .comparesThenWrites:
            let before = current()
            guard before.map({ ContentHash(of: $0) }) == expected else { throw ContentMismatchError(current: before) }
            Thread.sleep(forTimeInterval: 0.002)
            device.edit(path.names.joined(separator: "/"), bytes)
        case .showsOldContentInMismatches:
            do {
                try sound.write(bytes, to: path, replacing: expected)
            } catch is ContentMismatchError {
                throw ContentMismatchError(current: [])
            }
        case .removesThenWrites where expected != nil:
            guard let before = current(), ContentHash(of: before) == expected else {
                return try sound.write(bytes, to: path, replacing: expected)
            }
            try sound.remove(path, holding: ContentHash(of: before))
            Thread.sleep(forTimeInterval: 0.002)
            try sound.write(bytes, to: path, replacing: nil)
        case .cutsLongNames:
            let name = path.names.map { $0.prefix(100) }.joined(separator: "/")
            try sound.write(bytes, to: try WorkspacePath(name), replacing: expected)
        case .findsComposedNamesAlone where isSpelledOtherwise(path) && expected == nil:
            device.edit(path.names.joined(separator: "/"), bytes)
        case .writesOverCollision:
            let name = path.names.joined(separator: "/")
            for variant in device.files().keys where variant.lowercased() == name.lowercased() && variant != name {
                device.edit(variant, bytes)
            }
            try sound.write(bytes, to: path, replacing: expected)
        case .takesEvictedForAbsent where try sound.item(at: path)?.state == .notLocal:
            device.edit(path.names.joined(separator: "/"), bytes)
        default: try sound.write(bytes, to: path, replacing: expected)
        }
    }

    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        let name = path.names.joined(separator: "/")
        defer { ring(name, isOwn: true) }
        switch fault {
        case .removesWithTheFolder:
            try sound.remove(path, holding: expected)
            let folder = name.split(separator: "/").first.map(String.init) ?? name
            if !folder.hasSuffix(".md") { device.edit(folder, "no folder any more") }
        case .removesWithoutComparing where try sound.item(at: path)?.isFolder == false: device.delete(name)
        case .takesTheGoneForRemoved where try sound.item(at: path) == nil: return
        default: try sound.remove(path, holding: expected)
        }
    }

    func requestDownload(of path: WorkspacePath) throws {
        if fault == .refusesToDownloadTwice, !asked.withLock({ $0.insert(path).inserted }) {
            throw RecollectError(.busy, "asked already")
        }
        try sound.requestDownload(of: path)
    }

    func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        let versions = try sound.conflictVersions(of: path)
        guard fault == .takesTheFileForAVersion else { return versions }
        return versions + [ConflictVersion(id: "now", bytes: try sound.read(path, limit: .max))]
    }

    func removeFolder(_ path: WorkspacePath) throws -> Bool {
        guard fault == .removesFoldersWithTheirFiles else { return try sound.removeFolder(path) }
        for item in (try? sound.items(in: path)) ?? [] where !item.isFolder {
            device.delete(item.path.names.joined(separator: "/"))
        }
        for item in (try? sound.items(in: path)) ?? [] { _ = try removeFolder(item.path) }
        return try sound.removeFolder(path)
    }

    func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        try sound.resolve(versions, of: path)
    }

    // MARK: - Lineage

    func lineageFiles() throws -> [LineageFile] { try sound.lineageFiles() }

    func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {
        let before = fault == .appendsToLineageFiles ? try lineageFiles().first { $0.name == name }?.bytes ?? [] : []
        try sound.writeLineageFile(named: name, bytes.map { before + $0 })
    }

    // MARK: - Notifications

    func changeSignals() -> AsyncStream<Void> {
        switch fault {
        case .signalsForeignChangesAlone, .signalsOwnChangesAlone, .signalsExistingFoldersAlone:
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            bells.withLock { $0.append(continuation) }
            return stream
        case .signalsOneListener:
            let number = listeners.withLock { count in
                count += 1
                return count
            }
            return number == 1 ? sound.changeSignals() : AsyncStream { _ in }
        default: return sound.changeSignals()
        }
    }

    /// Notifies the listeners of a change, according to the fault.
    private func ring(_ path: String, isOwn: Bool) {
        let isHeard =
            switch fault {
            case .signalsForeignChangesAlone: !isOwn
            case .signalsOwnChangesAlone: isOwn
            case .signalsExistingFoldersAlone: !path.contains("/")
            default: false
            }
        guard isHeard else { return }
        for bell in bells.withLock({ $0 }) { bell.yield() }
    }
}
