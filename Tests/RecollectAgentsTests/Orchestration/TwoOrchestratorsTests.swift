import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Two orchestrators in one session", .timeLimit(.minutes(10)))
struct TwoOrchestratorsTests {
    /// The events of one turn, and its failure.
    private struct TurnResult {
        var events: [AgentEvent] = []
        var failure: (any Error)?

        init(_ input: AgentInput, to orchestrator: Orchestrator) async {
            do {
                for try await event in orchestrator.route(input, userId: "user", sessionId: "session") {
                    events.append(event)
                }
            } catch {
                failure = error
            }
        }

        /// Expects the reported messages among the saved ones.
        func check(against saved: [ConversationMessage], _ what: Comment) {
            let ids = Set(saved.map(\.id))
            if let began = events.announced { #expect(ids.contains(began.inputId), what) }
            if let reply = events.reply { #expect(saved.contains(reply), what) }
            #expect(events.reply != nil || failure != nil, what)
        }
    }

    /// An agent that opens one gate when it runs, and replies once the other gate is open.
    private static func waiting(_ hasBegun: Gate, _ finish: Gate) -> ScriptedAgent {
        ScriptedAgent { input, _, say in
            hasBegun.open()
            try await finish.wait()
            say(.textDelta("re \(input.text)"))
        }
    }

    @Test("Each input sent again gets its own reply, even if a later input got its reply first")
    func ownAnswers() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // Such a store accepts both inputs before the first reply.
        let stores = (0..<2).map { _ in
            DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "user", sameRole: .keep)
        }
        let (hasBegun, finish) = (Gate(), Gate())
        let slow = Orchestrator(agents: [Self.waiting(hasBegun, finish)], store: stores[0].withoutLeases)
        let echo = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        let quick = Orchestrator(agents: [echo], store: stores[1].withoutLeases)
        let one = Task { await TurnResult(.text("one", id: "one"), to: slow) }
        try await hasBegun.wait()
        _ = await TurnResult(.text("two", id: "two"), to: quick)
        finish.open()
        #expect(await one.value.failure == nil)
        let saved = try await stores[1].all()
        #expect(saved.map(\.text) == ["one", "two", "re two", "re one"])
        for id in ["one", "two"] {
            #expect(await TurnResult(.text(id, id: id), to: quick).events.reply?.text == "re \(id)")
        }
        #expect(try await stores[1].all() == saved)
    }

