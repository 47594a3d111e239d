import Foundation
import RecollectCore

/// Finds the losses caused by damage: overwrites each region of a small store, alone and in pairs, and opens the
/// result.
///
/// Each damage is made in a copy of its own. The copy must open. It must have lost only entries on the damaged
/// regions, must report the loss, and must show no entries that were never saved. Opening it again must show the
/// same entries; only entries on damaged regions may be lost by a later opening, if the damage was found that late.
public struct DamageExplorer: Sendable {
    /// The seed of random bytes and pairs.
    public var seed: UInt64
    /// The number of pairs of regions to damage.
    public var pairs = 0
    /// The maximum number of single regions to damage, drawn by the seed; `nil` for all.
    public var limit: Int?
    /// The kinds of damage.
    public var kinds = DamageKind.allCases
    /// A single run to repeat, by its name in a fault.
    public var run: String?
    /// The time to stop at. The report then covers the runs so far.
    public var deadline: ContinuousClock.Instant?

    /// Creates an explorer.
    public init(seed: UInt64) {
        self.seed = seed
    }

    /// Prepares a scenario's store and explores its damage.
    ///
    /// - Throws: errors of the preparation; `damaged` if the undamaged store has problems.
    public func explore(_ scenario: DamageScenario) async throws -> DamageReport {
        let clock = ContinuousClock()
        let start = clock.now
        let workFolder = try CrashExplorer.makeRunFolder()
        defer { CrashExplorer.remove(workFolder) }
        let folder = workFolder.appendingPathComponent("whole")
        try CrashExplorer.makeFolder(folder)
        try await scenario.prepare(folder)
        let whole = try DiskImage(folder: folder)
        let regions = try scenario.regions(folder)
        let (image, remove) = try open(whole, as: "undamaged", at: workFolder)
        let expected = try await scenario.reopen(image)
        remove()
        guard expected.problems.isEmpty, !expected.reportsLoss else {
            throw RecollectError(.damaged, "\(scenario.name): the undamaged store has problems: \(expected.problems)")
        }
        var report = DamageReport(name: scenario.name, seed: seed)
        report.entries = expected.lists.values.reduce(0) { $0 + $1.count }
        for damage in damages(regions) where run == nil || run == damage.name {
            if let deadline, clock.now > deadline { break }
            let (image, remove) = try open(damage.applied(to: whole, seed: seed), as: damage.name, at: workFolder)
            defer { remove() }
            let judged = await judge(damage, scenario, image, expected)
            report.add(
                damage.regions.count == 1 ? damage.regions[0].name : "pairs of regions", lost: judged.lost,
                allowed: judged.allowed,
                faults: judged.faults,
                run: damage.name + " (" + damage.regions.map(\.name).joined(separator: " and ") + ")")
        }
        report.duration = clock.now - start
        return report
    }

    private func open(_ disk: DiskImage, as name: String, at workFolder: URL) throws -> (CrashImage, () -> Void) {
        let folder = workFolder.appendingPathComponent(name, isDirectory: true)
        try CrashExplorer.makeFolder(folder)
        try disk.write(to: folder)
        return (CrashImage(folder: folder) {}, { CrashExplorer.remove(folder) })
    }

    // MARK: Damage

    private struct Damage {
        /// `garbage-17`, or `garbage-3-17` for a pair.
        var name: String
        var kind: DamageKind
        var regions: [DamagedRegion]

        func applied(to disk: DiskImage, seed: UInt64) -> DiskImage {
            var contents = disk.contents
            for region in regions {
                guard case .file(let number) = disk.names[region.file] else { continue }
                var generator = SeededGenerator(seed: seed &+ UInt64(region.offset))
                let bytes = (0..<region.count).map { _ in
                    kind == .zeros ? 0 : UInt8.random(in: .min ... .max, using: &generator)
                }
                DiskImage.apply(.write(offset: region.offset, bytes: bytes), to: &contents[number, default: []])
            }
            return DiskImage(names: disk.names, contents: contents)
        }
    }

