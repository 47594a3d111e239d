import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Turns over wrapped stores")
struct WrappedTurnTests {
    /// Replies "re " and the input, and records the history it received.
    private func agent(_ given: Locked<[ConversationMessage]>) -> ScriptedAgent {
        ScriptedAgent { input, history, say in
            given.withLock { $0 = history }
            say(.textDelta("re "))
            say(.textDelta(input.text))
        }
    }

    /// The inputs in the history that an agent received, from the summary or in full.
    private func questions(in given: [ConversationMessage]) -> [String] {
        given.flatMap { message -> [String] in
            switch message.role {
            case .system: message.text.split(separator: ",").map(String.init)
            case .user: [message.text]
            default: []
            }
        }
    }

    private func summarizing(_ storage: any ChatStorage) -> SummarizingChatStorage {
        SummarizingChatStorage(wrapping: storage, triggerAt: 3, keepLast: 1) { summary, messages in
            let said = messages.filter { $0.role == .user }.map(\.text)
            return ((summary.map { [$0] } ?? []) + said).joined(separator: ",")
        }
    }

    @Test("A summarizing store passes each input to the agent once, across restarts, and keeps all messages")
    func summaries() async throws {
        try await AnyStore.device.with { _, reopen in
            var reported: [ConversationMessage] = []
            for number in 0..<20 {
                let given = Locked<[ConversationMessage]>([])
                let storage = try CachingChatStorage(wrapping: summarizing(reopen()))
                let orchestrator = Orchestrator(agents: [agent(given)], store: storage, maxMessages: nil)
                reported.append(try #require(try await orchestrator.say(.text("\(number)")).reply))
                let window = given.withLock { $0 }
                #expect(questions(in: window) == (0..<number).map(String.init), "\(number)")
                #expect(number < 8 || window.first?.role == .system)
                #expect(window.count <= 2 * 5 + 1)
            }
            let saved = try await reopen().all()
            #expect(saved.filter { $0.role == .assistant } == reported)
            #expect(saved.count == 40)
        }
    }

    @Test("Two concurrent summarizing stores in one session end with each input once")
    func twoSummarize() async throws {
        let history = SQLiteHistoryStore.inMemory()
        func store() -> any ChatStorage {
            summarizing(DeviceChatStorage(history: history, userId: "user", sameRole: .keep))
        }
        let ignored = Locked<[ConversationMessage]>([])
        await withTaskGroup(of: Void.self) { group in
            for writer in ["a", "b"] {
                let orchestrator = Orchestrator(agents: [agent(ignored)], store: store(), maxMessages: nil)
                group.addTask {
                    for number in 0..<15 {
                        await #expect(throws: Never.self) { try await orchestrator.say(.text("\(writer)\(number)")) }
                    }
                }
            }
        }
        let given = Locked<[ConversationMessage]>([])
        try await Orchestrator(agents: [agent(given)], store: store(), maxMessages: nil).say("and")
        let reported = questions(in: given.withLock { $0 })
        #expect(reported.sorted() == ["a", "b"].flatMap { writer in (0..<15).map { "\(writer)\($0)" } }.sorted())
        let replies = try await store().fetchAllChats(userId: "user", sessionId: "session").filter {
            $0.role == .assistant && !$0.isInterrupted
        }
        #expect(replies.count == 31)
    }

    @Test("A summary omits messages that a branch has replaced", arguments: [1, 5, 10])
    func undo(saved: Int) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let given = Locked<[ConversationMessage]>([])
        let storage = summarizing(DeviceChatStorage(history: history, userId: "user"))
        let orchestrator = Orchestrator(agents: [agent(given)], store: storage, maxMessages: nil)
        for number in 0..<12 { try await orchestrator.say(.text("\(number)", id: "q\(number)")) }
        _ = try await history.branch(SessionKey(userId: "user", sessionId: "session"), from: "q\(saved)")
        try await orchestrator.say("and")
        #expect(questions(in: given.withLock { $0 }) == (0..<saved).map(String.init))
        try await orchestrator.say("more")
        #expect(questions(in: given.withLock { $0 }) == (0..<saved).map(String.init) + ["and"])
    }

