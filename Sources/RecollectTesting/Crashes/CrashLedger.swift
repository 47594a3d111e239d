/// The changes announced by a workload, and the resulting requirements for a store after a crash.
struct CrashLedger: Sendable {
    struct Change: Sendable {
        var list: String
        var adding: [String]
        var removing: [String]
        var words: [String]
        /// The indices of the journal's entries at its begin and its end; -1 for both if it was made before the
        /// recording, and `.max` as the end of a failed change.
        var began: Int
        var ended: Int = .max
    }

    /// The history of one entry.
    private struct EntryTimeline {
        var added: Int
        var certain: Int
        /// The change that added it, and the position there.
        var change: Int
        var position: Int
        var removalBegan = Int.max
        var removalEnded = Int.max
        var mayBeLost = false
    }

    private(set) var changes: [Change] = []
    private var lives: [String: [String: EntryTimeline]] = [:]
    /// Errors of the workload itself, and locks held twice.
    private(set) var faults: [(entry: Int, text: String)] = []

    init(_ journal: [RecordedStep]) {
        var numbers: [String: Int] = [:]
        var locks: [String: (process: Int, holder: Int)] = [:]
        for (index, entry) in journal.enumerated() {
            switch entry.action {
            case .lock:
                if let other = locks[entry.path] {
                    let whose = other.process == entry.process ? "another thread of the process" : "another process"
                    faults.append((index, "lock: \(entry.path) was locked while \(whose) held it"))
                }
                locks[entry.path] = (entry.process, entry.number)
            case .unlock:
                if let holder = locks[entry.path], holder.process == entry.process, holder.holder == entry.number {
                    locks[entry.path] = nil
                }
            case .end: locks = locks.filter { $0.value.process != entry.process }
            case .note:
                if let note = entry.note { take(note, at: index, &numbers) }
            default:
                if let path = Self.lockedDatabase(entry),
                    let other = locks.first(where: { DiskImage.parent(of: $0.key) == DiskImage.parent(of: path) }),
                    other.value.process != entry.process
                {
                    faults.append(
                        (index, "lock: a process wrote \(path) while another process held the lock \(other.key)"))
                }
            }
        }
    }

    /// Returns the path of the database or log written by an entry. These are written under the lock beside them.
    private static func lockedDatabase(_ entry: RecordedStep) -> String? {
        guard entry.action == .write || entry.action == .truncate else { return nil }
        return entry.path.hasSuffix(".sqlite") || entry.path.hasSuffix(".sqlite-wal") ? entry.path : nil
    }

    private mutating func take(_ note: CrashNote, at index: Int, _ numbers: inout [String: Int]) {
        switch note {
        case .existing(let list, let entries):
            changes.append(
                Change(list: list, adding: entries, removing: [], words: [], began: -1, ended: -1))
            add(changes.count - 1)
        case .allowedLoss(let list, let entries):
            for entry in entries { lives[list]?[entry]?.mayBeLost = true }
        case .began(let name, let list, let adding, let removing, let words):
            numbers[name] = changes.count
            changes.append(Change(list: list, adding: adding, removing: removing, words: words, began: index))
            add(changes.count - 1)
            for entry in removing {
                if lives[list]?[entry] == nil {
                    faults.append((index, "workload: it removes an entry that it never added"))
                }
                lives[list]?[entry]?.removalBegan = index
            }
        case .ended(let name):
            guard let number = numbers[name] else { return }
            changes[number].ended = index
            let change = changes[number]
            for entry in change.adding { lives[change.list]?[entry]?.certain = index }
            for entry in change.removing { lives[change.list]?[entry]?.removalEnded = index }
        case .signal: return
        }
    }

    private mutating func add(_ number: Int) {
        let change = changes[number]
        for (position, entry) in change.adding.enumerated() {
            lives[change.list, default: [:]][entry] = EntryTimeline(
                added: change.began, certain: change.ended, change: number, position: position)
        }
    }

    /// The end of a run.
    struct Cut {
        /// The number of journal entries before the end.
        var count: Int
        /// Whether the last changes of a list may be lost.
        var losesLast = false
        /// Whether removed entries may be present again.
        var bringsBack = false
        /// Whether an unacknowledged change may be present in part.
        var leavesHalves = false
    }

