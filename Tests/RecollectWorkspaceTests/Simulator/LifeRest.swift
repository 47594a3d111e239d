import Foundation
import RecollectCore
import RecollectTesting

@testable import RecollectWorkspace

/// The end of a life: all devices are online again and resolve all conflicts. Then nothing may be missing.
struct LifeRest {
    let cloud: SimulatedCloud
    let ledger: LifeLedger
    let devices: [LifeDevice]

    init(cloud: SimulatedCloud, ledger: LifeLedger, devices: [LifeDevice]) {
        (self.cloud, self.ledger, self.devices) = (cloud, ledger, devices)
    }

    func faults() async throws -> [String] {
        clearTheWeather()
        try cloud.syncCompletely()
        for device in devices {
            device.date.withLock { $0 += ConflictResolver.maxDelay }
            if try await device.workspace.status().isMassDeletion { try await device.workspace.acceptDeletions() }
        }
        let rounds = try await resolve()
        // A conflict in a duplicated folder is resolved there first. Then the folder is merged, perhaps with a new conflict.
        let limit = cloud.behavior.duplicatesFolders == .never ? 2 : 3
        var faults = rounds <= limit ? [] : ["same-resolution: resolving took \(rounds) rounds"]
        try downloadEverything()
        faults += try unequalFolders() + leftCopies() + lostTexts()
        faults += try await unreportedNameCollisions()
        let hidden = ledger.wordsOutOfSight(among: cloud.files().values)
        if !hidden.isEmpty { faults.append("words in no file: \(hidden.joined(separator: " "))") }
        if !faults.isEmpty {
            for (path, bytes) in cloud.files().sorted(by: { $0.key < $1.key }) {
                ledger.note("at rest, \(path): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
            }
        }
        return faults
    }

    private func clearTheWeather() {
        cloud.quota = nil
        cloud.behavior.evicts = false
        cloud.behavior.arrivesEvicted = false
        if cloud.behavior.downloads == .stalled { cloud.behavior.downloads = .later }
        for device in devices.map(\.device) {
            device.isOnline = true
            device.isUnavailable = false
            device.capacity = nil
            device.restoreFiles()
            if device.container.accountToken() == nil { device.container.signIn() }
        }
    }

    private func downloadEverything() throws {
        for device in devices.map(\.device) {
            for path in device.evictedFiles().sorted() {
                if let path = try? WorkspacePath(path) { try device.provider.requestDownload(of: path) }
            }
        }
        try cloud.syncCompletely()
    }

    /// Resolves on all devices, each without the results of the others, until no device finds a conflict.
    /// - Returns: The number of rounds.
    private func resolve() async throws -> Int {
        for round in 0..<6 {
            try downloadEverything()
            var resolved: [ResolvedConflict] = []
            for device in devices {
                device.date.withLock { $0 += ConflictResolver.maxDelay }
                let own = try await device.workspace.resolveConflicts()
                for one in own {
                    ledger.note(
                        "round \(round + 1), \(device.name): \(one.path) \(one.outcome.rawValue), of \(one.copies.map(\.text))"
                    )
                }
                resolved += own
            }
            if resolved.isEmpty { return round }
            try cloud.syncCompletely()
        }
        return 6
    }

    private func unequalFolders() throws -> [String] {
        let files = cloud.files()
        return try devices.flatMap { device -> [String] in
            let own = device.device.files()
            return try Set(files.keys).union(own.keys).filter { path in
                // A case-insensitive disk has only one file of a name collision, and a sync leaves out the other one.
                let asked = try? WorkspacePath(path)
                if own[path] == nil, try asked.map(device.device.provider.canonicalPath) != asked { return false }
                return files[path] != own[path]
            }.sorted().map { "\($0) differs between \(device.name) and the service" }
        }
    }

    /// Name collisions must be reported on every device with both files.
    private func unreportedNameCollisions() async throws -> [String] {
        var faults: [String] = []
        for device in devices {
            let keys = device.device.files().keys.compactMap { try? WorkspacePath($0).key }
            let nameCollisions = Dictionary(grouping: keys) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
            let reported = try await device.workspace.status().nameCollisions.compactMap(\.first?.key).sorted()
            if nameCollisions != reported {
                faults.append(
                    "name-collisions: \(device.name) has the name collisions \(nameCollisions), but reports \(reported)"
                )
            }
        }
        return faults
    }

    private func leftCopies() -> [String] {
        let names = cloud.files().keys.sorted()
        return names.filter { name in
            guard let path = try? WorkspacePath(name), let original = ConflictCopies.original(of: path) else {
                return false
            }
            return names.contains(original.text) || ConflictCopyName(path.name)?.isCertain == true
        }.map { "the conflict copy \($0) was left" }
    }

    private func lostTexts() throws -> [String] {
        let current = Set(devices.flatMap { $0.device.files().values })
        return try ledger.owedTexts.filter { text in
            if current.contains(text.bytes) { return false }
            let hash = ContentHash(of: text.bytes)
            return try !devices.contains { try $0.workspace.archive.bytes(of: hash) != nil }
        }.map { "lost: \(String(decoding: $0.bytes, as: UTF8.self).debugDescription) of \($0.path)" }
    }
}
