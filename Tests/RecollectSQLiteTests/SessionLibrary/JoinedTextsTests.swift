import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A UI without tools shows a reply as one entry. It separates the texts in its own way, or trims them.
@Suite("Replies shown as one entry, with other white space") struct JoinedTextsTests {
    private let history = memory()
    private static let call = ContentPart.toolCall(id: "call", name: "find", arguments: [:])
    private static let call2 = ContentPart.toolCall(id: "call2", name: "find", arguments: [:])

    enum End: CaseIterable { case finish, given, interrupt }

    /// The texts of a reply around a tool call, and the entry of a UI.
    struct Shown: CustomTestStringConvertible {
        let first: String
        let second: String?
        let entry: String

        var testDescription: String { "\(first.debugDescription) as \(entry.debugDescription)" }

        var parts: [ContentPart] {
            [.text(first), JoinedTextsTests.call] + [second].compactMap { $0.map(ContentPart.text) }
        }

        static let all = [
            Shown(first: "Look. ", second: "Found.", entry: "Look. Found."),
            Shown(first: "Look.", second: "Found.", entry: "Look. Found."),
            Shown(first: "Look. ", second: "Found.", entry: "Look. \n\nFound."),
            Shown(first: "\n\nLook.", second: "Found.\n", entry: "Look.\n\nFound."),
            Shown(first: "\n\nLook.", second: nil, entry: "Look."),
        ]
    }

    private func window() -> SQLiteSessionStorage { SQLiteSessionStorage(history: history, userId: "ann") }

    private func texts() async throws -> [String] {
        let entries = try #require(try await window().getSession(id: "s")).messages
        return entries.filter { $0.messageType == .text }.flatMap { $0.content.split(whereSeparator: \.isWhitespace) }
            .map(String.init)
    }

    /// Saves a reply as one entry, before its end or after it. Returns the window and the entry.
    private func saved(
        _ shown: Shown, _ end: End, isEarly: Bool
    ) async throws -> (window: SQLiteSessionStorage, entry: ChatMessage) {
        let ui = window()
        let reply = try await ui.beginReply(in: "s")
        for part in shown.parts { reply.append(part) }
        let entry = ChatMessage(
            id: try #require(UUID(uuidString: reply.id)), role: .assistant, content: shown.entry,
            wasCancelled: end == .interrupt)
        if isEarly { try await ui.updateSessionMessages(id: "s", messages: [entry]) }
        try await finish(reply, end, shown.parts)
        if !isEarly { try await ui.updateSessionMessages(id: "s", messages: [entry]) }
        return (ui, entry)
    }

