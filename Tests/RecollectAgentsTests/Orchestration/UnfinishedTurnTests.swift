import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Unfinished turns")
struct UnfinishedTurnTests {
    private let pieces: [AgentEvent] = [.textDelta("half a "), .textDelta("sentence")]

    @Test("A failing agent leaves the streamed text, and the next turn works", arguments: AnyStore.allCases)
    func fails(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let agent = ScriptedAgent { [pieces] _, _, say in
                pieces.forEach(say)
                throw Failure()
            }
            let orchestrator = Orchestrator(agents: [agent], store: store)
            var events: [AgentEvent] = []
            await #expect(throws: Failure()) {
                for try await event in orchestrator.route("one", userId: "user", sessionId: "session") {
                    events.append(event)
                }
            }
            #expect(events.reply?.isInterrupted == true)
            try await checkInterrupted("half a sentence", in: reopen())
            try await checkNextTurn(over: reopen())
        }
    }

    @Test("A stopped turn leaves the streamed text and reports the reply as interrupted", arguments: AnyStore.allCases)
    func stopped(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let reached = Gate()
            let orchestrator = Orchestrator(
                agents: [ScriptedAgent.hanging(after: pieces, reached: reached)], store: store)
            async let events = orchestrator.say("one")
            try await reached.wait()
            // Pieces emitted before the gate are in the agent's stream; the turn may have read only some of them.
            await orchestrator.stop(userId: "user", sessionId: "session")
            let reply = try #require(try await events.reply)
            #expect(reply.isInterrupted)
            #expect("half a sentence".hasPrefix(reply.text))
            try await checkInterrupted(reply.text, in: reopen())
            try await checkNextTurn(over: reopen())
        }
    }

    @Test("A turn with an abandoned stream leaves the streamed text", arguments: AnyStore.allCases)
    func dropped(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let orchestrator = Orchestrator(
                agents: [ScriptedAgent.hanging(after: pieces, reached: Gate())], store: store)
            for try await event in orchestrator.route("one", userId: "user", sessionId: "session") {
                if event == .textDelta("sentence") { break }
            }
            await orchestrator.waitUntilIdle()
            try await checkInterrupted("half a sentence", in: reopen())
            try await checkNextTurn(over: reopen())
        }
    }

    @Test("An agent that fails before its first event leaves an empty reply", arguments: AnyStore.allCases)
    func silent(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let agent = ScriptedAgent { _, _, _ in throw Failure() }
            await #expect(throws: Failure()) { try await Orchestrator(agents: [agent], store: store).say("one") }
            try await checkInterrupted("", in: reopen())
            try await checkNextTurn(over: reopen())
        }
    }

    @Test(
        "A question asked again whose earlier reply precedes it gets a reply, and the next turn works",
        arguments: AnyStore.allCases, [true, false])
    func replyBeforeQuestion(_ kind: AnyStore, isAskedAgain: Bool) async throws {
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        let elsewhere = Orchestrator(agents: [agent], store: try DeviceChatStorage(userId: "user", inMemory: true))
        let earlier = try #require(try await elsewhere.say(.text("one", id: "q")).reply)
        try await kind.with { store, reopen in
            // As left by a deletion of the question alone, and a turn that ended after saving the question again.
            try await store.saveMessages(
                [earlier, ConversationMessage(id: "q", role: .user, text: "one")], userId: "user", sessionId: "session",
                agentId: agent.id, maxMessages: nil)
            let orchestrator = Orchestrator(agents: [agent], store: store)
            if isAskedAgain {
                #expect(try await orchestrator.say(.text("one", id: "q")).reply?.text == "re one")
                #expect(try await store.all().map(\.text) == ["re one", "one", "re one"])
            }
            for text in ["two", "three"] {
                #expect(try await orchestrator.say(.text(text)).reply?.text == "re \(text)")
            }
        }
    }

    /// Saves a question as a killed turn leaves it.
    private func leave(_ question: ConversationMessage, in store: any ChatStorage) async throws {
        try await store.save(question, userId: "user", sessionId: "session", agentId: "agent", maxMessages: nil)
    }

    @Test("A question asked again with another text after a killed turn is saved, too", arguments: AnyStore.allCases)
    func otherText(_ kind: AnyStore) async throws {
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        try await kind.with { store, reopen in
            try await leave(ConversationMessage(id: "q", role: .user, text: "one"), in: store)
            let orchestrator = Orchestrator(agents: [agent], store: store)
            #expect(try await orchestrator.say(.text("one, corrected", id: "q")).reply?.text == "re one, corrected")
            #expect(try await store.all().map(\.text) == ["one", "", "one, corrected", "re one, corrected"])
        }
    }

    @Test(
        "A question asked again with another attachment after a killed turn is saved, too",
        arguments: AnyStore.allCases)
    func otherAttachment(_ kind: AnyStore) async throws {
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.message.parts.count)")) }
        func question(_ name: String) -> ConversationMessage {
            let picture = Attachment(mediaType: "image/png", name: name, content: .inline(Data(name.utf8)))
            return ConversationMessage(id: "q", role: .user, parts: [.text("what is this?"), .attachment(picture)])
        }
        try await kind.with { store, reopen in
            let orchestrator = Orchestrator(agents: [agent], store: store)
            try await leave(question("cat"), in: store)
            // The same question with the same attachment, also if the store saves attachments apart.
            try await orchestrator.say(AgentInput(question("cat")))
            #expect(try await store.all().map(\.text) == ["what is this?", "re 2"])
            try await orchestrator.say(AgentInput(question("dog")))
            let saved = try await reopen().all().filter { $0.role == .user }
            let names = saved.flatMap(\.parts).compactMap { part in
                if case .attachment(let attachment) = part { return attachment.name }
                return nil
            }
            #expect(names == ["cat", "dog"])
        }
    }

    @Test(
        "A question asked again with its first text does not get the reply to another text",
        arguments: AnyStore.allCases)
    func firstTextAgain(_ kind: AnyStore) async throws {
        let agent = ScriptedAgent { input, _, say in say(.textDelta("re \(input.text)")) }
        try await kind.with { store, reopen in
            try await leave(ConversationMessage(id: "q", role: .user, text: "old"), in: store)
            let orchestrator = Orchestrator(agents: [agent], store: store)
            for text in ["new", "old", "new", "old"] {
                #expect(try await orchestrator.say(.text(text, id: "q")).reply?.text == "re \(text)")
            }
            let again = try await Orchestrator(agents: [agent], store: reopen()).retried("q")
            #expect(again.reply?.text == "re old")
            #expect(try await store.all().map(\.text) == ["old", "", "new", "re new", "old", "re old"])
        }
    }

    @Test(
        "A failure between a tool call and its result hides that call from the next turn", arguments: AnyStore.allCases)
    func toolCall(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let agent = ScriptedAgent { _, _, say in
                say(.textDelta("I look: "))
                say(.toolCall(id: "a", name: "clock", arguments: [:]))
                say(.toolResult(id: "a", content: "noon"))
                say(.toolCall(id: "b", name: "weather", arguments: [:]))
                throw Failure()
            }
            await #expect(throws: Failure()) { try await Orchestrator(agents: [agent], store: store).say("one") }
            let saved = try await reopen().all()
            #expect(saved.last?.parts.count == 4)
            let next = ScriptedAgent { _, history, say in
                #expect(
                    history.last?.parts == [
                        .text("I look: "), .toolCall(id: "a", name: "clock", arguments: [:]),
                        .toolResult(id: "a", content: "noon"),
                    ])
                say(.textDelta("yes"))
            }
            try await Orchestrator(agents: [next], store: reopen()).say("two")
        }
    }

    @Test("The next turn ends the unfinished turn of a killed process", arguments: AnyStore.allCases)
    func orphan(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let orphan = ConversationMessage(role: .user, text: "one")
            try await store.save(orphan, userId: "user", sessionId: "session", agentId: "agent", maxMessages: nil)
            let agent = ScriptedAgent { _, history, say in
                #expect(history.map(\.role) == [.user, .assistant])
                #expect(history.last?.isInterrupted == true)
                say(.textDelta("yes"))
            }
            try await Orchestrator(agents: [agent], store: store).say("two")
            let saved = try await reopen().all()
            #expect(saved.map(\.text) == ["one", "", "two", "yes"])
            #expect(saved.map(\.isInterrupted) == [false, true, false, false])
        }
    }

    @Test("A failure after the final message leaves the reply complete")
    func failsAfterFinal() async throws {
        let store = InMemoryChatStorage()
        let agent = ScriptedAgent { _, _, say in
            say(.final(ConversationMessage(role: .assistant, text: "done")))
            throw Failure()
        }
        await #expect(throws: Failure()) { try await Orchestrator(agents: [agent], store: store).say("one") }
        #expect(try await store.all().last?.text == "done")
        #expect(try await store.all().last?.isInterrupted == false)
    }

    @Test("The agent does not run if the user's message cannot be saved")
    func fullDisk() async throws {
        let agent = ScriptedAgent { _, _, _ in Issue.record("the agent ran") }
        let store = FailingStorage { $0.role == .user }
        await #expect(throws: Failure()) { try await Orchestrator(agents: [agent], store: store).say("one") }
    }

    @Test("A failure to save the reply is thrown")
    func fullDiskAtTheEnd() async throws {
        let store = FailingStorage { $0.role == .assistant }
        var events: [AgentEvent] = []
        await #expect(throws: Failure()) {
            let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
            for try await event in orchestrator.route("one", userId: "user", sessionId: "session") {
                events.append(event)
            }
        }
        #expect(events.contains(.textDelta("one")))
        #expect(events.reply == nil)
    }

    private func checkInterrupted(_ text: String, in store: any ChatStorage) async throws {
        let saved = try await store.all()
        #expect(saved.map(\.role) == [.user, .assistant])
        #expect(saved.map(\.text) == ["one", text])
        #expect(saved.last?.isInterrupted == true)
    }

    private func checkNextTurn(over store: any ChatStorage) async throws {
        try await Orchestrator(agents: [ScriptedAgent.echo()], store: store).say("two")
        let saved = try await store.all()
        #expect(saved.map(\.role) == [.user, .assistant, .user, .assistant])
        #expect(saved.suffix(2).map(\.text) == ["two", "You said: two"])
    }
}

/// A store that fails to save some messages.
private struct FailingStorage: ChatStorage {
    private let storage = InMemoryChatStorage()
    let refuses: @Sendable (ConversationMessage) -> Bool

    init(_ refuses: @escaping @Sendable (ConversationMessage) -> Bool) {
        self.refuses = refuses
    }

    func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        try await storage.fetch(userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        if refuses(message) { throw Failure() }
        try await storage.save(
            message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        for message in messages {
            try await save(
                message, userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
        }
    }

    func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        try await storage.fetchAllChats(userId: userId, sessionId: sessionId)
    }
}
