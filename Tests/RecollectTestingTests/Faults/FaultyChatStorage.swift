import Foundation
import RecollectCore
import RecollectTesting

/// The location of faulty stores, with the content preserved for reopening.
typealias Shelf = Locked<ShelfState>

struct ShelfState: Sendable {
    struct Drawer: Sendable {
        /// The scope named by the save.
        var scope: Scope
        var messages: [ConversationMessage] = []
        /// All messages, including trimmed ones.
        var everything: [ConversationMessage] = []
        var lastRole: Role?
    }

    var drawers: [Scope: Drawer] = [:]
    var droppedIDs: Set<ByteString> = []
    var writersAtWork = 0
}

/// A short chat storage in memory, correct or with one fault, for tests of the suite.
final class FaultyChatStorage: ChatStorage {
    let fault: Fault?
    private let shelf: Shelf
    private let cache: Shelf
    private let late = Locked<(batch: [ConversationMessage], scope: Scope, budget: Int?)?>(nil)
    private let touched = Locked<Set<Scope>>([])

    init(_ fault: Fault?, on shelf: Shelf = Shelf(ShelfState())) {
        self.fault = fault
        self.shelf = fault == .losesAllOnReopening ? Shelf(ShelfState()) : shelf
        self.cache = Shelf(shelf.withLock { $0 })
        if fault == .losesNumbersOnReopening {
            shelf.withLock { state in
                state.drawers = state.drawers.mapValues { drawer in
                    var drawer = drawer
                    drawer.messages = drawer.messages.map(Self.losingNumbers)
                    return drawer
                }
            }
        }
        guard fault == .forgetsTrimsOnReopening else { return }
        shelf.withLock { state in
            state.drawers = state.drawers.mapValues { drawer in
                var drawer = drawer
                drawer.messages = drawer.everything
                return drawer
            }
        }
    }

    /// Returns a fixture of stores with the fault; correct ones for `nil`.
    static func fixture(_ fault: Fault?) -> StoreFixture<any ChatStorage> {
        StoreFixture(
            location: { Shelf(ShelfState()) }, open: { FaultyChatStorage(fault, on: $0) }, remove: { _ in })
    }