    @Test("It is stored once, whether saved before or after the end", arguments: Shown.all, End.allCases)
    func storedOnce(shown: Shown, end: End) async throws {
        for isEarly in [true, false] {
            _ = try await saved(shown, end, isEarly: isEarly)
            #expect(try await texts() == ["Look."] + (shown.second == nil ? [] : ["Found."]), "early: \(isEarly)")
            _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: "s"))
        }
    }

    @Test("Its removal removes all its texts", arguments: Shown.all, End.allCases)
    func removed(shown: Shown, end: End) async throws {
        for isEarly in [true, false] {
            let (ui, _) = try await saved(shown, end, isEarly: isEarly)
            try await ui.updateSessionMessages(id: "s", messages: [])
            let entries = try await window().getSession(id: "s")?.messages ?? []
            #expect(entries.allSatisfy { $0.messageType != .text }, "early: \(isEarly)")
            _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: "s"))
        }
    }

    @Test("Its edit replaces all its texts", arguments: Shown.all, End.allCases)
    func edited(shown: Shown, end: End) async throws {
        for isEarly in [true, false] {
            let (ui, shownEntry) = try await saved(shown, end, isEarly: isEarly)
            var entry = shownEntry
            entry.content = "Edited."
            try await ui.updateSessionMessages(id: "s", messages: [entry])
            #expect(try await texts() == ["Edited."], "early: \(isEarly)")
            _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: "s"))
        }
    }

    @Test(
        "A reply read while it was streaming, and completed by a trimming UI with that text, loses no later text",
        arguments: ["Look", " Look", "\n\nLook"])
    func trimmedBeginning(first: String) async throws {
        let reply = try await history.beginReply(
            ConversationMessage(id: UUID().uuidString, role: .assistant, text: first),
            in: SessionKey(userId: "ann", sessionId: "s").scope(agentId: "a"))
        let ui = window()
        var entry = try #require(try await ui.getSession(id: "s")?.messages.first)
        reply.append(" here.")
        try await reply.finish()
        (entry.content, entry.isComplete) = ("Look", true)
        try await ui.updateSessionMessages(id: "s", messages: [entry])
        #expect(try await texts() == ["Look", "here."])
    }

    @Test(
        "A reply completed by its UI with the text shown last, after the end, loses no later text",
        arguments: End.allCases, [true, false])
    func shownBeginning(end: End, isFirst: Bool) async throws {
        let question = ChatMessage(role: .user, content: "Where?")
        // The window may have neither saved nor read the session before.
        var ui = window()
        try await ui.updateSessionMessages(id: "s", messages: [question])
        if isFirst { ui = window() }
        let reply = try await ui.beginReply(in: "s")
        reply.append("Look")
        reply.append(" here.")
        var entry = ChatMessage(
            id: try #require(UUID(uuidString: reply.id)), role: .assistant, content: "Look",
            wasCancelled: end == .interrupt)
        try await finish(reply, end, [.text("Look here.")])
        try await ui.updateSessionMessages(id: "s", messages: [question, entry])
        #expect(try await texts() == ["Where?", "Look", "here."])
        entry.content = "Edited."
        try await ui.updateSessionMessages(id: "s", messages: [question, entry])
        #expect(try await texts() == ["Where?", "Edited."])
    }

    @Test(
        "A reply completed by its UI with its beginning, after the end, can be removed and edited",
        arguments: [("Look", "Look here. "), ("Look here. Fou", "Look here. ")], End.allCases)
    func partlyShown(texts: (shown: String, first: String), end: End) async throws {
        for isRemoval in [true, false] {
            let ui = window()
            let question = ChatMessage(role: .user, content: "Where?")
            try await ui.updateSessionMessages(id: "s", messages: [question])
            let reply = try await ui.beginReply(in: "s")
            let parts: [ContentPart] = [Self.call, .text(texts.first), Self.call2, .text("Found.")]
            for part in parts { reply.append(part) }
            try await finish(reply, end, parts)
            var entry = ChatMessage(
                id: try #require(UUID(uuidString: reply.id)), role: .assistant, content: texts.shown,
                wasCancelled: end == .interrupt)
            try await ui.updateSessionMessages(id: "s", messages: [question, entry])
            #expect(try await self.texts() == ["Where?", "Look", "here.", "Found."])
            entry.content = "Edited."
            try await ui.updateSessionMessages(id: "s", messages: [question] + (isRemoval ? [] : [entry]))
            // Text never shown stays.
            let others = texts.shown == "Look" ? ["Found."] : []
            #expect(try await self.texts() == ["Where?"] + (isRemoval ? [] : ["Edited."]) + others)
            _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: "s"))
        }
    }

    @Test(
        "A first save after the end, with the beginning and other white space, stores nothing twice",
        arguments: End.allCases)
    func spacedBeginning(end: End) async throws {
        let ui = window()
        let reply = try await ui.beginReply(in: "s")
        let parts: [ContentPart] = [.text("Look."), Self.call, .text("Found. Done.")]
        for part in parts { reply.append(part) }
        try await finish(reply, end, parts)
        let entry = ChatMessage(
            id: try #require(UUID(uuidString: reply.id)), role: .assistant, content: "Look.\n\nFound.",
            wasCancelled: end == .interrupt)
        try await ui.updateSessionMessages(id: "s", messages: [entry])
        #expect(try await texts() == ["Look.", "Found.", "Done."])
    }

    @Test("The end of a reply and a save of its beginning, called at once, lose no text", arguments: [false, true])
    func simultaneousEnd(isInterrupted: Bool) async throws {
        for round in 0..<60 {
            let ui = window()
            let (entry, end) = try await ending(by: ui, in: "s", isInterrupted: isInterrupted)
            let save = Task { try await ui.updateSessionMessages(id: "s", messages: [entry]) }
            try await end.value
            try await save.value
            #expect(try await texts() == ["Look", "here."], "round \(round)")
            _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: "s"))
        }
    }

    @Test(
        "The end of a reply called with a move of its session, and a save after the move, lose no text",
        arguments: [false, true])
    func endDuringMove(isInterrupted: Bool) async throws {
        for round in 0..<60 {
            let ui = window()
            let question = ChatMessage(role: .user, content: "Where?")
            try await ui.updateSessionMessages(id: "c", messages: [question])
            let (entry, end) = try await ending(by: ui, in: "c", isInterrupted: isInterrupted)
            let save = Task {
                try await ui.updateSessionId(oldId: "c", newId: "s")
                try await ui.updateSessionMessages(id: "s", messages: [question, entry])
            }
            try await end.value
            try await save.value
            #expect(try await texts() == ["Where?", "Look", "here."], "round \(round)")
            _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: "s"))
        }
    }

    @Test(
        "The end of a reply finds its moved session, though the first ID is used again, moved again or deleted",
        arguments: [false, true], 0..<3)
    func endAfterReuse(isInterrupted: Bool, then reuse: Int) async throws {
        for round in 0..<20 {
            let ui = window()
            let question = ChatMessage(role: .user, content: "Where?")
            try await ui.updateSessionMessages(id: "c", messages: [question])
            let reply = try await ui.beginReply(in: "c")
            try await ui.updateSessionId(oldId: "c", newId: "s")
            try await ui.updateSessionMessages(id: "c", messages: [ChatMessage(role: .user, content: "Other chat")])
            switch reuse {
            case 0: break
            case 1: try await ui.updateSessionId(oldId: "c", newId: "t")
            default: try await ui.deleteSession(id: "c")
            }
            let (entry, end) = try ending(of: reply, isInterrupted: isInterrupted)
            let save = Task { try await ui.updateSessionMessages(id: "s", messages: [question, entry]) }
            try await end.value
            try await save.value
            #expect(try await texts() == ["Where?", "Look", "here."], "round \(round)")
            for id in ["s", "c", "t"] { _ = try await history.deleteSession(SessionKey(userId: "ann", sessionId: id)) }
        }
    }

    /// Begins a reply, and calls its end. Returns the entry with its beginning, and the task of the end.
    private func ending(
        by ui: SQLiteSessionStorage, in id: String, isInterrupted: Bool
    ) async throws -> (entry: ChatMessage, end: Task<Void, any Error>) {
        try ending(of: await ui.beginReply(in: id), isInterrupted: isInterrupted)
    }

    /// Appends to a reply, and calls its end.
    private func ending(
        of reply: StreamingReply, isInterrupted: Bool
    ) throws -> (entry: ChatMessage, end: Task<Void, any Error>) {
        reply.append("Look")
        reply.append(" here.")
        let entry = ChatMessage(
            id: try #require(UUID(uuidString: reply.id)), role: .assistant, content: "Look",
            wasCancelled: isInterrupted)
        return (entry, Task { if isInterrupted { try await reply.interrupt() } else { try await reply.finish() } })
    }

    @Test("The end of a reply waits for the operation of its window, though its task is canceled")
    func endInOrder() async throws {
        let ui = window()
        let reply = try await ui.beginReply(in: "s")
        reply.append("Look here.")
        let (began, gate) = (Gate(), Gate())
        let operation = Task {
            try await ui.operations.run(on: ["s"]) {
                began.open()
                try await gate.wait()
            }
        }
        try await began.wait()
        let end = Task { try await reply.interrupt() }
        end.cancel()
        for _ in 0..<20 {
            let replies = try await history.streamingReplies(in: SessionKey(userId: "ann", sessionId: "s"))
            #expect(replies.count == 1)
        }
        gate.open()
        try await operation.value
        try await end.value
        #expect(try await texts() == ["Look", "here."])
        let replies = try await history.streamingReplies(in: SessionKey(userId: "ann", sessionId: "s"))
        #expect(replies.isEmpty)
    }

    /// Ends a reply. It has all its parts.
    private func finish(_ reply: StreamingReply, _ end: End, _ parts: [ContentPart]) async throws {
        switch end {
        case .finish: try await reply.finish()
        case .given: try await reply.finish(ConversationMessage(id: reply.id, role: .assistant, parts: parts))
        case .interrupt: try await reply.interrupt()
        }
    }

    @Test("Two windows that join the texts of a message in the same way store them once")
    func joinedTwice() async throws {
        let parts: [ContentPart] = [.text("Look."), Self.call, .text("Found.")]
        let key = SessionKey(userId: "ann", sessionId: "s")
        try await history.append(
            [ConversationMessage(id: "reply", role: .assistant, parts: parts)], to: key.scope(agentId: "a"))
        var windows: [(SQLiteSessionStorage, ChatMessage)] = []
        for _ in 0..<2 {
            let ui = window()
            var entry = try #require(try await ui.getSession(id: "s")?.messages.first)
            entry.content = "Look. Found."
            windows.append((ui, entry))
        }
        for (ui, entry) in windows { try await ui.updateSessionMessages(id: "s", messages: [entry]) }
        #expect(try await texts() == ["Look.", "Found."])
    }
}
