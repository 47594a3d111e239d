import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectAgents

@Suite("One input in two orchestrators", .timeLimit(.minutes(10)))
struct RepeatedInputTests {
    private static let question = AgentInput.text("one", id: "one")

    /// An orchestrator whose reply to the question begins, and ends once the gate is open.
    private static func slow(_ store: any ChatStorage, _ hasBegun: Gate, _ finish: Gate) -> Orchestrator {
        let agent = ScriptedAgent { input, _, say in
            hasBegun.open()
            try await finish.wait()
            say(.textDelta("re \(input.text)"))
        }
        return Orchestrator(agents: [agent], store: store.withoutLeases, maxMessages: nil)
    }

    /// An orchestrator whose agent must not get the question.
    private static func quick(_ store: any ChatStorage, maxMessages: Int? = nil) -> Orchestrator {
        let agent = ScriptedAgent { input, _, say in
            #expect(input.id != question.id, "the agent is asked twice")
            say(.textDelta("re \(input.text)"))
        }
        return Orchestrator(agents: [agent], store: store.withoutLeases, maxMessages: maxMessages)
    }

    private static func checkRefused(_ input: AgentInput, by orchestrator: Orchestrator) async {
        let error = await #expect(throws: RecollectError.self) { try await orchestrator.say(input) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(
        "An input with an attachment named by its hash is saved once, whatever number of bytes it names",
        arguments: [SameRolePolicy.keep, .drop])
    func attachmentByHash(sameRole: SameRolePolicy) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let store = DeviceChatStorage(history: history, userId: "user", sameRole: sameRole)
        let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
        let photo = Data("photo".utf8)
        for content in [
            Attachment.Content.inline(photo), .stored(sha256: Attachment.sha256(of: photo), byteCount: 7),
        ] {
            let attachment = Attachment(mediaType: "image/png", content: content)
            let events = try await orchestrator.say(
                AgentInput(ConversationMessage(role: .user, parts: [.text("look"), .attachment(attachment)])))
            #expect(events.reply?.text == "You said: look")
        }
        #expect(try await store.all().map(\.text) == ["look", "You said: look", "look", "You said: look"])
        let target = SQLiteHistoryStore.inMemory()
        try await history.migrate(user: "user", to: target)
        #expect(try await history.migrate(user: "user", to: target).addedMessageCount == 0)
    }

    /// A store that changes texts and does not say so.
    private struct Shouting: ChatStorage {
        let base: InMemoryChatStorage

        func fetch(
            userId: String, sessionId: String, agentId: String, maxMessages: Int?
        ) async throws -> [ConversationMessage] {
            try await base.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
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
            let changed = messages.map { ConversationMessage(id: $0.id, role: $0.role, text: $0.text.uppercased()) }
            try await base.saveMessages(
                changed, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }

        func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
            try await base.fetchAllChats(userId: userId, sessionId: sessionId)
        }
    }

    @Test("A store that changes each question gets it three times at most", arguments: [SameRolePolicy.keep, .drop])
    func changingStore(sameRole: SameRolePolicy) async throws {
        let store = Shouting(base: InMemoryChatStorage(sameRole: sameRole))
        let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
        #expect(try await orchestrator.say(Self.question).reply?.text == "You said: one")
        #expect(try await store.all().count(where: { $0.role == .user }) <= 3)
    }

    @Test("A message saved by a user interface alone can be retried")
    func retryWithoutAgent() async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let message = ConversationMessage(id: "u1", role: .user, text: "hello")
        try await store.save(message, userId: "user", sessionId: "session", agentId: "", maxMessages: nil)
        let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
        let error = await #expect(throws: RecollectError.self) { try await orchestrator.retried("u2") }
        #expect(error?.code == .notFound)
        #expect(try await orchestrator.retried("u1").reply?.text == "You said: hello")
    }

    @Test(
        "A reply dropped for another writer's reply is no reply, even without a window", arguments: [0, 1, 2, nil],
        [false, true])
    func droppedReply(maxMessages: Int?, isStreaming: Bool) async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: .everything))
        let device = DeviceChatStorage(history: history, userId: "user")
        let store: any ChatStorage = isStreaming ? device : TransformingChatStorage(wrapping: device) { $0 }
        let agent = ScriptedAgent { _, _, say in
            say(.textDelta("mine"))
            let other = ConversationMessage(role: .assistant, text: "other")
            try await device.save(other, userId: "user", sessionId: "session", agentId: "agent", maxMessages: nil)
        }
        let orchestrator = Orchestrator(agents: [agent], store: store, maxMessages: maxMessages)
        let result = await Task { try await orchestrator.say("one").reply }.result
        let saved = try await history.messages(
            of: SessionKey(userId: "user", sessionId: "session"), agentId: "agent", page: PageRequest(limit: 9))
        let isSaved = saved.elements.contains { $0.message.text == "mine" }
        #expect(isSaved == ((try? result.get()) != nil))
    }

    @Test(
        "An input whose reply streams is refused, even if another input was asked since",
        arguments: [SameRolePolicy.keep, .drop], [nil, 2])
    func streamsBehindAnother(sameRole: SameRolePolicy, window: Int?) async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: .everything))
        let store = DeviceChatStorage(history: history, userId: "user", sameRole: sameRole)
        let (hasBegun, finish) = (Gate(), Gate())
        let first = Task { try await Self.slow(store, hasBegun, finish).say(Self.question) }
        try await hasBegun.wait()
        let quick = Self.quick(store, maxMessages: window)
        await Self.checkRefused(Self.question, by: quick)
        #expect(try await quick.say("two").reply?.text == "re two")
        let saved = try await store.all()
        await Self.checkRefused(Self.question, by: quick)
        #expect(try await store.all() == saved)
        finish.open()
        let reply = try #require(try await first.value.reply)
        // Outside the window, it would be asked again.
        guard window == nil else { return }
        #expect(try await quick.say(Self.question).reply == reply)
        #expect(Set(try await store.all().map(\.text)) == ["one", "re one", "two", "re two"])
    }

    @Test(
        "An input whose reply ends behind another input is not answered again, at whatever point of this turn it ends",
        arguments: [SameRolePolicy.keep, .drop], 0..<8)
    func endsBehindAnother(sameRole: SameRolePolicy, point: Int) async throws {
        let store = DeviceChatStorage(history: SQLiteHistoryStore.inMemory(), userId: "user", sameRole: sameRole)
        let (hasBegun, finish) = (Gate(), Gate())
        let first = Task { try await Self.slow(store, hasBegun, finish).say(Self.question) }
        try await hasBegun.wait()
        try await Self.quick(store).say("two")
        let pausing = PausingStorage.over(store, throwsWhereCancelled: false)
        pausing.pause(at: point) {
            finish.open()
            _ = try await first.value
        }
        let again = try? await Self.quick(pausing).say(Self.question)
        finish.open()
        let reply = try #require(try await first.value.reply)
        #expect(again == nil || again?.reply == reply)
        #expect(try await store.all().count == 4)
    }

    @Test("An input saved by another turn between read and save is refused")
    func savedInBetween() async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let (isSaved, go) = (Gate(), Gate())
        let first = PausingStorage.over(store, throwsWhereCancelled: false)
        // Just after the input is saved.
        first.pause(at: 5) {
            isSaved.open()
            try await go.wait()
        }
        let second = PausingStorage.over(store, throwsWhereCancelled: false)
        let turn = Locked<Task<[AgentEvent], any Error>?>(nil)
        // Just after the history is read.
        second.pause(at: 1) {
            let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: first)
            turn.withLock { $0 = Task { try await orchestrator.say(Self.question) } }
            try await isSaved.wait()
        }
        await Self.checkRefused(Self.question, by: Self.quick(second))
        go.open()
        #expect(try await turn.withLock { $0 }?.value.reply?.text == "You said: one")
        #expect(try await store.all().count == 2)
    }

    @Test(
        "Of two texts with one ID at the same time, each is saved or refused, at whatever point of a turn the other begins",
        arguments: AnyStore.allCases, 0..<12)
    func twoTexts(_ kind: AnyStore, point: Int) async throws {
        try await kind.with { store, reopen in
            let (hasBegun, finish) = (Gate(), Gate())
            let second = PausingStorage.over(store, throwsWhereCancelled: false)
            let first = Locked<Task<[AgentEvent], any Error>?>(nil)
            second.pause(at: point) {
                first.withLock { $0 = Task { try await Self.slow(store, hasBegun, finish).say(Self.question) } }
                try await hasBegun.wait()
            }
            let given = Locked<String?>(nil)
            let agent = ScriptedAgent { input, _, say in
                given.withLock { $0 = input.text }
                say(.textDelta("re \(input.text)"))
            }
            let other = try? await Orchestrator(agents: [agent], store: second).say(.text("two", id: "one"))
            finish.open()
            _ = try? await first.withLock { $0 }?.value
            let saved = try await reopen().all()
            if other?.announced != nil || given.withLock({ $0 }) != nil {
                #expect(saved.contains { $0.role == .user && $0.text == "two" }, "\(saved.map(\.text))")
            }
            if let reply = other?.reply { #expect(reply.text == "re two" && saved.contains(reply)) }
        }
    }

    private static func message(_ id: String, _ role: Role, _ text: String) -> ConversationMessage {
        ConversationMessage(id: id, role: role, text: text)
    }

    @Test("The third of three texts with one ID is saved under the ID of a copy", arguments: 0..<8)
    func threeTexts(point: Int) async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        let paused = PausingStorage.over(store, throwsWhereCancelled: false)
        paused.pause(at: point) {
            let copy = ConversationMessage.copyId(of: "one", from: "\(agent.id)\u{0}1")
            try await store.saveMessages(
                [("one", "one"), (copy, "two")].flatMap { id, text in
                    [Self.message(id, .user, text), Self.message("re \(id)", .assistant, "re \(text)")]
                }, userId: "user", sessionId: "session", agentId: agent.id, maxMessages: nil)
        }
        _ = try await Orchestrator(agents: [agent], store: paused).say(.text("three", id: "one"))
        let saved = try await store.all().filter { $0.role == .user && $0.text == "three" }
        #expect(saved.count == 1)
        #expect(saved.allSatisfy { $0.id == "one" || UUID.isNameBased($0.id) })
    }

    @Test("A complete reply behind a copy of its question, asked at the same time, is returned")
    func replyBehindCopy() async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true, sameRole: .keep)
        let agent = ScriptedAgent { _, _, say in say(.textDelta("again")) }
        let copy = ConversationMessage.copyId(of: "one", from: "\(agent.id)\u{0}1")
        let questions = [Self.message("one", .user, "one"), Self.message(copy, .user, "two")]
        let replies = questions.map { question in
            Self.message(ReplyIDs(of: question, from: agent.id).derived, .assistant, "re \(question.text)")
        }
        try await store.saveMessages(
            questions + replies, userId: "user", sessionId: "session", agentId: agent.id, maxMessages: nil)
        let turn = try await Orchestrator(agents: [agent], store: store).say(Self.question)
        #expect(turn.reply?.text == "re one")
    }

    @Test(
        "A text is not saved under the ID of another text whose reply ends while its turn begins", arguments: 0..<10)
    func otherTextOfStreaming(point: Int) async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let (hasBegun, finish) = (Gate(), Gate())
        let slow = Self.slow(store, hasBegun, finish)
        let first = Task { try await slow.say(Self.question) }
        try await hasBegun.wait()
        let second = PausingStorage.over(store, throwsWhereCancelled: false)
        second.pause(at: point) { await slow.stop(userId: "user", sessionId: "session") }
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        let other = try? await Orchestrator(agents: [agent], store: second).say(.text("two", id: "one"))
        finish.open()
        _ = try? await first.value
        let saved = try await store.all()
        let isSaved = saved.contains { $0.role == .user && $0.text == "two" }
        #expect(isSaved == (other?.announced != nil), "\(saved.map(\.text))")
    }

    @Test("A complete reply is returned, even if the input was saved again since", arguments: AnyStore.allCases)
    func answeredEarlier(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let reply = try await Orchestrator(agents: [ScriptedAgent.echo()], store: store).say(Self.question).reply
            for text in ["two", "three"] { try await Self.quick(store).say(.text(text)) }
            // As left by a turn with a narrow window, or by a race of two turns.
            let copy = Self.question.message.copyId(from: "agent\u{0}1")
            try await store.saveMessages(
                [
                    ConversationMessage(id: copy, role: .user, text: "one"),
                    ConversationMessage(role: .assistant, parts: [], metadata: ["interrupted": true]),
                ], userId: "user", sessionId: "session", agentId: "agent", maxMessages: nil)
            let saved = try await reopen().all()
            #expect(try await Self.quick(reopen()).say(Self.question).reply == reply)
            #expect(try await reopen().all() == saved)
        }
    }

    // MARK: With a classifier

    /// Chooses the agent at an index, or fails without one, after running a closure.
    private struct Choosing: Classifier {
        let index: Int?
        var first: @Sendable () async throws -> Void = {}

        func classify(
            _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
        ) async throws -> ClassifierResult {
            try await first()
            guard let index else { throw Failure() }
            return ClassifierResult(selectedAgent: agents[index], confidence: 1)
        }
    }

    private static let agents = ["One", "Two"].map { ScriptedAgent.echo($0) }

    @Test(
        "An input answered by one agent during its classification is not answered by another",
        arguments: [AnyStore.memory, .file, .deviceInMemory, .device], [0, nil])
    func answeredDuringClassification(_ kind: AnyStore, choice: Int?) async throws {
        try await kind.with { store, reopen in
            let first = Orchestrator(agents: Self.agents, classifier: Choosing(index: 1), store: store.withoutLeases)
            let classifier = Choosing(index: choice) { try await first.say(Self.question) }
            let second = Orchestrator(agents: Self.agents, classifier: classifier, store: try reopen().withoutLeases)
            let events = try await second.say(Self.question)
            #expect(events.announced?.agentId == "two")
            #expect(try await reopen().all("two").last == events.reply)
            #expect(try await reopen().all("two").count == 2)
            #expect(try await reopen().all("one").isEmpty)
        }
    }

    @Test("An input whose reply begins to stream during its classification is refused")
    func streamsDuringClassification() async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let (hasBegun, finish) = (Gate(), Gate())
        let slow = ScriptedAgent(name: "Two") { _, _, say in
            hasBegun.open()
            try await finish.wait()
            say(.textDelta("re one"))
        }
        let first = Orchestrator(agents: [slow], store: store.withoutLeases)
        let turn = Locked<Task<[AgentEvent], any Error>?>(nil)
        let classifier = Choosing(index: 0) {
            turn.withLock { $0 = Task { try await first.say(Self.question) } }
            try await hasBegun.wait()
        }
        await Self.checkRefused(
            Self.question, by: Orchestrator(agents: Self.agents, classifier: classifier, store: store.withoutLeases))
        finish.open()
        #expect(try await turn.withLock { $0 }?.value.reply?.text == "re one")
        #expect(try await store.all("one").isEmpty)
    }

    @Test(
        "An input answered around the read of the session before a classification is not answered by another agent",
        arguments: [0, 1])
    func answeredBeforeClassification(point: Int) async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let first = Orchestrator(agents: Self.agents, classifier: Choosing(index: 1), store: store)
        let pausing = PausingStorage.over(store, throwsWhereCancelled: false)
        pausing.pause(at: point) { try await first.say(Self.question) }
        let second = Orchestrator(agents: Self.agents, classifier: Choosing(index: 0), store: pausing)
        #expect(try await second.say(Self.question).announced?.agentId == "two")
        #expect(try await store.all("one").isEmpty)
    }
}
