import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Texts of entries during their replies, and edits and removals after the ends of the replies.
extension EntryChangesTests {
    @Test("The text of an incomplete entry is saved with its reply, and by the entry itself")
    func textOfIncompleteEntry() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("first ")
        shownEntry.content = "first second"
        try await save([shownEntry], by: ui)
        let saved = try await history.streamingReplies(in: Self.session)
        #expect(saved.map(\.message.text) == ["first second"])
        try await reply.interrupt()
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["first second"])
    }

    @Test("A text that another window has marked as complete grows with the window that streams it")
    func late() async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "A", isComplete: false)
        try await save([shownEntry], by: ui)
        try await change { $0[0].isComplete = true }
        shownEntry.content = "A B"
        try await save([shownEntry], by: ui)
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["A B"])
    }

    @Test("A text streamed by a window grows after another writer has added a part to it", arguments: [false, true])
    func partBesideGrowing(isFirst: Bool) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "A", isComplete: false)
        try await save([shownEntry], by: ui)
        let old = try #require(try await history.message(shownEntry.id.uuidString, in: Self.session)).message
        var new = old
        new.parts.insert(.text("Note."), at: isFirst ? 0 : 1)
        #expect(try await history.edit([MessageEdit(of: old, to: new)], in: Self.session).count == 1)
        shownEntry.content = "A B"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == (isFirst ? ["Note.", "A B"] : ["A B", "Note."]))
    }

    @Test("The end of a part completed by another window is saved, whichever parts are complete", arguments: [0, 2])
    func latePart(index: Int) async throws {
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("one"), Self.call, .text("two")])
        try await history.append([message], to: Self.scope)
        try await change { for index in $0.indices { $0[index].isComplete = false } }
        let ui = window()
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        try await change { $0[index].isComplete = true }
        transcript[index].content += ", more"
        try await save(transcript, by: ui)
        transcript[index].isComplete = true
        try await save(transcript, by: ui)
        #expect(
            try await text(entries())
                == (index == 0 ? ["one, more", "weather", "two"] : ["one", "weather", "two, more"]))
    }

    @Test("A reply removed by its window is saved when the window brings it back", arguments: [false, true])
    func removedReplyUndone(isRead: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "Q")
        try await save([question], by: ui)
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Answer")
        shownEntry.content = "Answer"
        try await save([question, shownEntry], by: ui)
        if isRead { _ = try await ui.getSession(id: "s") }
        try await reply.finish()
        try await save([question], by: ui)
        #expect(try await text(entries()) == ["Q"])
        try await save([question, shownEntry], by: ui)
        shownEntry.isComplete = true
        try await save([question, shownEntry], by: ui)
        #expect(try await text(entries()) == ["Q", "Answer"])
    }

    @Test("A late increment does not replace a reply that ended in other words")
    func lateInOtherWords() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        shownEntry.content = "Here"
        try await save([shownEntry], by: ui)
        try await reply.finish(ConversationMessage(id: reply.id, role: .assistant, text: "In other words."))
        shownEntry.content = "Here it"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["In other words."])
    }

    @Test("A window opened during a reply with tools saves its entries once", arguments: [false, true])
    func openedDuringReply(isEarly: Bool) async throws {
        let ui = window()
        let start = ConversationMessage(id: "msg_01", role: .assistant, text: "Look. ")
        let reply = try await history.beginReply(start, in: Self.scope)
        reply.append(Self.call)
        reply.append("It ")
        try await waitForIncrement { $0.count >= 3 }
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        #expect(text(transcript).count == 3)
        transcript[2].metadata["rating"] = 1
        if isEarly { try await save(transcript, by: ui) }
        reply.append("shines.")
        try await reply.finish()
        transcript[2].content = "It shines."
        transcript[2].isComplete = true
        try await save(transcript, by: ui)
        let entries = try await entries()
        #expect(text(entries) == ["Look. ", "weather", "It shines."])
        #expect(entries[2].metadata["rating"] == 1)
    }

    @Test("An interrupted reply with a tool call is saved over its stopped entry, not beside it")
    func interruptedCall() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Let me check.")
        reply.append(Self.call)
        shownEntry.content = "Let me check."
        shownEntry.isComplete = true
        shownEntry.wasCancelled = true
        try await save([shownEntry], by: ui)
        try await reply.interrupt()
        #expect(try await text(entries()) == ["Let me check.", "weather"])
    }

    /// The increments of an entry saved before the end of its reply, and whether the reply has a tool call.
    private static let endedReplies: [(increment: String?, hasCall: Bool)] = [
        (nil, false), ("", false), ("Hel", false), (nil, true), ("Hel", true),
    ]

    @Test(
        "An edit or a removal of an ended reply stays, though its own window saves the text first after it",
        arguments: [nil, "edited"], endedReplies.indices)
    func endedReply(edited: String?, index: Int) async throws {
        let (ui, (increment, hasCall)) = (window(), Self.endedReplies[index])
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Hello")
        if let increment {
            shownEntry.content = increment
            try await save([question, shownEntry], by: ui)
        }
        if hasCall { reply.append(Self.call) }
        try await reply.finish()
        try await change { if let edited { $0[1].content = edited } else { $0.removeSubrange(1...) } }
        (shownEntry.content, shownEntry.isComplete) = ("Hello", true)
        shownEntry.metadata = ["rating": 1]
        for _ in 0...1 { try await save([question, shownEntry], by: ui) }
        let call = hasCall ? ["weather"] : []
        #expect(try await text(entries()) == ["question"] + (edited.map { [$0] + call } ?? []))
        if edited != nil { #expect(try await entries()[1].metadata == ["rating": 1]) }
        // A change of the text by the window itself is saved.
        shownEntry.content = "Hello!"
        try await save([question, shownEntry], by: ui)
        #expect(try await text(entries()) == ["question", "Hello!"] + (edited == nil ? [] : call))
    }

    @Test("The end of a reply in a deleted session is not known")
    func endedAfterDeletion() {
        let known = KnownTranscripts()
        let reply = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "Hello")
        known.note(ended: reply, in: "s")
        #expect(!known.entries(of: "s").isEnd(reply.chatMessages()[0]))
    }

    @Test(
        "The text of an ended reply can be restored after the window was shown another one", arguments: [false, true])
    func restoredEnd(isRemoval: Bool) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Hello")
        try await reply.finish()
        try await change { if isRemoval { $0.removeAll() } else { $0[0].content = "edited" } }
        _ = try await ui.getSession(id: "s")
        (shownEntry.content, shownEntry.isComplete) = ("Hello", true)
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["Hello"])
    }

    @Test("A reply that a transcript does not have stays after its end")
    func endNotShown() async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        let (_, reply) = try await begin(by: ui)
        reply.append("Hello")
        try await reply.finish()
        for _ in 0...1 { try await save([question], by: ui) }
        #expect(try await text(entries()).sorted() == ["Hello", "question"])
    }
}
