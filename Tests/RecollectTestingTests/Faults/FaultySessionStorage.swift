import Foundation
import RecollectCore
import RecollectTesting

/// The location of faulty session storages, with the content preserved for reopening.
typealias SessionShelf = Locked<SessionShelfState>

struct SessionShelfState: Sendable {
    struct Drawer: Sendable {
        var id: String
        var createdAt: Date
        var firstMessage: String
        var lastAccessedAt: Date
        var messages: [ChatMessage] = []
        /// Messages not removed by later saves.
        var stuckIDs: Set<UUID> = []
    }

    var drawers: [ByteString: Drawer] = [:]
    /// Messages left by a deletion.
    var remains: [ByteString: [ChatMessage]] = [:]
    /// Old IDs still resolved to their session.
    var aliases: [ByteString: String] = [:]
}

/// A short session storage in memory, correct or with one fault, for tests of the suite.
final class FaultySessionStorage: SessionStorageProtocol, Sendable {
    /// The state of one instance.
    struct Memory: Sendable {
        var hiddenIDs: Set<ByteString> = []
        var savedIDs: Set<UUID> = []
        var late: (id: String, messages: [ChatMessage])?
        /// The number of saved transcripts.
        var saves = 0
    }

    let fault: SessionFault?
    let memory: Locked<Memory>
    private let shelf: SessionShelf
    private let cache: SessionShelf

    init(_ fault: SessionFault?, on shelf: SessionShelf = SessionShelf(SessionShelfState())) {
        self.fault = fault
        self.shelf = fault == .losesAllOnReopening ? SessionShelf(SessionShelfState()) : shelf
        cache = SessionShelf(shelf.withLock { $0 })
        memory = Locked(Memory())
    }

    deinit {
        writeWhatIsLate()
    }

    /// Returns a fixture of storages with the fault; correct ones for `nil`.
    static func fixture(_ fault: SessionFault?) -> StoreFixture<any SessionStorageProtocol & Sendable> {
        StoreFixture(
            location: { SessionShelf(SessionShelfState()) }, open: { FaultySessionStorage(fault, on: $0) },
            remove: { _ in })
    }

    // MARK: - Sessions

    func saveSession(id: String, firstMessage: String) async throws {
        writeWhatIsLate()
        try await change(id) { state in
            let id = self.fault == .keepsTheOldIdAsAnAlias ? state.aliases[self.key(id)] ?? id : id
            var drawer = state.drawers[self.key(id)] ?? self.newDrawer(id, firstMessage, in: &state)
            drawer.lastAccessedAt = Date()
            if self.fault == .replacesTheFirstMessage { drawer.firstMessage = firstMessage }
            if self.fault == .insertsOrReplaces { drawer.createdAt = Date() }
            state.drawers[self.key(id)] = drawer
        }
    }

    func updateLastAccessed(id: String) async throws {
        writeWhatIsLate()
        guard fault != .ignoresTouches else { return }
        try await change(id) { state in
            if self.fault == .makesWhatIsTouched && state.drawers[self.key(id)] == nil {
                state.drawers[self.key(id)] = self.newDrawer(id, "", in: &state)
            }
            state.drawers[self.key(id)]?.lastAccessedAt = Date()
        }
    }

    func getAllSessions() async throws -> [StoredSession] {
        writeWhatIsLate()
        let hidden = memory.withLock { $0.hiddenIDs }
        let drawers = read { $0.drawers.filter { !hidden.contains($0.key) } }
        let date: (SessionShelfState.Drawer) -> TimeInterval = { drawer in
            let seconds = drawer.lastAccessedAt.timeIntervalSince1970
            return self.fault == .sortsByWholeSeconds ? seconds.rounded(.down) : seconds
        }
        return drawers.values.sorted { (date($0), $0.id) > (date($1), $1.id) }.map { drawer in
            var drawer = drawer
            if fault == .listsNoMessages { drawer.messages = [] }
            return StoredSession(drawer)
        }
    }

    func getSession(id: String) async throws -> StoredSession? {
        writeWhatIsLate()
        let key = key(id)
        if fault != .deletesFromTheListAlone && memory.withLock({ $0.hiddenIDs.contains(key) }) { return nil }
        return read { $0.drawers[key] }.map(StoredSession.init)
    }

    // MARK: - Deletion

    func deleteSession(id: String) async throws {
        writeWhatIsLate()
        delete { $0 == self.key(id) || self.fault == .deletesByPrefix && $0.string.hasPrefix(id + ".") }
    }

    func deleteAllSessions() async throws {
        writeWhatIsLate()
        let first = Set(read { $0.drawers.keys.sorted().prefix(10) })
        delete { self.fault != .deletesTenAtMost || first.contains($0) }
    }

    private func delete(_ isMeant: (ByteString) -> Bool) {
        if fault == .deletesFromTheListAlone || fault == .deletesFromItsMemoryAlone {
            let keys = read { $0.drawers.keys.filter(isMeant) }
            return memory.withLock { $0.hiddenIDs.formUnion(keys) }
        }
        write { state in
            for (key, drawer) in state.drawers where isMeant(key) {
                if fault == .keepsMessagesOfTheDeleted { state.remains[key] = drawer.messages }
                state.drawers[key] = nil
            }
        }
    }

