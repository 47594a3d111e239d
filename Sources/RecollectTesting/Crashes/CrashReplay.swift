import Foundation
import RecollectCore

/// Opens the images of one recorded run.
struct CrashReplay: Sendable {
    let scenario: CrashScenario
    let journal: [RecordedStep]
    let ledger: CrashLedger
    let before: DiskImage
    let workFolder: URL
    let explorer: CrashExplorer

    func explore(_ report: inout CrashReport) async throws {
        if explorer.point == nil {
            for fault in ledger.faults {
                report.add(
                    CrashFault(point: nil, operation: journal[fault.entry].description, text: fault.text))
            }
        }
        if let point = explorer.point {
            report.operationsBefore = journal.prefix(point.operations).enumerated().map { index, entry in
                "\(index + 1) [\(entry.process)] \(entry)"
            }
        }
        let points = Set(chosenPoints())
        var disk = before
        for count in 0...journal.count {
            if count > 0 { disk.apply(journal[count - 1]) }
            guard points.contains(count) else { continue }
            if let deadline = explorer.deadline, ContinuousClock.now > deadline { return }
            if explorer.point?.powerCut == nil {
                try await open(disk, at: CrashPoint(operations: count), &report)
                report.kills += 1
            }
            for variant in variants(of: disk) {
                let cut = PowerCut(variant: variant, seed: explorer.seed &+ UInt64(count) &* 0x1_0000)
                try await open(cut.image(of: disk), at: CrashPoint(operations: count, powerCut: variant), &report)
                report.powerCuts += 1
            }
        }
    }

    /// Returns the points after a relevant change: of the files left by a killed process, of the synced state, or
    /// of the acknowledged changes.
    private func chosenPoints() -> [Int] {
        if let point = explorer.point { return [point.operations] }
        let all = (0...journal.count).filter { count in
            guard count > 0, count < journal.count else { return true }
            let entry = journal[count - 1]
            if case .ended = entry.note { return true }
            return entry.changesFiles || entry.action == .syncFile || entry.action == .syncFolder
        }
        guard let limit = explorer.limit, all.count > limit, limit > 1 else { return all }
        // The last point, with all changes acknowledged, is always included. Each seed draws other points before it.
        var generator = SeededGenerator(seed: explorer.seed)
        let drawn = (0..<(limit - 1)).map { part in
            let first = (all.count - 1) * part / (limit - 1)
            let next = (all.count - 1) * (part + 1) / (limit - 1)
            return all[Int.random(in: first..<max(first + 1, next), using: &generator)]
        }
        return drawn + all.suffix(1)
    }

    /// Returns the outcomes of a power cut to open. Without pending changes there is only the outcome of a killed
    /// process.
    private func variants(of disk: DiskImage) -> [Int] {
        if let point = explorer.point { return point.powerCut.map { [$0] } ?? [] }
        guard !disk.pendingNames.isEmpty || !disk.pendingContents.isEmpty else { return [] }
        return Array(0..<max(0, explorer.powerCuts))
    }

    private func open(_ image: DiskImage, at point: CrashPoint, _ report: inout CrashReport) async throws {
        let folder = workFolder.appendingPathComponent("image-\(point)", isDirectory: true)
        try CrashExplorer.makeFolder(folder)
        defer { CrashExplorer.remove(folder) }
        try image.write(to: folder)
        let operation = point.operations == 0 ? "nothing" : journal[point.operations - 1].description
        let (faults, lost) = try await faults(in: folder, at: point)
        for fault in faults {
            // The folder's path differs from run to run.
            let text = fault.replacingOccurrences(of: folder.path + "/", with: "")
            report.add(CrashFault(point: point, operation: operation, text: text))
        }
        report.worstLoss = max(report.worstLoss, lost)
    }

    private func faults(in folder: URL, at point: CrashPoint) async throws -> (texts: [String], lost: Int) {
        let count = point.operations
        let found = Locked<Set<String>>([])
        let image = CrashImage(folder: folder) { [ledger] in
            let words = ledger.erasedWords(nil, after: count)
            let hits = try FileWords.find(words, in: folder)
            found.withLock { $0.formUnion(hits.map { "residue: deleted words are in \($0) of the open store" }) }
        }
        let first: CrashedStore
        do {
            first = try await scenario.reopen(image)
        } catch {
            return (["opening: \(error)"], 0)
        }
        let isPowerCut = point.powerCut != nil
        let cut = CrashLedger.Cut(
            count: count, losesLast: isPowerCut && scenario.durability == .processEnd,
            bringsBack: isPowerCut && scenario.removalDurability == .processEnd,
            leavesHalves: isPowerCut && scenario.atomicity == .processEnd)
        var (faults, lost) = ledger.judge(first, after: cut)
        let words = ledger.erasedWords(first, after: count)
        faults += try FileWords.find(words, in: folder).map { "residue: deleted words are in \($0)" }
        do {
            let second = try await scenario.reopen(image)
            if second.lists != first.lists {
                faults.append("reopening: the store has different entries after reopening")
            }
        } catch {
            faults.append("reopening: \(error)")
        }
        return (faults + found.withLock { $0 }.sorted(), lost)
    }
}

/// A search for words in all files of a folder.
enum FileWords {
    /// Returns the files with one of the words, by their paths relative to the folder.
    static func find(_ words: [String], in folder: URL) throws -> [String] {
        guard !words.isEmpty, let enumerator = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        let needles = words.map { Data($0.utf8) }
        var found: [String] = []
        for case let path as String in enumerator {
            let url = folder.appendingPathComponent(path)
            // Folders cannot be read, and a file may be removed during the search.
            guard let bytes = try? Data(contentsOf: url) else { continue }
            if needles.contains(where: { bytes.range(of: $0) != nil }) { found.append(path) }
        }
        return found.sorted()
    }
}