    // MARK: - ChatStorage

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try writeWhatIsLate()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let (drawer, isBusy) = withState { ($0.drawers[address(scope)], $0.writersAtWork > 0) }
        guard let drawer else {
            return fault == .inventsAGreeting ? [ConversationMessage(role: .system, text: "Hello!")] : []
        }
        let shown = isBusy ? drawer.messages.dropLast() : drawer.messages[...]
        return window(presented(Array(shown)), budget: maxMessages)
    }

    func window(
        userId: String, sessionId: String, agentId: String, tokens: Int, counter: TokenCounter
    ) async throws -> [ConversationMessage] {
        let all = try await fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: nil)
        switch fault {
        case .cutsTurnsAtTheBudget: return all.newest(tokens, counter)
        case .ignoresCompactions: return all.window(tokens: tokens, counter: counter)
        default:
            return try await PlainChatStorage(base: self).window(
                userId: userId, sessionId: sessionId, agentId: agentId, tokens: tokens, counter: counter)
        }
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try writeWhatIsLate()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        try await write(messages, to: scope, budget: maxMessages)
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try writeWhatIsLate()
        let session = SessionKey(userId: userId, sessionId: sessionId)
        let drawers = withState { Array($0.drawers.values) }.filter { isPart($0.scope, of: session) }
        defer {
            if fault == .storesTheAttribution { withState { attribute(session, in: &$0) } }
        }
        return merged(drawers)
    }

    // MARK: - Writing

    /// Saves a batch. Faults with several steps are here, others in `append`.
    private func write(_ batch: [ConversationMessage], to scope: Scope, budget: Int?) async throws {
        switch fault {
        case .losesUpdates:
            let before = withState { $0.drawers[address(scope)] }
            await pause()
            try withState { state in
                state.drawers[address(scope)] = before
                try append(batch, to: scope, budget: budget, in: &state)
            }
        case .losesScopes:
            let before = withState { $0 }
            await pause()
            try withState { state in
                state = before
                try append(batch, to: scope, budget: budget, in: &state)
            }
        case .interleavesBatches:
            for message in batch {
                try withState { try append([message], to: scope, budget: budget, in: &$0) }
                await pause()
            }
        case .savesUpToTheCancellation:
            for message in batch {
                try withState { try append([message], to: scope, budget: budget, in: &$0) }
                try Task.checkCancellation()
            }
        case .throwsAfterSaving:
            try withState { try append(batch, to: scope, budget: budget, in: &$0) }
            try Task.checkCancellation()
        case .showsHalfABatch:
            try withState { state in
                state.writersAtWork += 1
                try append(batch, to: scope, budget: budget, in: &state)
            }
            await pause()
            withState { $0.writersAtWork -= 1 }
        case .checksIdsTooEarly:
            let known = withState { knownIDs(for: scope, in: $0) }
            await pause()
            try withState { try append(batch, to: scope, budget: budget, known: known, in: &$0) }
        case .trimsTooEarly:
            withState { state in
                guard let size = size(budget) else { return }
                let count = state.drawers[address(scope)]?.messages.count ?? 0
                state.drawers[address(scope)]?.messages.removeFirst(min(count, max(0, count + batch.count - size)))
            }
            await pause()
            try withState { try append(batch, to: scope, budget: nil, in: &$0) }
        case .writesOneSaveLate:
            late.withLock { $0 = (batch, scope, budget) }
        default:
            try withState { try append(batch, to: scope, budget: budget, in: &$0) }
        }
    }

    private func append(
        _ batch: [ConversationMessage], to scope: Scope, budget: Int?, known early: Set<ByteString>? = nil,
        in state: inout ShelfState
    ) throws {
        if fault == .refusesEmptyBatches && batch.isEmpty { throw RecollectError(.invalidArgument, "nothing to save") }
        var drawer = state.drawers[address(scope)] ?? ShelfState.Drawer(scope: scope)
        var known = early ?? knownIDs(for: scope, in: state)
        if fault == .refusesOverlappingBatches, let first = batch.first, known.contains(key(first.id)) { return }
        if fault == .trimsBeforeTheBatch { drawer.messages = trimmed(drawer.messages, budget: budget) }
        var last = lastRole(of: drawer, in: state)
        var added = 0
        // A store with one write for each row and no transaction leaves the rows before a failure.
        func put() { state.drawers[address(scope)] = drawer }
        for message in fault == .capsABatch ? batch.prefix(1000) : batch[...] {
            if fault == .savesUpToTheFailure {
                put()
                _ = try JSONEncoder().encode(message)
            }
            guard fault == .duplicatesOnRetry || !known.contains(key(message.id)) else {
                if fault == .overwritesKnownIds, let index = drawer.messages.firstIndex(where: { $0.id == message.id })
                {
                    drawer.messages[index] = message
                }
                continue
            }
            guard !repeats(message, after: last) else {
                if fault == .remembersDroppedIds { state.droppedIDs.insert(key(message.id)) }
                continue
            }
            drawer.messages.append(saved(message))
            drawer.everything.append(saved(message))
            added += 1
            last = fault == .comparesTheFirstOfABatchOnly ? nil : message.role
            if fault != .looksForIdsBeforeTheBatchOnly { known.insert(key(message.id)) }
        }
        drawer.lastRole = last
        if added > 0 { touched.withLock { _ = $0.insert(scope) } }
        if fault != .trimsBeforeTheBatch { drawer.messages = trimmed(drawer.messages, budget: budget) }
        put()
        guard fault == .trimsTheWholeSession else { return }
        state.drawers = state.drawers.mapValues { drawer in
            var drawer = drawer
            if isPart(drawer.scope, of: scope.session) {
                drawer.messages = trimmed(drawer.messages, budget: budget)
            }
            return drawer
        }
    }

    private func attribute(_ session: SessionKey, in state: inout ShelfState) {
        state.drawers = state.drawers.mapValues { drawer in
            guard isPart(drawer.scope, of: session) else { return drawer }
            var drawer = drawer
            drawer.messages = drawer.messages.map { $0.attributed(agentId: drawer.scope.agentId) }
            return drawer
        }
    }

    private func writeWhatIsLate() throws {
        let batch = late.withLock { late in
            defer { late = nil }
            return late
        }
        guard let batch else { return }
        try withState { try append(batch.batch, to: batch.scope, budget: batch.budget, in: &$0) }
    }

    private func repeats(_ message: ConversationMessage, after last: Role?) -> Bool {
        guard fault != .keepsRepeatedRoles, last == message.role else { return false }
        return fault == .dropsToolMessages || !message.belongsToToolExchange
    }

    private func lastRole(of drawer: ShelfState.Drawer, in state: ShelfState) -> Role? {
        switch fault {
        case .comparesAcrossAgents:
            return state.drawers.values.first { $0.scope.session == drawer.scope.session }?.messages.last?
                .role
        case .remembersTheRoleOfTrimmed: return drawer.lastRole
        case .forgetsTheLastRoleOnReopening where !touched.withLock({ $0.contains(drawer.scope) }): return nil
        default: return drawer.messages.last?.role
        }
    }

    private func knownIDs(for scope: Scope, in state: ShelfState) -> Set<ByteString> {
        var known = state.droppedIDs
        for drawer in state.drawers.values {
            let counts =
                switch fault {
                case .knowsIdsOfAllSessions: true
                case .knowsIdsOfOtherAgents: isPart(drawer.scope, of: scope.session)
                default: address(drawer.scope) == address(scope)
                }
            if counts { known.formUnion(drawer.messages.map { key($0.id) }) }
        }
        return known
    }

    // MARK: - Lookup

    private func withState<Result>(_ body: (inout ShelfState) throws -> Result) rethrows -> Result {
        guard fault == .overwritesOtherInstances else { return try shelf.withLock(body) }
        return try cache.withLock { cached in
            let result = try body(&cached)
            shelf.withLock { $0 = cached }
            return result
        }
    }

    /// Yields long enough for other tasks to run in between.
    private func pause() async {
        for _ in 0..<20 { await Task.yield() }
    }
}

extension [ConversationMessage] {
    /// Returns the newest messages within a budget of tokens, also parts of a turn.
    func newest(_ tokens: Int, _ counter: TokenCounter) -> [ConversationMessage] {
        var left = tokens
        return reversed().prefix { message in
            left = Swift.max(left, 0) - counter.count(message)
            return left >= 0
        }.reversed()
    }
}
