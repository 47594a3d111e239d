import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Migration between session storages")
struct SessionMigrationTests {
    @Test("Random sessions arrive with every field, in the source's order, and the source is not written")
    func everything() async {
        await Seeds.run(3) { seed in
            var random = RandomJSON(seed: seed)
            let (source, target) = (ListedSessions(), ListedSessions())
            for number in 0..<20 {
                let messages = RandomJSON.roles.flatMap { role in
                    RandomJSON.types.map { random.chat(role: role, type: $0) }
                }
                try await source.add(
                    "s\(number)", messages.shuffled(using: &random.generator), first: "first \(number)")
            }
            try await source.updateLastAccessed(id: "s3")
            let writes = source.writes
            let report = try await source.migrate(to: target)
            #expect(source.writes == writes)
            #expect(report.sessionCount == 20 && report.movedSessionCount == 20)
            #expect(report.messageCount == report.addedMessageCount)
            let (expected, found) = (try await source.getAllSessions(), try await target.getAllSessions())
            #expect(found.map(\.id) == expected.map(\.id) && found.first?.id == "s3")
            #expect(found.map(\.firstUserMessage) == expected.map(\.firstUserMessage))
            for (left, right) in zip(expected, found) { #expect(left.messages == right.messages) }
        }
    }

    @Test("Everything is preserved from memory to user defaults and back, even an empty first message")
    func ourStorages() async throws {
        var random = RandomJSON(seed: 7)
        let suite = "recollect.migration.\(UUID().uuidString)"
        defer { UserDefaults().removePersistentDomain(forName: suite) }
        let (first, last) = (InMemorySessionStorage(), InMemorySessionStorage())
        let middle = UserDefaultsSessionStorage(suiteName: suite)
        for number in 0..<5 {
            let messages = RandomJSON.roles.map { random.chat(role: $0, type: .text) }
            try await first.add("s\(number)", messages, first: number == 0 ? "" : "first \(number)")
        }
        try await first.migrate(to: middle)
        let report = try await middle.migrate(to: last)
        #expect((report.sessionCount, report.addedMessageCount) == (5, 5 * RandomJSON.roles.count))
        let (expected, found) = (try await first.getAllSessions(), try await last.getAllSessions())
        #expect(found.map(\.id) == expected.map(\.id))
        #expect(found.map(\.firstUserMessage) == expected.map(\.firstUserMessage))
        #expect(found.map(\.messages) == expected.map(\.messages))
        #expect(try await first.migrate(to: last).movedSessionCount == 0)
    }

    @Test("A second run writes nothing except the messages that are new in the source")
    func again() async throws {
        let (source, target) = (ListedSessions(), ListedSessions())
        try await source.add("a", chats(0..<4))
        try await source.add("b", [])
        try await source.migrate(to: target)
        let writes = target.writes
        let again = try await source.migrate(to: target)
        #expect(target.writes == writes)
        #expect(
            (again.sessionCount, again.movedSessionCount, again.messageCount, again.addedMessageCount) == (2, 0, 4, 0))

        let remaining = try await source.getSession(id: "a")?.messages ?? []
        try await source.updateSessionMessages(id: "a", messages: remaining + chats(4..<6))
        let third = try await source.migrate(to: target)
        #expect((third.movedSessionCount, third.addedMessageCount) == (1, 2))
        #expect(try await target.contents().map(\.id) == ["a", "b"], "the session with the latest message is first")
    }