    // MARK: - Transcripts

    func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try Task.checkCancellation()
        writeWhatIsLate()
        if fault == .ignoresEmptyTranscripts && messages.isEmpty { return }
        switch fault {
        case .writesOneSaveLate: memory.withLock { $0.late = (id, messages) }
        case .showsHalfATranscript:
            try save(Array(messages.prefix(messages.count / 2)), to: id)
            await pause()
            try save(messages, to: id)
        case .writesMessageByMessage:
            // Writers in lockstep, as on a busy machine, do not interfere. So each begins during another save.
            let number = memory.withLock { memory in
                memory.saves += 1
                return memory.saves
            }
            for _ in 0..<number % 4 { await pause() }
            try save(read { Array(($0.drawers[key(id)]?.messages ?? []).filter(messages.contains)) }, to: id)
            for message in messages {
                let before = read { $0.drawers[key(id)]?.messages ?? [] }
                if !before.contains(message) { try save(before + [message], to: id) }
                await pause()
            }
            if read({ $0.drawers[key(id)]?.messages.count ?? 0 }) == messages.count { try save(messages, to: id) }
        case .savesUpToTheFailure:
            for index in messages.indices {
                try save(Array(messages[...index]), to: id)
                _ = try JSONEncoder().encode(messages[index])
            }
            try save(messages, to: id)
        case .savesUpToTheCancellation:
            for index in messages.indices {
                try save(Array(messages[...index]), to: id)
                await pause()
                try Task.checkCancellation()
            }
            try save(messages, to: id)
        default: try await change(id) { try self.save(messages, to: id, in: &$0) }
        }
    }

    private func save(_ messages: [ChatMessage], to id: String) throws {
        try write { try save(messages, to: id, in: &$0) }
    }

    private func save(_ messages: [ChatMessage], to id: String, in state: inout SessionShelfState) throws {
        let known = state.drawers[key(id)]
        if fault == .updatesWhatIsThereAlone && known == nil { return }
        var drawer = known ?? newDrawer(id, messages.first { $0.role == .user }?.content ?? "", in: &state)
        if fault != .takesTranscriptsForNoAccess { drawer.lastAccessedAt = Date() }
        let others = fault == .knowsIdsOfAllSessions ? state.drawers.filter { $0.key != key(id) } : [:]
        let othersIDs = Set(others.values.flatMap(\.messages).map(\.id))
        let wanted = messages.filter { !othersIDs.contains($0.id) }.compactMap(saved)
        drawer.messages = try merged(wanted, into: drawer)
        memory.withLock { $0.savedIDs.formUnion(wanted.map(\.id)) }
        state.drawers[key(id)] = drawer
        memory.withLock { _ = $0.hiddenIDs.remove(key(id)) }
    }

    private func newDrawer(
        _ id: String, _ firstMessage: String, in state: inout SessionShelfState
    ) -> SessionShelfState.Drawer {
        SessionShelfState.Drawer(
            id: id, createdAt: Date(), firstMessage: firstMessage, lastAccessedAt: Date(),
            messages: state.remains.removeValue(forKey: key(id)) ?? [])
    }

    // MARK: - Lookup

    /// Returns the ID as looked up; unchanged in a correct storage.
    func key(_ id: String) -> ByteString {
        switch fault {
        case .composesIds: ByteString(id.precomposedStringWithCanonicalMapping)
        case .endsIdsAtNUL: ByteString(String(id.prefix { $0 != "\u{0}" }))
        default: ByteString(id)
        }
    }

    func read<Result>(_ body: (SessionShelfState) throws -> Result) rethrows -> Result {
        try shelf.withLock { try body($0) }
    }

    func write<Result>(_ body: (inout SessionShelfState) throws -> Result) rethrows -> Result {
        guard fault == .overwritesOtherInstances else { return try shelf.withLock(body) }
        return try cache.withLock { cached in
            let result = try body(&cached)
            shelf.withLock { $0 = cached }
            return result
        }
    }

    /// Changes one session: atomically or, with the fault for it, by writing back an earlier read.
    private func change(
        _ id: String, _ body: @Sendable (inout SessionShelfState) throws -> Void
    ) async throws {
        guard fault == .writesAllSessionsAsOne || fault == .writesBackWhatItRead else { return try write(body) }
        var state = read { $0 }
        await pause()
        try body(&state)
        write { [state] shelf in
            if fault == .writesAllSessionsAsOne { shelf = state }
            shelf.drawers[key(id)] = state.drawers[key(id)]
        }
    }

    private func writeWhatIsLate() {
        let late = memory.withLock { memory in
            defer { memory.late = nil }
            return memory.late
        }
        // Only one fault delays a save, and its saves do not fail.
        if let late { try? save(late.messages, to: late.id) }
    }

    /// Yields long enough for other tasks to run in between.
    func pause() async {
        for _ in 0..<20 { await Task.yield() }
    }
}

extension StoredSession {
    fileprivate init(_ drawer: SessionShelfState.Drawer) {
        self.init(
            id: drawer.id, createdAt: drawer.createdAt, firstUserMessage: drawer.firstMessage,
            lastAccessedAt: drawer.lastAccessedAt, messages: drawer.messages)
    }
}