    /// Returns the faults of a store opened after a crash, and the number of acknowledged entries it lacks without
    /// permission.
    func judge(_ store: CrashedStore, after cut: Cut) -> (faults: [String], lost: Int) {
        var faults = store.problems.map { "problem: \($0)" }
        var lost = 0
        for list in Set(lives.keys).union(store.lists.keys).sorted() {
            let judged = judge(store.lists[list] ?? [], in: list, after: cut, reportsLoss: store.reportsLoss)
            faults += judged.faults
            lost += judged.lost
        }
        return (faults, lost)
    }

    private func judge(
        _ stored: [String], in list: String, after cut: Cut, reportsLoss: Bool
    ) -> (faults: [String], lost: Int) {
        let lives = lives[list] ?? [:]
        let count = cut.count
        var faults: [String] = []
        let kept = Set(stored)
        if kept.count < stored.count { faults.append("duplicate: \(stored.count - kept.count) entries of \(list)") }
        let foreignMessages = kept.filter { lives[$0].map { $0.added >= count } ?? true }
        if !foreignMessages.isEmpty {
            faults.append("unexpected: \(foreignMessages.count) entries of \(list) were never added")
        }
        let back = kept.filter { !cut.bringsBack && (lives[$0].map { $0.removalEnded < count } ?? false) }
        if !back.isEmpty { faults.append("deleted: \(back.count) entries of \(list) are still stored") }
        let certain = lives.filter { $0.value.certain < count && $0.value.removalBegan >= count }
        let missing = certain.filter { !kept.contains($0.key) }
        let lost = missing.filter { !$0.value.mayBeLost && !(cut.losesLast && followsAllSaved($0.value, kept, lives)) }
        if !lost.isEmpty {
            faults.append(
                "lost: \(lost.count) of \(certain.count) acknowledged entries of \(list)\(reportsLoss ? "" : ", without a report")"
            )
        } else if missing.contains(where: \.value.mayBeLost), !reportsLoss {
            faults.append("unreported: \(missing.count) entries of \(list) are lost without a report")
        }
        if let text = orderFault(stored, lives) { faults.append("order: \(list): \(text)") }
        if !cut.leavesHalves { faults += halves(list, kept, lives, count) }
        return (faults, lost.count)
    }

    private func followsAllSaved(_ life: EntryTimeline, _ kept: Set<String>, _ lives: [String: EntryTimeline]) -> Bool {
        !kept.contains { lives[$0].map { $0.added > life.certain } ?? false }
    }

    /// Returns the changes present only in part, unless some of their entries were removed or damaged since.
    private func halves(_ list: String, _ kept: Set<String>, _ lives: [String: EntryTimeline], _ count: Int) -> [String]
    {
        changes.compactMap { change in
            guard change.list == list, change.adding.count > 1, change.began < count else { return nil }
            let there = change.adding.filter(kept.contains).count
            guard there > 0, there < change.adding.count else { return nil }
            let isExcused = change.adding.contains { entry in
                lives[entry].map { $0.removalBegan < count || $0.mayBeLost } ?? false
            }
            // Missing entries of an acknowledged change are reported as lost already.
            guard !isExcused, change.ended >= count else { return nil }
            return "partial: \(there) of \(change.adding.count) entries of one change of \(list)"
        }
    }

    private func orderFault(_ stored: [String], _ lives: [String: EntryTimeline]) -> String? {
        var latest = -1
        var lastPositions: [Int: Int] = [:]
        for entry in stored {
            guard let life = lives[entry] else { continue }
            if life.certain < latest { return "an acknowledged entry is after an entry added later" }
            latest = max(latest, life.added)
            if let before = lastPositions[life.change], before > life.position {
                return "entries of one change are out of order"
            }
            lastPositions[life.change] = life.position
        }
        return nil
    }

    /// Returns the words that must be in no file: those of all removals completed, as far as the store shows.
    func erasedWords(_ store: CrashedStore?, after count: Int) -> [String] {
        changes.flatMap { change -> [String] in
            guard !change.words.isEmpty, change.began < count else { return [] }
            if change.ended < count { return change.words }
            guard let store else { return [] }
            let kept = Set(store.lists[change.list] ?? [])
            return change.removing.contains(where: kept.contains) ? [] : change.words
        }
    }
}