    private func damages(_ regions: [DamagedRegion]) -> [Damage] {
        var generator = SeededGenerator(seed: seed)
        var numbers = Array(regions.indices)
        if let limit, limit < numbers.count {
            numbers = Array(numbers.shuffled(using: &generator).prefix(limit)).sorted()
        }
        var damages = numbers.flatMap { number in
            kinds.map { Damage(name: "\($0)-\(number)", kind: $0, regions: [regions[number]]) }
        }
        guard regions.count > 1, let kind = kinds.first else { return damages }
        for _ in 0..<pairs {
            let first = Int.random(in: 0..<(regions.count - 1), using: &generator)
            let second = Int.random(in: (first + 1)..<regions.count, using: &generator)
            damages.append(
                Damage(name: "\(kind)-\(first)-\(second)", kind: kind, regions: [regions[first], regions[second]]))
        }
        return damages
    }

    // MARK: Loss

    private func judge(
        _ damage: Damage, _ scenario: DamageScenario, _ image: CrashImage, _ expected: CrashedStore
    ) async -> (lost: Int, allowed: Int, faults: [String]) {
        let mayBeLost = Self.beginsWithOne(of: damage.regions)
        // In a pair, one of the regions may have no checksum. Each of its entries may be read as another entry.
        let mayChange = Self.beginsWithOne(of: damage.regions.filter(\.mayChange))
        let first: CrashedStore
        do { first = try await scenario.reopen(image) } catch {
            let all = expected.lists.values.flatMap { $0 }
            return (all.count, all.filter(mayBeLost).count, ["opening: \(error)"])
        }
        var faults: [String] = []
        var lost: [String] = []
        var changed = 0
        for list in Set(expected.lists.keys).union(first.lists.keys).sorted() {
            let (before, after) = (expected.lists[list] ?? [], first.lists[list] ?? [])
            let there = Set(after)
            lost += before.filter { !there.contains($0) }
            changed += there.subtracting(before).filter { mayChange($0) || !mayBeLost($0) }.count
            if there.count < after.count { faults.append("duplicate: \(after.count - there.count) entries of \(list)") }
            if before.filter(there.contains) != after.filter(Set(before).contains) {
                faults.append("order: \(list): entries are out of order")
            }
        }
        let tooMuch = lost.filter { !mayBeLost($0) }
        if !tooMuch.isEmpty { faults.append("lost: \(tooMuch.count) entries outside the damaged regions") }
        if changed > lost.filter(mayChange).count { faults.append("unexpected: \(changed) entries were never saved") }
        if lost.count > changed, !first.reportsLoss, first.problems.isEmpty {
            faults.append("unreported: \(lost.count) entries are lost without a report")
        }
        do {
            let fault = try await reopeningFault(scenario, image, first, mayBeLost)
            faults += fault.map { ["reopening: " + $0] } ?? []
        } catch {
            faults.append("reopening: \(error)")
        }
        return (lost.count, lost.filter(mayBeLost).count, faults)
    }

    private static func beginsWithOne(of regions: [DamagedRegion]) -> (String) -> Bool {
        let beginnings = Set(regions.flatMap(\.allowedLosses))
        return { entry in beginnings.contains { entry.hasPrefix($0) } }
    }

    /// Returns the fault of the next openings, if any. They must show the same entries as the first.
    ///
    /// A store need not find all damage at once. It may show a damaged entry, and lose it in a salvage started by
    /// other damage. So the second opening may lack entries on damaged regions if it reports a loss. The third must
    /// show the same as the second.
    private func reopeningFault(
        _ scenario: DamageScenario, _ image: CrashImage, _ first: CrashedStore, _ mayBeLost: (String) -> Bool
    ) async throws -> String? {
        let second = try await scenario.reopen(image)
        if second.lists == first.lists { return nil }
        for list in Set(first.lists.keys).union(second.lists.keys) {
            let kept = Set(second.lists[list] ?? [])
            let expected = (first.lists[list] ?? []).filter { kept.contains($0) || !mayBeLost($0) }
            guard second.lists[list] ?? [] == expected else { return "the store has different entries after reopening" }
        }
        guard second.reportsLoss || first.reportsLoss else {
            return "entries were lost after reopening without a report"
        }
        let third = try await scenario.reopen(image)
        return third.lists == second.lists ? nil : "the store has different entries after each reopening"
    }
}