    @Test(
        "In a transforming store, a dropped reply ends its turn as interrupted; a dropped input drops its reply"
    )
    func transform() async throws {
        let store = TransformingChatStorage(wrapping: InMemoryChatStorage()) { message in
            message.text.contains("secret") ? nil : message
        }
        let given = Locked<[ConversationMessage]>([])
        let orchestrator = Orchestrator(agents: [agent(given)], store: store)
        let discreet = Orchestrator(
            agents: [ScriptedAgent { _, _, say in say(.textDelta("the secret")) }], store: store)
        try await orchestrator.say("one")
        try await discreet.say("two")
        try await orchestrator.say("three")
        try await orchestrator.say("a secret")
        try await orchestrator.say(.text("a secret", id: "given"))
        try await orchestrator.say("four")
        let saved = try await store.all()
        #expect(saved.map(\.text) == ["one", "re one", "two", "", "three", "re three", "four", "re four"])
        #expect(saved.map(\.isInterrupted) == saved.map { $0.text.isEmpty })
        #expect(given.withLock { $0 } == saved.dropLast(2))
    }

    @Test("A logging store logs no content of streamed, saved or failed turns")
    func logging() async throws {
        let log = LogLines()
        try await AnyStore.device.with { below, _ in
            let store = LoggingChatStorage(
                wrapping: summarizing(CachingChatStorage(wrapping: below)), logger: log.logger)
            let failing = ScriptedAgent { _, _, say in
                say(.textDelta("SECRET"))
                throw Failure()
            }
            _ = try? await Orchestrator(agents: [failing], store: store).say("SECRET question")
            for number in 0..<6 {
                try await Orchestrator(agents: [ScriptedAgent.echo()], store: store).say(.text("SECRET \(number)"))
            }
            #expect(log.all.contains { $0.contains("beginReply") && $0.contains("isKept=true") })
            #expect(!log.all.contains { $0.contains("SECRET") })
        }
    }

    @Test("Over a transforming store, an input sent again is known by its ID", arguments: [false, true])
    func transformedAgain(isWrapped: Bool) async throws {
        let memory = InMemoryChatStorage()
        let transforming = TransformingChatStorage(wrapping: memory) {
            $0.mappingText { $0.replacing("42", with: "[n]") }
        }
        let store: any ChatStorage = isWrapped ? CachingChatStorage(wrapping: transforming) : transforming
        let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
        for _ in 0..<3 { try await orchestrator.say(.text("is it 42?", id: "q")) }
        #expect(try await memory.all().map(\.text) == ["is it [n]?", "You said: is it [n]?"])
    }

    @Test("Wrapped stores save a streaming reply, unless one of them transforms messages", arguments: [false, true])
    func drafts(isTransforming: Bool) async throws {
        let history = SQLiteHistoryStore.inMemory()
        let device = DeviceChatStorage(history: history, userId: "user")
        let below: any ChatStorage =
            isTransforming ? TransformingChatStorage(wrapping: device, transform: { $0 }) : device
        let store = LoggingChatStorage(
            wrapping: CachingChatStorage(wrapping: summarizing(below)), logger: LogLines().logger)
        let finish = Gate()
        let agent = ScriptedAgent { _, _, say in
            say(.textDelta("so far"))
            try await finish.wait()
            say(.textDelta(", so good"))
        }
        let orchestrator = Orchestrator(agents: [agent], store: store)
        for try await event in orchestrator.route("one", userId: "user", sessionId: "session") {
            guard case .textDelta("so far") = event else { continue }
            let replies = try await store.streamingReplies(userId: "user", sessionId: "session")
            #expect(replies.map(\.agentId) == (isTransforming ? [] : ["agent"]))
            #expect(replies.allSatisfy { $0.message.isStreaming })
            finish.open()
        }
        #expect(try await store.all().map(\.text) == ["one", "so far, so good"])
        #expect(try await store.streamingReplies(userId: "user", sessionId: "session").isEmpty)
    }
}