    @Test("The target's own messages stay, and missing ones are inserted in the source's order")
    func ownMessages() async throws {
        let (source, target) = (ListedSessions(), ListedSessions())
        let all = chats(0..<8)
        let own = chats(100..<102)
        try await source.add("s", all)
        try await target.add("s", [all[0], all[1], own[0], all[4], all[5], own[1]], first: "mine")
        try await target.add("other", own)
        let report = try await source.migrate(to: target)
        #expect(report.addedMessageCount == 4)
        let found = try await target.getSession(id: "s")
        #expect(
            found?.messages == [all[0], all[1], all[2], all[3], own[0], all[4], all[5], all[6], all[7], own[1]])
        #expect(found?.firstUserMessage == "mine")
        #expect(try await target.getSession(id: "other")?.messages == own)
    }

    @Test("Different content under an ID stays, is reported with session and field, and stops no other session")
    func conflict() async throws {
        let (source, target) = (ListedSessions(), ListedSessions())
        let messages = chats(0..<3)
        var edited = messages
        edited[1].content = "edited in the target"
        for id in ["a", "b", "c", "d"] { try await source.add(id, messages) }
        try await target.add("b", edited)
        try await target.add("c", edited)
        let error = await #expect(throws: RecollectError.self) { try await source.migrate(to: target) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("session b") == true && error?.message.contains("1 more: c") == true)
        #expect(error?.message.contains("`content`") == true)
        #expect(error?.message.contains(messages[1].id.uuidString) == true)
        #expect(try await target.getSession(id: "b")?.messages == edited)
        #expect(try await target.getSession(id: "a")?.messages == messages)
        #expect(try await target.getSession(id: "d")?.messages == messages)
    }

    @Test(
        "A target that loses a field of a message stops the migration at its first session",
        arguments: ["toolName", "metadata", "timestamp", "attachments", "isComplete", "wasCancelled", "content"])
    func lossy(field: String) async throws {
        let (source, picture) = (ListedSessions(), Attachment(mediaType: "image/png", content: .inline(Data([1]))))
        let message = ChatMessage(
            role: .toolUse, content: "caf\u{E9}", timestamp: Date(millisecondsSince1970: 1_700_000_000_001),
            isComplete: false, messageType: .toolUse, toolName: "Read", attachments: [picture], wasCancelled: true,
            metadata: ["k": 1])
        try await source.add("s", [message])
        try await source.add("t", [message])
        let target = ListedSessions(keeping: { saved in
            var remaining = saved
            switch field {
            case "toolName": remaining.toolName = nil
            case "metadata": remaining.metadata = [:]
            case "timestamp":
                remaining.timestamp = Date(timeIntervalSince1970: remaining.timestamp.timeIntervalSince1970.rounded())
            case "attachments": remaining.attachments = []
            case "isComplete": remaining.isComplete = true
            case "wasCancelled": remaining.wasCancelled = false
            default: remaining.content = remaining.content.decomposedStringWithCanonicalMapping
            }
            return remaining
        })
        let error = await #expect(throws: RecollectError.self) { try await source.migrate(to: target) }
        #expect(error?.code == .verificationFailed)
        #expect(error?.message.contains("session s") == true && error?.message.contains("`\(field)`") == true)
        #expect(try await target.contents().count == 1)
    }

    @Test(
        "Texts in different Unicode forms differ, in every field",
        arguments: ["toolName", "toolInputData", "attachments", "metadata"])
    func forms(field: String) {
        func message(_ value: String) -> ChatMessage {
            func text(of name: String) -> String { name == field ? value : "" }
            let picture = Attachment(
                mediaType: "image/png", name: text(of: "attachments"), content: .remote(url: "https://a"))
            return ChatMessage(
                id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), role: .toolUse, content: "",
                timestamp: Date(timeIntervalSince1970: 0),
                messageType: .toolUse, toolName: text(of: "toolName"),
                toolInputData: ToolInputData(
                    parameters: ["a": text(of: "toolInputData")], rawParameters: [text(of: "toolInputData"): "b"]),
                attachments: [picture], metadata: ["a": [.string(text(of: "metadata"))]])
        }
        #expect(MessageDifference.field(message("\u{E9}"), message("\u{E9}")) == nil)
        #expect(MessageDifference.field(message("\u{E9}"), message("e\u{301}")) == field)
    }

    @Test("A different Unicode form in unknown fields is reported as `unknownFields`")
    func unknownFieldForms() {
        let messages = ["\u{E9}", "e\u{301}"].map {
            ConversationMessage(
                id: "m", role: .user, parts: [], timestamp: Date(timeIntervalSince1970: 0),
                unknownFields: ["new": .string($0)])
        }
        #expect(MessageDifference.field(messages[0], messages[1]) == "unknownFields")
    }

    @Test("An attachment that is inline on one side and stored by hash on the other is equal")
    func hashedAttachments() async throws {
        let (source, bytes) = (ListedSessions(), Data("picture".utf8))
        try await source.add(
            "s",
            [
                ChatMessage(
                    role: .user, content: "x",
                    attachments: [Attachment(mediaType: "image/png", content: .inline(bytes))])
            ])
        let target = ListedSessions(keeping: { saved in
            var remaining = saved
            remaining.attachments[0].content = .stored(sha256: Attachment.sha256(of: bytes), byteCount: bytes.count)
            return remaining
        })
        #expect(try await source.migrate(to: target).addedMessageCount == 1)
        #expect(try await source.migrate(to: target).addedMessageCount == 0)
    }

    @Test("5,000 messages, canceled at random writes and resumed, arrive equal and without duplicates")
    func interrupted() async {
        await Seeds.run(1) { seed in
            let random = Locked(SeededGenerator(seed: seed))
            let source = ListedSessions()
            for number in 0..<50 { try await source.add("s\(number)", chats(0..<100)) }
            let target = ListedSessions(beforeWrite: {
                guard random.withLock({ Int.random(in: 0..<10, using: &$0) }) == 0 else { return }
                withUnsafeCurrentTask { $0?.cancel() }
                // Some storages react to the cancellation at once, others continue.
                if random.withLock({ Bool.random(using: &$0) }) { throw CancellationError() }
            })
            var runs = 0
            while true {
                runs += 1
                let run = Task { try await source.migrate(to: target) }
                do {
                    let report = try await run.value
                    #expect(report.sessionCount == 50 && report.messageCount == 5000)
                    break
                } catch is CancellationError {
                    continue
                }
            }
            #expect(runs > 1)
            let (expected, found) = (try await source.contents(), try await target.contents())
            #expect(found.map(\.id) == expected.map(\.id))
            for (left, right) in zip(expected, found) { #expect(left.messages == right.messages) }
        }
    }

    @Test("Storages that are not Sendable are migrated on the caller's actor")
    @MainActor
    func notSendable() async throws {
        final class Wrapped: SessionStorageProtocol {
            var calls = 0
            let inner = ListedSessions()

            func saveSession(id: String, firstMessage: String) async throws {
                MainActor.assertIsolated()
                calls += 1
                try await inner.saveSession(id: id, firstMessage: firstMessage)
            }
            func getAllSessions() async throws -> [StoredSession] { try await inner.getAllSessions() }
            func getSession(id: String) async throws -> StoredSession? { try await inner.getSession(id: id) }
            func updateLastAccessed(id: String) async throws { try await inner.updateLastAccessed(id: id) }
            func deleteSession(id: String) async throws { try await inner.deleteSession(id: id) }
            func deleteAllSessions() async throws { try await inner.deleteAllSessions() }
            func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
                try await inner.updateSessionMessages(id: id, messages: messages)
            }
            func updateSessionId(oldId: String, newId: String) async throws {
                try await inner.updateSessionId(oldId: oldId, newId: newId)
            }
        }
        let (source, target) = (ListedSessions(), Wrapped())
        try await source.add("s", chats(0..<2))
        var steps: [MigrationProgress] = []
        try await source.migrate(to: target) { steps.append($0) }
        #expect(target.calls == 1)
        #expect(steps == [MigrationProgress(sessions: 1, sessionsTotal: 1, messages: 2)])
    }
}
