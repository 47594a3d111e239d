import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport

/// A random sequence of turns over one store, beside a model of the messages it must hold.
struct TurnLife {
    /// The messages of one agent in one session.
    struct Scope: Hashable {
        let session: String
        let agent: String
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    static let sessions = ["today", "tomorrow", "", "a/b"]
    private static let budgets: [Int?] = [nil, nil, 0, 1, 2, 3, 4, 100]

    private var random: SeededGenerator
    let store: LifeStore
    let agents = LifeAgents()
    private var orchestrators: [(orchestrator: Orchestrator, budget: Int?)] = []
    var held: [Scope: [ConversationMessage]] = [:]
    private var asked: [(session: String, input: AgentInput)] = []
    private var count = 0
    /// The steps so far, for the message of a failure.
    var diary: [String] = []

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let kind = random.one(of: LifeStore.Kind.allCases)
        let wrappers = LifeStore.Wrapper.allCases.shuffled(using: &random)
            .prefix(random.one(of: [0, 0, 1, 2, 4]))
        store = try LifeStore(kind, wrappers: Array(wrappers))
        diary = ["\(kind) \(wrappers.map(\.rawValue))"]
        makeOrchestrators()
    }

    /// Runs a random step, then checks the messages in the store.
    mutating func step() async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...4: try await severalTurns()
        case 5: try await stop()
        case 6, 7: try await drop()
        case 8: try await kill()
        case 9, 10: try await askAgain()
        default: try await askFromUI()
        }
        for (orchestrator, _) in orchestrators { await orchestrator.waitUntilIdle() }
        if Int.random(in: 0..<5, using: &random) == 0 {
            diary.append("reopen")
            try store.open()
            makeOrchestrators()
        }
        try await check()
    }

    private mutating func makeOrchestrators() {
        orchestrators = (0..<2).map { _ in
            let budget = random.one(of: Self.budgets)
            return (agents.orchestrator(over: store.storage, maxMessages: budget), budget)
        }
    }

    // MARK: Steps

    private mutating func input(
        endings: [LifeScript.Ending] = [.ends, .isFinal, .isFinalWithoutParts, .fails], id: String? = nil
    ) -> (session: String, input: AgentInput, script: LifeScript) {
        count += 1
        let who = random.one(of: LifeAgents.names + ["one", "two", "fail"])
        let hasId = Bool.random(using: &random)
        let input = AgentInput.text("\(who) \(count)", id: id ?? (hasId ? UUID().uuidString : nil))
        let script = LifeScript(number: count, endings: endings, using: &random)
        agents[input.id] = script
        let session = random.one(of: Self.sessions)
        asked.append((session, input))
        return (session, input, script)
    }

    /// Turns that are all requested before the first has ended.
    private mutating func severalTurns() async throws {
        let (orchestrator, budget) = random.one(of: orchestrators)
        let turns = (0..<Int.random(in: 1...6, using: &random)).map { _ in input() }
        let streams = turns.map { orchestrator.route($0.input, userId: "user", sessionId: $0.session) }
        for (turn, stream) in zip(turns, streams) {
            let (events, error) = await hear(stream)
            try note("turn", turn.session, turn.input, budget, events, error)
            try checkReply(events, error, to: turn.input, turn.script)
        }
    }

    private mutating func stop() async throws {
        let (orchestrator, budget) = random.one(of: orchestrators)
        let turn = input(endings: [.hangs])
        let isBegun = Bool.random(using: &random)
        let stream = orchestrator.route(turn.input, userId: "user", sessionId: turn.session)
        // If the classifier fails, no agent hangs.
        let waits = !turn.input.text.hasPrefix("fail")
        let waiting = waits ? orchestrator.route("one waits", userId: "user", sessionId: turn.session) : nil
        var events = stream.makeAsyncIterator()
        var reported: [AgentEvent] = []
        if isBegun, let first = try? await events.next() { reported.append(first) }
        await orchestrator.stop(userId: "user", sessionId: turn.session)
        var error: (any Error)?
        do {
            while let event = try await events.next() { reported.append(event) }
        } catch let thrown {
            error = thrown
        }
        try note("stop", turn.session, turn.input, budget, reported, error)
        guard reported.announced == nil || reported.reply?.isInterrupted == true else {
            throw fault("not interrupted: \(reported)")
        }
        guard turn.script.text.hasPrefix(reported.reply?.text ?? "") else { throw fault("the reply has another text") }
        if let waiting {
            guard await hear(waiting).error is CancellationError else { throw fault("the waiting turn ran") }
        }
    }

    /// A turn whose stream is abandoned before its end.
    private mutating func drop() async throws {
        let (orchestrator, budget) = random.one(of: orchestrators)
        let turn = input(endings: LifeScript.Ending.allCases)
        var reported: [AgentEvent] = []
        // A failing classifier emits no pieces.
        let count =
            turn.input.text.hasPrefix("fail") ? 1 : Int.random(in: 1...turn.script.pieces.count + 1, using: &random)
        for try await event in orchestrator.route(turn.input, userId: "user", sessionId: turn.session) {
            reported.append(event)
            if reported.count == count { break }
        }
        await orchestrator.waitUntilIdle()
        guard let agent = reported.announced?.agentId else { throw fault("not begun") }
        if agent != "quiet" {
            // The saved reply may hold more than the received events, but nothing less.
            let reply = try await stored(Scope(session: turn.session, agent: agent)).last
            let isKept = budget.map { $0 > 1 } ?? true
            guard !isKept || reply?.id == reported.announced?.id else { throw fault("no reply: \(reported)") }
            if let reply, isKept { reported.append(.final(reply)) }
            if isKept, reply?.text != "final",
                reply?.text.hasPrefix(reported.joinedPieces.compactMap(\.text).joined()) != true
            {
                throw fault("saved \(reply?.text ?? "") of \(reported)")
            }
        }
        try note("drop", turn.session, turn.input, budget, reported, nil)
    }

    /// Kills the process during a turn. If that would leave nothing on disk, saves an input without a reply.
    private mutating func kill() async throws {
        let (orchestrator, budget) = random.one(of: orchestrators)
        let turn = input(endings: [.hangs])
        let agent = ["one", "two"].first(where: turn.input.text.hasPrefix) ?? "one"
        let scope = Scope(session: turn.session, agent: agent)
        guard store.isOnDisk, !turn.input.text.hasPrefix("fail"), !turn.input.text.hasPrefix("quiet") else {
            guard held[scope]?.last?.role != .user else { return }
            diary.append("orphan \(scope)")
            try await store.storage.save(
                turn.input.message, userId: "user", sessionId: scope.session, agentId: agent, maxMessages: nil)
            held[scope, default: []].append(turn.input.message)
            return
        }
        var reported: [AgentEvent] = []
        for try await event in orchestrator.route(turn.input, userId: "user", sessionId: turn.session) {
            reported.append(event)
            if reported.count == turn.script.pieces.count + 1 {
                try store.kill()
                break
            }
        }
        await orchestrator.waitUntilIdle()
        makeOrchestrators()
        let isDrafted = store.history != nil
        if let last = try await stored(scope).last, last.role == .assistant, last.id == reported.announced?.id {
            guard isDrafted, last.isInterrupted else { throw fault("saved \(last)") }
            reported.append(.final(last))
        }
        // An unfinished turn is not trimmed.
        try note("kill", turn.session, turn.input, budget, reported, nil, isTrimmed: false)
    }

    /// Sends an input again, or another one under the same ID.
    private mutating func askAgain() async throws {
        guard let (session, before) = asked.randomElement(using: &random) else {
            return
        }
        let (orchestrator, budget) = random.one(of: orchestrators)
        let other = random.one(of: LifeAgents.names)
        let input = Bool.random(using: &random) ? before : .text("\(other) again", id: before.id)
        let script = LifeScript(number: count, endings: [.ends, .isFinal, .fails], using: &random)
        agents[input.id] = script
        let (events, error) = await hear(orchestrator.route(input, userId: "user", sessionId: session))
        try note("again", session, input, budget, events, error)
    }

    /// A UI on the same history may also save the input of a turn.
    private mutating func askFromUI() async throws {
        guard let history = store.history else { return try await severalTurns() }
        let (orchestrator, budget) = random.one(of: orchestrators)
        let id = UUID()
        let turn = input(endings: [.ends], id: id.uuidString)
        let question = ChatMessage(id: id, role: .user, content: turn.input.text)
        let ui = SQLiteSessionStorage(history: history, userId: "user")
        if Bool.random(using: &random) { try await ui.updateSessionMessages(id: turn.session, messages: [question]) }
        let (events, error) = await hear(orchestrator.route(turn.input, userId: "user", sessionId: turn.session))
        try note("UI", turn.session, turn.input, budget, events, error)
    }

    private func hear(
        _ stream: AsyncThrowingStream<AgentEvent, any Error>
    ) async -> (events: [AgentEvent], error: (any Error)?) {
        var events: [AgentEvent] = []
        do {
            for try await event in stream { events.append(event) }
            return (events, nil)
        } catch {
            return (events, error)
        }
    }
}

extension SeededGenerator {
    /// Returns a random element.
    fileprivate mutating func one<Element>(of some: [Element]) -> Element {
        some[Int.random(in: 0..<some.count, using: &self)]
    }
}
