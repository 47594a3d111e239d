import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Turns")
struct TurnTests {
    @Test("A turn saves two messages, as announced by its events", arguments: AnyStore.allCases)
    func twoMessages(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
            let events = try await orchestrator.say(.text("hello", id: "u1"))
            let announced = try #require(events.announced)
            let reply = try #require(events.reply)
            #expect(events.first == .began(announced))
            #expect(events.last == .final(reply))
            #expect(announced == AgentReply(id: reply.id, agentId: "agent", inputId: "u1"))
            #expect(events.dropFirst().dropLast() == [.textDelta("You said: "), .textDelta("hello")])
            let saved = try await reopen().all()
            #expect(saved.map(\.id) == ["u1", reply.id])
            #expect(saved.map(\.text) == ["hello", "You said: hello"])
            #expect(saved.map(\.role) == [.user, .assistant])
            #expect(saved.last == reply)
            #expect(!reply.isInterrupted && !reply.isStreaming)
        }
    }

    @Test("The store holds the user's message before the agent runs", arguments: AnyStore.allCases)
    func savedFirst(_ kind: AnyStore) async throws {
        try await kind.with { store, _ in
            let agent = ScriptedAgent { input, _, say in
                say(.textDelta(try await store.all().map(\.id).joined(separator: ",")))
            }
            let events = try await Orchestrator(agents: [agent], store: store).say(.text("hello", id: "u1"))
            #expect(events.reply?.text == "u1")
        }
    }

    @Test("The agent receives the previous messages without the current input", arguments: AnyStore.allCases)
    func history(_ kind: AnyStore) async throws {
        try await kind.with { store, _ in
            let agent = ScriptedAgent { _, history, say in
                say(.textDelta(history.map { "\($0.role.rawValue):\($0.text)" }.joined(separator: " ")))
            }
            let orchestrator = Orchestrator(agents: [agent], store: store)
            try await orchestrator.say("one")
            try await orchestrator.say("two")
            let events = try await orchestrator.say("three")
            #expect(events.reply?.text == "user:one assistant: user:two assistant:user:one assistant:")
        }
    }

    @Test("A turn saves whole pairs within its message budget", arguments: AnyStore.allCases)
    func budget(_ kind: AnyStore) async throws {
        try await kind.with { store, _ in
            let agent = ScriptedAgent { _, history, say in
                #expect(history.first?.role != .assistant)
                #expect(history.count <= 4)
                say(.final(ConversationMessage(role: .assistant, text: "yes")))
            }
            let streaming = ScriptedAgent { _, history, say in
                #expect(history.first?.role != .assistant)
                say(.textDelta("yes"))
            }
            for agent in [agent, streaming] {
                let orchestrator = Orchestrator(agents: [agent], store: store, maxMessages: 4)
                for number in 1...6 { try await orchestrator.say(.text("\(number)")) }
                let saved = try await store.all()
                #expect(saved.map(\.text) == ["5", "yes", "6", "yes"])
            }
        }
    }

    @Test("The agent's final message is saved under the announced ID")
    func finalMessage() async throws {
        let store = InMemoryChatStorage()
        let agent = ScriptedAgent { _, _, say in
            say(.textDelta("draft"))
            say(
                .final(
                    ConversationMessage(
                        id: "mine", role: .user, parts: [.text("final")], metadata: ["model": "m"])))
            say(.textDelta("ignored"))
        }
        let events = try await Orchestrator(agents: [agent], store: store).say("hello")
        let reply = try #require(events.reply)
        #expect(reply.id == events.announced?.id)
        #expect(reply.role == .assistant)
        #expect(reply.text == "final")
        #expect(reply.model == "m")
        #expect(!events.contains(.textDelta("ignored")))
        #expect(try await store.all().last == reply)
    }

    @Test(
        "A final message marked as streaming is saved as complete",
        arguments: [[], [AgentEvent.textDelta("draft")]])
    func finalInFlight(_ pieces: [AgentEvent]) async throws {
        let store = InMemoryChatStorage()
        let agent = ScriptedAgent { _, _, say in
            pieces.forEach(say)
            var message = ConversationMessage(role: .assistant, text: "final")
            message.isStreaming = true
            say(.final(message))
        }
        let events = try await Orchestrator(agents: [agent], store: store).say("hello")
        #expect(events.reply?.isStreaming == false)
        #expect(try await store.all().last == events.reply)
    }

    @Test("A final message without parts takes the streamed parts")
    func finalWithoutParts() async throws {
        let agent = ScriptedAgent { _, _, say in
            say(.thinking("let "))
            say(.thinking("me see"))
            say(.textDelta("one"))
            say(.toolCall(id: "c", name: "clock", arguments: [:]))
            say(.toolResult(id: "c", content: "noon"))
            say(.textDelta("two"))
            say(.final(ConversationMessage(role: .assistant, parts: [], metadata: ["model": "m"])))
        }
        let events = try await Orchestrator(agents: [agent], store: InMemoryChatStorage()).say("hello")
        #expect(events.reply?.metadata == ["model": "m"])
        #expect(
            events.reply?.parts == [
                .thinking("let me see", signature: nil), .text("one"),
                .toolCall(id: "c", name: "clock", arguments: [:]), .toolResult(id: "c", content: "noon"), .text("two"),
            ])
    }

    @Test("Without a store, every turn starts with an empty history")
    func noStore() async throws {
        let agent = ScriptedAgent { _, history, say in say(.textDelta("\(history.count)")) }
        let orchestrator = Orchestrator(agents: [agent], store: nil)
        try await orchestrator.say("one")
        #expect(try await orchestrator.say("two").reply?.text == "0")
    }

    @Test("A turn of an agent with `saveChat` off saves nothing")
    func verificationFailed() async throws {
        let store = InMemoryChatStorage()
        let agent = ScriptedAgent(saveChat: false) { _, _, say in say(.textDelta("hush")) }
        let events = try await Orchestrator(agents: [agent], store: store).say("hello")
        #expect(events.reply?.text == "hush")
        #expect(try await store.all().isEmpty)
    }

    @Test("An input sent again returns the stored reply", arguments: AnyStore.allCases)
    func again(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let first = try await Orchestrator(agents: [ScriptedAgent.echo()], store: store).say(.text("a", id: "u1"))
            let silent = ScriptedAgent { _, _, _ in Issue.record("the agent ran again") }
            let second = try await Orchestrator(agents: [silent], store: reopen()).say(.text("a", id: "u1"))
            #expect(second.reply == first.reply)
            #expect(second.announced == first.announced)
            #expect(try await store.all().count == 2)
        }
    }

    @Test(
        "A value created without an ID and sent again returns the stored reply, whatever was asked in between",
        arguments: AnyStore.allCases, [0, 1, 5])
    func valueAgain(_ kind: AnyStore, turnsBetween: Int) async throws {
        try await kind.with { store, reopen in
            let input: AgentInput = "a"
            let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
            let first = try await orchestrator.say(input)
            for number in 0..<turnsBetween { try await orchestrator.say(.text("\(number)")) }
            let saved = try await reopen().all()
            let silent = ScriptedAgent { _, _, _ in Issue.record("the agent ran again") }
            #expect(try await Orchestrator(agents: [silent], store: reopen()).say(input).reply == first.reply)
            #expect(try await reopen().all() == saved)
        }
    }

    @Test(
        "An input sent again after its turn left the window is saved again with its reply",
        arguments: AnyStore.allCases, ["u1", nil])
    func againOutsideTheWindow(_ kind: AnyStore, id: String?) async throws {
        try await kind.with { store, reopen in
            let input = AgentInput.text("a", id: id)
            let whole = Orchestrator(agents: [ScriptedAgent.echo()], store: store, maxMessages: nil)
            for input in [input, "1", "2", "3", "4", "5"] { try await whole.say(input) }
            let narrow = Orchestrator(agents: [ScriptedAgent.echo()], store: try reopen(), maxMessages: 2)
            let again = try await narrow.say(input)
            #expect(try await reopen().all().map(\.text) == ["a", "You said: a"])
            #expect(try await reopen().all().last == again.reply)
        }
    }

    @Test(
        "An input with a failed or interrupted turn runs again under its ID, until it has a reply",
        arguments: AnyStore.allCases, ["u1", nil])
    func againAfterFailure(_ kind: AnyStore, id: String?) async throws {
        let input = AgentInput.text("a", id: id)
        try await kind.with { store, reopen in
            let failing = ScriptedAgent { _, _, _ in throw Failure() }
            let cut = ScriptedAgent { _, _, say in
                say(.textDelta("half"))
                throw Failure()
            }
            for agent in [failing, cut, failing, failing] {
                await #expect(throws: Failure()) {
                    try await Orchestrator(agents: [agent], store: store).say(input)
                }
            }
            let asked = Locked<[String]>([])
            let echo = ScriptedAgent { input, history, say in
                asked.withLock { $0 += [input.text] }
                say(.textDelta("You said: \(input.text)"))
            }
            let answered = try await Orchestrator(agents: [echo], store: store).say(input)
            #expect(answered.reply?.text == "You said: a")
            let again = try await Orchestrator(agents: [echo], store: reopen()).say(input)
            #expect(again.reply == answered.reply)
            let retried = try await Orchestrator(agents: [echo], store: reopen()).retried(input.id)
            #expect(retried.reply == answered.reply)
            #expect(asked.withLock { $0 } == ["a"])
            let saved = try await reopen().all()
            #expect(saved.last?.text == "You said: a")
            #expect(saved.contains { $0.text == "half" && $0.isInterrupted }, "\(saved)")
            #expect(zip(saved, saved.dropFirst()).allSatisfy { $0.role != $1.role }, "\(saved)")
        }
    }

    @Test(
        "An input whose reply has no text and no whole tool exchange runs again under its ID",
        arguments: AnyStore.allCases)
    func againWithoutAnswer(_ kind: AnyStore) async throws {
        let call = AgentEvent.toolCall(id: "call", name: "tool", arguments: [:])
        for pieces in [[.thinking("hm")], [call], [.thinking("hm"), call]] as [[AgentEvent]] {
            try await kind.with { store, reopen in
                let silent = ScriptedAgent { _, _, say in pieces.forEach(say) }
                let first = try await Orchestrator(agents: [silent], store: store).say(.text("a", id: "u1"))
                #expect(first.reply?.isInterrupted == false)
                let echo = Orchestrator(agents: [ScriptedAgent.echo()], store: try reopen())
                let again = try await echo.retried("u1")
                #expect(again.reply?.text == "You said: a")
                #expect(try await echo.say(.text("a", id: "u1")).reply == again.reply)
            }
        }
        try await kind.with { store, reopen in
            let tool = ScriptedAgent { _, _, say in
                say(call)
                say(.toolResult(id: "call", content: "done"))
            }
            let first = try await Orchestrator(agents: [tool], store: store).say(.text("a", id: "u1"))
            let echo = Orchestrator(agents: [ScriptedAgent.echo()], store: try reopen())
            #expect(try await echo.retried("u1").reply == first.reply)
        }
    }

    @Test(
        "A reply does not replace a user message that has the reply's ID", arguments: AnyStore.allCases)
    func questionWithReplyID(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            // A reply's ID is derived from the ID of its input.
            let id = AgentInput.text("second", id: "second").message.copyId(from: "agent\u{0}reply")
            let derived = "\(id.prefix(14))8\(id.dropFirst(15))"
            let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
            try await orchestrator.say(.text("first", id: derived))
            let second = try await orchestrator.say(.text("second", id: "second"))
            let saved = try await reopen().all()
            #expect(saved.map(\.text) == ["first", "You said: first", "second", "You said: second"])
            #expect(saved.map(\.role) == [.user, .assistant, .user, .assistant])
            #expect(saved.last == second.reply)
        }
    }

    @Test("A turn whose stream is not iterated runs to its end", arguments: AnyStore.allCases)
    func notIterated(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let orchestrator = Orchestrator(agents: [ScriptedAgent.echo()], store: store)
            for number in 0..<20 { _ = orchestrator.route(.text("\(number)"), userId: "user", sessionId: "session") }
            await orchestrator.waitUntilIdle()
            let saved = try await reopen().all()
            #expect(saved.suffix(2).map(\.text) == ["19", "You said: 19"])
            #expect(saved.count == 40)
        }
    }

    @Test(
        "An input sent again goes to the same agent, even if the classifier now chooses another",
        arguments: AnyStore.allCases, ["u1", nil])
    func againWithClassifier(_ kind: AnyStore, id: String?) async throws {
        try await kind.with { store, reopen in
            let agents = ["One", "Two"].map { ScriptedAgent.echo($0) }
            func orchestrator(_ store: any ChatStorage, choosing index: Int) -> Orchestrator {
                Orchestrator(agents: agents, classifier: Choosing(index: index), store: store)
            }
            let input = AgentInput.text("hello", id: id)
            let first = try await orchestrator(store, choosing: 0).say(input)
            try await orchestrator(store, choosing: 1).say(.text("other", id: "u2"))
            let again = try await orchestrator(reopen(), choosing: 1).say(input)
            #expect(again.reply == first.reply && again.announced?.agentId == "one")
            #expect(try await reopen().all("two").map(\.text) == ["other", "You said: other"])
        }
    }

    @Test("Retrying an input without a classifier asks the agent of the earlier turn", arguments: AnyStore.allCases)
    func retryWithoutClassifier(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let agents = ["One", "Two"].map { ScriptedAgent.echo($0) }
            let first = try await Orchestrator(agents: agents, classifier: Choosing(index: 1), store: store)
                .say(.text("hello", id: "u1"))
            let again = try await Orchestrator(agents: agents, store: reopen()).retried("u1")
            #expect(again.reply == first.reply && again.announced?.agentId == "two")
            #expect(try await reopen().all("one").isEmpty)
        }
    }

    @Test("A tool call with a value that JSON lacks costs no other part of the reply", arguments: AnyStore.allCases)
    func unsavableValue(_ kind: AnyStore) async throws {
        try await kind.with { store, reopen in
            let agent = ScriptedAgent { _, _, say in
                say(.textDelta("before"))
                say(.toolCall(id: "c", name: "measure", arguments: ["depth": .number(.nan)]))
                say(.toolResult(id: "c", content: .number(.infinity)))
                say(.textDelta("after"))
            }
            let reply = try await Orchestrator(agents: [agent], store: store).say("hello").reply
            #expect(reply?.text == "beforeafter" && reply?.parts.count == 4)
            #expect(try await reopen().all().last == reply)
        }
    }

    @Test("Reasoning is saved while it streams, and the parts after it keep their order")
    func streamedReasoning() async throws {
        let store = try DeviceChatStorage(userId: "user", inMemory: true)
        let isSaved = Locked(false)
        let agent = ScriptedAgent { _, _, say in
            say(.thinking("let "))
            say(.thinking("me see"))
            // Half a second, on a machine that is not busy.
            for _ in 0..<3_000 where !isSaved.withLock({ $0 }) {
                let parts = try await store.streamingReplies(userId: "user", sessionId: "session").first?.message.parts
                isSaved.withLock { $0 = parts == [.thinking("let me see", signature: nil)] }
                try await Task.sleep(for: .milliseconds(20))
            }
            say(.textDelta("one"))
            say(.thinking("more"))
        }
        let reply = try await Orchestrator(agents: [agent], store: store).say("hello").reply
        #expect(isSaved.withLock { $0 })
        #expect(
            reply?.parts == [
                .thinking("let me see", signature: nil), .text("one"), .thinking("more", signature: nil),
            ])
        #expect(try await store.all().last == reply)
    }

    @Test("Retrying an unknown input throws")
    func retryUnknown() async throws {
        let error = await #expect(throws: RecollectError.self) {
            try await Orchestrator(agents: [ScriptedAgent.echo()], store: InMemoryChatStorage()).retried("nothing")
        }
        #expect(error?.code == .notFound)
    }

    @Test(
        "A turn stopped during classification saves nothing, even if the classifier ignores cancellation",
        arguments: AnyStore.allCases, [true, false])
    func stoppedClassifier(_ kind: AnyStore, listens: Bool) async throws {
        try await kind.with { store, reopen in
            let (reached, end) = (Gate(), Gate())
            let orchestrator = Orchestrator(
                agents: ["One", "Two"].map { ScriptedAgent.echo($0) },
                classifier: Waiting(reached: reached, end: end, listens: listens), store: store)
            let turn = Task { try await orchestrator.say("hello") }
            try await reached.wait()
            // Returns although the classifier still runs.
            await orchestrator.stop(userId: "user", sessionId: "session")
            await #expect(throws: CancellationError.self) { try await turn.value }
            for agent in ["one", "two"] { #expect(try await reopen().all(agent).isEmpty) }
            end.open()
        }
    }

    @Test("An input ID that exists with another agent of the session loses no reply", arguments: AnyStore.allCases)
    func idElsewhere(_ kind: AnyStore) async throws {
        try await kind.with { store, _ in
            for name in ["One", "Two"] {
                let orchestrator = Orchestrator(agents: [ScriptedAgent.echo(name)], store: store)
                try await orchestrator.say(.text("first", id: "\(name)-first"))
                try await orchestrator.say(.text("same", id: "same"))
                let saved = try await store.all(name.lowercased())
                #expect(saved.map(\.text) == ["first", "You said: first", "same", "You said: same"])
            }
        }
    }

    @Test("A reply is never dated before its input")
    func clock() async throws {
        let store = InMemoryChatStorage()
        let later = Date(timeIntervalSinceNow: 3600).wholeMilliseconds
        let input = AgentInput(ConversationMessage(id: "u1", role: .user, parts: [.text("hi")], timestamp: later))
        let events = try await Orchestrator(agents: [ScriptedAgent.echo()], store: store).say(input)
        #expect(events.reply?.timestamp == later)
    }

    @Test("A message with any parts is saved as the user's")
    func parts() async throws {
        let store = InMemoryChatStorage()
        let picture = Attachment(mediaType: "image/png", name: "a.png", content: .inline(Data([1, 2, 3])))
        let input = AgentInput(
            ConversationMessage(id: "u1", role: .assistant, parts: [.text("look"), .attachment(picture)]))
        try await Orchestrator(agents: [ScriptedAgent.echo()], store: store).say(input)
        let saved = try await store.all()
        #expect(saved.first?.role == .user)
        #expect(saved.first?.parts == [.text("look"), .attachment(picture)])
    }
}

/// Chooses the agent at an index.
private struct Choosing: Classifier {
    let index: Int

    func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult {
        ClassifierResult(selectedAgent: agents[index], confidence: 1)
    }
}

/// Waits until the test ends it or, if it listens, until it is canceled.
private struct Waiting: Classifier {
    let reached: Gate
    let end: Gate
    let listens: Bool

    func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult {
        reached.open()
        if listens {
            try await end.wait()
        } else {
            try await Task { try await end.wait() }.value
        }
        return ClassifierResult(selectedAgent: agents[0], confidence: 1)
    }
}

extension Orchestrator {
    /// Retries an input of the test's user and session.
    func retried(_ inputId: String) async throws -> [AgentEvent] {
        var events: [AgentEvent] = []
        for try await event in try await retry(inputId: inputId, userId: "user", sessionId: "session") {
            events.append(event)
        }
        return events
    }
}