    @Test("In merged sessions with equal message IDs, no question gets another question's reply")
    func mergedSessions() async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "user")
        func turn(_ question: String) -> [ConversationMessage] {
            [
                ConversationMessage(id: "m1", role: .user, text: question),
                ConversationMessage(id: "m2", role: .assistant, text: "re \(question)"),
            ]
        }
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        // The ID of a merged session may equal the agent's.
        for session in ["session", "other", agent.id] {
            try await store.saveMessages(
                turn(session), userId: "user", sessionId: session, agentId: agent.id, maxMessages: 100)
        }
        for session in ["other", agent.id] {
            try await history.moveSession(SessionKey(userId: "user", sessionId: session), to: "session")
        }
        let orchestrator = Orchestrator(agents: [agent], store: store.withoutLeases)
        for question in try await store.all().filter({ $0.role == .user }) {
            let reply = await TurnResult(.text(question.text, id: question.id), to: orchestrator).events.reply
            #expect(reply?.text == "re \(question.text)")
        }
    }

    @Test("In merged sessions whose questions had one ID, neither question gets the other one's reply")
    func mergedQuestions() async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "user")
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        let orchestrator = Orchestrator(agents: [agent], store: store.withoutLeases)
        try await store.saveMessages(
            [
                ConversationMessage(id: "q", role: .user, text: "here"),
                ConversationMessage(id: "z", role: .assistant, text: "re here"),
            ], userId: "user", sessionId: "session", agentId: agent.id, maxMessages: 100)
        _ = try await orchestrator.say(.text("there", id: "q"), session: "other")
        try await history.moveSession(SessionKey(userId: "user", sessionId: "other"), to: "session")
        for question in try await store.all().filter({ $0.role == .user }) {
            let reply = try await orchestrator.say(.text(question.text, id: question.id)).reply
            #expect(reply?.text == "re \(question.text)")
        }
        // New questions are answered once, also with a name-based ID.
        for id in ["new", ConversationMessage.copyId(of: "new", from: "other")] {
            _ = try await orchestrator.say(.text("new", id: id))
            let saved = try await store.all()
            #expect(try await orchestrator.say(.text("new", id: id)).reply == saved.last)
            #expect(try await store.all() == saved)
        }
    }

    @Test(
        "A complete reply of another turn is never replaced, at whatever point of this turn it is saved",
        arguments: 0..<10)
    func completedInBetween(point: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let stores = (0..<2).map { _ in
            DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "user")
        }
        let whole = ScriptedAgent { _, _, say in say(.textDelta("the whole answer")) }
        let quick = Orchestrator(agents: [whole], store: stores[0].withoutLeases)
        let partial = ScriptedAgent { _, _, say in
            say(.textDelta("a part"))
            throw RecollectError(.unreadable, "the model failed")
        }
        let pausing = PausingStorage.over(stores[1], throwsWhereCancelled: false)
        let other = Locked<TurnResult?>(nil)
        pausing.pause(at: point) {
            let result = await TurnResult(.text("one", id: "one"), to: quick)
            other.withLock { $0 = result }
        }
        let late = Orchestrator(agents: [partial], store: pausing)
        _ = await TurnResult(.text("one", id: "one"), to: late)
        let saved = try await stores[0].all()
        guard let reply = other.withLock({ $0?.events.reply }) else {
            #expect(saved.map(\.text) == ["one", "a part"])
            return
        }
        #expect(saved.map(\.text) == ["one", "the whole answer"] && saved.last == reply)
        #expect(await TurnResult(.text("one", id: "one"), to: late).events.reply == reply)
    }

    @Test(
        "The interrupted reply of another turn is never replaced, at whatever point of this turn it is saved",
        arguments: 0..<10)
    func interruptedInBetween(point: Int) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "user")
        let partial = ScriptedAgent { _, _, say in
            say(.textDelta("a part"))
            throw Failure()
        }
        let pausing = PausingStorage.over(store, throwsWhereCancelled: false)
        let other = Locked<TurnResult?>(nil)
        pausing.pause(at: point) {
            let result = await TurnResult(
                .text("one", id: "one"), to: Orchestrator(agents: [partial], store: store.withoutLeases))
            other.withLock { $0 = result }
        }
        let late = Orchestrator(agents: [ScriptedAgent.echo()], store: pausing)
        let result = await TurnResult(.text("one", id: "one"), to: late)
        let saved = try await store.all()
        for reply in [other.withLock { $0?.events.reply }, result.events.reply].compactMap({ $0 }) {
            #expect(saved.contains(reply), "\(saved)")
        }
        let reply = try #require(await TurnResult(.text("one", id: "one"), to: late).events.reply)
        #expect(reply.text == "You said: one")
    }

    @Test(
        "An input sent again is saved again, even if many messages arrive before it is read back",
        arguments: AnyStore.allCases.filter { $0 != .fourMethods })  // That store does not know its IDs.
    func savedAgain(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let other = Orchestrator(agents: [ScriptedAgent.echo()], store: store.withoutLeases, maxMessages: nil)
            for text in ["one", "1", "2", "3", "4", "5"] { _ = await TurnResult(.text(text, id: text), to: other) }
            let pausing = PausingStorage.over(try reopen(), throwsWhereCancelled: false)
            // Just after the input is saved.
            pausing.pause(at: 5) {
                for text in ["6", "7", "8", "9", "10"] { _ = await TurnResult(.text(text, id: text), to: other) }
            }
            let narrow = Orchestrator(agents: [ScriptedAgent.echo()], store: pausing, maxMessages: 2)
            let again = await TurnResult(.text("one", id: "one"), to: narrow)
            #expect(again.failure == nil)
            let saved = try await reopen().all()
            #expect(saved.map(\.text) == ["one", "You said: one"] && saved.last == again.events.reply)
        }
    }

    @Test(
        "`began` is reported only for stored inputs, even if another input arrives between read and save",
        arguments: AnyStore.allCases, [2, 3])
    func questions(_ kind: AnyStore, point: Int) async throws {
        try await kind.with { store, reopen in
            let hasBegun = Gate()
            let finish = Gate()
            let first = Orchestrator(agents: [Self.waiting(hasBegun, finish)], store: store.withoutLeases)
            let pausing = PausingStorage.over(store, throwsWhereCancelled: false)
            let second = Orchestrator(
                agents: [
                    ScriptedAgent { input, _, say in
                        let saved = try await store.all()
                        #expect(saved.contains { $0.text == input.text }, "\(kind)")
                        say(.textDelta("re \(input.text)"))
                    }
                ], store: pausing)
            let one = Locked<Task<TurnResult, Never>?>(nil)
            pausing.pause(at: point) {
                one.withLock { $0 = Task { await TurnResult(.text("one", id: "one"), to: first) } }
                try await hasBegun.wait()
            }
            let two = await TurnResult(.text("two", id: "two"), to: second)
            finish.open()
            let other = await (try #require(one.withLock { $0 })).value
            let saved = try await reopen().all()
            for result in [other, two] { result.check(against: saved, "\(kind): \(saved.map(\.text))") }
            #expect(Set(saved.filter { $0.role == .user }.map(\.text)) == ["one", "two"], "\(kind)")
        }
    }

    @Test(
        "An input is saved under its own ID, even if another input was saved first and now has a reply",
        arguments: AnyStore.allCases)
    func ownID(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let (hasBegun, finish) = (Gate(), Gate())
            let first = Orchestrator(agents: [Self.waiting(hasBegun, finish)], store: store.withoutLeases)
            let pausing = PausingStorage.over(store, throwsWhereCancelled: false)
            let second = Orchestrator(agents: [ScriptedAgent.echo()], store: pausing)
            let one = Locked<Task<TurnResult, Never>?>(nil)
            // Sent just before the other input is saved, with a reply before that input is read back.
            pausing.pause(at: 4) {
                one.withLock { $0 = Task { await TurnResult(.text("one", id: "one"), to: first) } }
                try await hasBegun.wait()
                pausing.pause(at: 0) {
                    finish.open()
                    _ = await one.withLock { $0 }?.value
                }
            }
            let two = await TurnResult(.text("two", id: "two"), to: second)
            let saved = try await reopen().all()
            two.check(against: saved, "\(kind)")
            #expect(saved.map(\.text) == ["one", "re one", "two", "You said: two"], "\(kind)")
            #expect(saved.filter { $0.role == .user }.map(\.id) == ["one", "two"], "\(kind)")
        }
    }

    @Test(
        "The same input sent twice throws in the second turn while the first streams its reply",
        arguments: [AnyStore.deviceInMemory, .device])
    func sameInputStreams(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let (hasBegun, finish) = (Gate(), Gate())
            let slow = Orchestrator(agents: [Self.waiting(hasBegun, finish)], store: store.withoutLeases)
            let quick = Orchestrator(agents: [ScriptedAgent.echo()], store: try reopen().withoutLeases)
            let first = Task { await TurnResult(.text("one", id: "one"), to: slow) }
            try await hasBegun.wait()
            let second = await TurnResult(.text("one", id: "one"), to: quick)
            #expect(second.events.isEmpty)
            #expect((second.failure as? RecollectError)?.code == .invalidArgument)
            finish.open()
            let reply = try #require(await first.value.events.reply)
            #expect(await TurnResult(.text("one", id: "one"), to: quick).events.reply == reply)
            #expect(try await reopen().all().map(\.text) == ["one", "re one"])
        }
    }

    @Test("Inputs sent repeatedly and concurrently never get the reply to another input", arguments: AnyStore.allCases)
    func sameInputs(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let (hasBegun, finish) = (Gate(), Gate())
            let echo = Orchestrator(
                agents: [ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }],
                store: try reopen().withoutLeases)
            let slow = Orchestrator(agents: [Self.waiting(hasBegun, finish)], store: store.withoutLeases)
            let late = Task { await TurnResult(.text("one", id: "one"), to: slow) }
            try await hasBegun.wait()
            _ = await TurnResult(.text("one", id: "one"), to: echo)
            // The second input is saved, and the late reply to the first follows it.
            let (isAsked, go) = (Gate(), Gate())
            let other = Orchestrator(agents: [Self.waiting(isAsked, go)], store: try reopen().withoutLeases)
            let second = Task { await TurnResult(.text("two", id: "two"), to: other) }
            try await isAsked.wait()
            finish.open()
            _ = await late.value
            go.open()
            _ = await second.value
            for _ in 0..<2 {
                for id in ["one", "two"] {
                    let result = await TurnResult(.text(id, id: id), to: echo)
                    #expect(result.events.reply?.text == "re \(id)", "\(kind): \(String(describing: result.failure))")
                }
            }
            let saved = try await store.all()
            #expect(Set(saved.filter { $0.role == .user }.map(\.text)) == ["one", "two"], "\(kind)")
        }
    }

    @Test("An input never gets a reply to an input outside the window", arguments: AnyStore.allCases, [2, 4])
    func outsideTheWindow(_ kind: AnyStore, window: Int) async throws {
        let keeping = DeviceChatStorage(
            history: SQLiteHistoryStore.inMemory(), userId: "user", sameRole: .keep)
        try await kind.with { store, reopen in
            for (store, reopened) in [(store, try reopen()), (keeping, keeping)] as [(any ChatStorage, any ChatStorage)]
            {
                let gates = (0..<2).map { _ in (Gate(), Gate()) }
                let turns = zip(["one", "two"], gates).map { id, gates in
                    { @Sendable in
                        let agent = Self.waiting(gates.0, gates.1)
                        return await TurnResult(
                            .text(id, id: id),
                            to: Orchestrator(agents: [agent], store: store.withoutLeases, maxMessages: window))
                    }
                }
                let one = Task(operation: turns[0])
                try await gates[0].0.wait()
                let two = Task(operation: turns[1])
                try await gates[1].0.wait()
                gates[0].1.open()
                _ = await one.value
                let echo = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
                let again = Orchestrator(agents: [echo], store: reopened.withoutLeases, maxMessages: window)
                let result = await TurnResult(.text("two", id: "two"), to: again)
                // A store may report that the reply to the input is still streaming.
                let isRefused = (result.failure as? RecollectError)?.code == .invalidArgument
                #expect(isRefused || result.events.reply?.text == "re two", "\(kind)")
                gates[1].1.open()
                _ = await two.value
            }
        }
    }

    @Test("Many concurrent turns lose no input and no reply", arguments: [nil, 6] as [Int?])
    func many(maxMessages: Int?) async throws {
        let store = InMemoryChatStorage(sameRole: .keep)
        let result = await withTaskGroup(of: [TurnResult].self) { group in
            for writer in 0..<12 {
                let late = LateReads(base: store)
                let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: late, maxMessages: maxMessages)
                group.addTask {
                    var result: [TurnResult] = []
                    for number in 0..<5 {
                        let id = "\(writer)-\(number)"
                        result.append(await TurnResult(.text(id, id: id), to: orchestrator))
                    }
                    return result
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(result.count == 60)
        guard maxMessages == nil else { return }
        let saved = try await store.all()
        for turn in result {
            #expect(turn.failure == nil)
            turn.check(against: saved, "\(String(describing: turn.failure))")
        }
        #expect(saved.filter { $0.role == .user }.count == 60)
    }

    @Test("Many concurrent store instances lose no input and no reply", arguments: [AnyStore.file, .device])
    func manyDurable(_ kind: AnyStore) async throws {
        try await kind.with { _, reopen in
            let orchestrators = try (0..<12).map { _ in
                Orchestrator(agents: [ScriptedAgent.echo()], store: try reopen().withoutLeases, maxMessages: nil)
            }
            let result = await withTaskGroup(of: [TurnResult].self) { group in
                for (writer, orchestrator) in orchestrators.enumerated() {
                    group.addTask {
                        var result: [TurnResult] = []
                        for number in 0..<3 {
                            let id = "\(writer)-\(number)"
                            result.append(await TurnResult(.text(id, id: id), to: orchestrator))
                        }
                        return result
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            let saved = try await reopen().all()
            let texts = saved.filter { $0.role == .user }.map(\.text)
            #expect(Set(texts).count == texts.count, "\(kind): an input is saved twice")
            for turn in result {
                #expect(turn.events.reply.map(saved.contains) ?? (turn.failure != nil), "\(kind)")
                guard let id = turn.events.announced?.inputId else { continue }
                #expect(texts.contains(id), "\(kind)")
            }
        }
    }

    /// A store in which other writers save many messages before a saved message is read back.
    private struct LateReads: ChatStorage {
        let base: InMemoryChatStorage

        func save(
            _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws {
            try await base.save(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
            for _ in 0..<40 { await Task.yield() }
        }

        func saveMessages(
            _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws {
            try await base.saveMessages(
                messages, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }

        func fetch(
            userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws -> [ConversationMessage] {
            try await base.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }

        func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
            try await base.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    @Test("Every message reported as saved is saved, in any order of the turns", arguments: AnyStore.allCases)
    func together(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let result = try await withThrowingTaskGroup(of: [TurnResult].self) { group in
                for name in ["a", "b"] {
                    let orchestrator = Orchestrator(
                        agents: [ScriptedAgent.echo()], store: try reopen().withoutLeases, maxMessages: nil)
                    group.addTask {
                        var result: [TurnResult] = []
                        for number in 0..<10 {
                            result.append(await TurnResult(.text("\(name)\(number)"), to: orchestrator))
                        }
                        return result
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let saved = try await store.all()
            for turn in result { turn.check(against: saved, "\(kind): \(saved.map(\.text))") }
            #expect(result.count == 20)
        }
    }

    @Test(
        "A turn saves no interrupted reply while the other orchestrator's reply is pending",
        arguments: [SameRolePolicy.keep, .drop])
    func noPhantom(sameRole: SameRolePolicy) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "user", sameRole: sameRole)
        let (hasBegun, finish) = (Gate(), Gate())
        let quick = ScriptedAgent { input, history, say in
            #expect(history.map(\.text) == ["one"])
            say(.textDelta("re \(input.text)"))
        }
        async let one = TurnResult(
            "one", to: Orchestrator(agents: [Self.waiting(hasBegun, finish)], store: store.withoutLeases))
        try await hasBegun.wait()
        let two = await TurnResult("two", to: Orchestrator(agents: [quick], store: store.withoutLeases))
        finish.open()
        let other = await one
        let messages = try await store.all()
        for result in [other, two] { result.check(against: messages, "\(sameRole)") }
        #expect(!messages.contains { $0.isInterrupted })
        #expect(
            messages.map(\.text)
                == (sameRole == .keep ? ["one", "two", "re two", "re one"] : ["one", "re one", "two", "re two"]))
    }

    @Test(
        "A turn that reads before the other reply has begun saves no interrupted reply",
        arguments: [SameRolePolicy.keep, .drop], 4..<8)
    func noPhantomBeforeTheReply(sameRole: SameRolePolicy, point: Int) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "user", sameRole: sameRole)
        let pausing = PausingStorage.over(store, throwsWhereCancelled: false)
        let two = Locked<TurnResult?>(nil)
        pausing.pause(at: point) {
            // The model is told of no interrupted text of a reply not yet written.
            let agent = ScriptedAgent { input, history, say in
                #expect(!history.contains { $0.isInterrupted && !$0.parts.isEmpty })
                say(.textDelta("You said: \(input.text)"))
            }
            let result = await TurnResult("two", to: Orchestrator(agents: [agent], store: store.withoutLeases))
            two.withLock { $0 = result }
        }
        let one = await TurnResult("one", to: Orchestrator(agents: [ScriptedAgent.echo()], store: pausing))
        if two.withLock({ $0 }) == nil {
            // The store receives no such call.
            let result = await TurnResult(
                "two", to: Orchestrator(agents: [ScriptedAgent.echo()], store: store.withoutLeases))
            two.withLock { $0 = result }
        }
        let saved = try await store.all()
        for result in [one, try #require(two.withLock { $0 })] { result.check(against: saved, "\(sameRole), \(point)") }
        #expect(!saved.contains { $0.isInterrupted }, "\(saved.map(\.text))")
        #expect(Set(saved.map(\.text)) == ["one", "You said: one", "two", "You said: two"])
        #expect(saved.count == 4)
    }
}
