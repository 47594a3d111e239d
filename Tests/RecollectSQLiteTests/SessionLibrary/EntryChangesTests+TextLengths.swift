import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Entries with a longer or a shorter text than their replies.
extension EntryChangesTests {
    @Test("A text that a UI shortens while it streams the reply itself is saved", arguments: [false, true])
    func shortened(isCompact: Bool) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "half of it ▍", isComplete: false)
        try await save([shownEntry], by: ui)
        try await compact(ui, isCompact)
        shownEntry.content = "half of it"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["half of it"])
        shownEntry.content = "half"
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["half"])
    }

    @Test("A stopped entry leaves the text behind a tool call that it never had")
    func stoppedBeforeCall() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("A")
        shownEntry.content = "A"
        try await save([shownEntry], by: ui)
        reply.append(Self.call)
        reply.append("never shown")
        try await reply.finish()
        shownEntry.content = "A (stopped)"
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["A (stopped)", "weather", "never shown"])
    }

    @Test("A stopped entry leaves the whole reply, also if only its hashes are known")
    func stoppedCompact() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Hello ")
        shownEntry.content = "Hello "
        try await save([shownEntry], by: ui)
        try await compact(ui)
        reply.append("world")
        try await reply.finish()
        shownEntry.content = "Hello"
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["Hello world"])
    }

    @Test(
        "An entry whose last saved increment is missing in the reply is saved whole", arguments: ["", "Hello"],
        [false, true])
    func aheadOfReply(appended: String, isCompact: Bool) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append(appended)
        shownEntry.content = "Hello world"
        try await save([shownEntry], by: ui)
        try await reply.finish()
        try await compact(ui, isCompact)
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["Hello world"])
    }

    @Test("A shortened text stays so if the entry is marked as complete later", arguments: [false, true])
    func shortenedByAnother(isReply: Bool) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "Hello world", isComplete: false)
        let reply = isReply ? try await ui.beginReply(in: "s", shownEntry) : nil
        try await save([shownEntry], by: ui)
        try await reply?.finish()
        try await change { $0[0].content = "Hello" }
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["Hello"])
    }

    @Test("A message given at the end of a reply replaces increments that a window has saved")
    func givenAtTheEnd() async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        shownEntry.content = "Hello world"
        try await save([shownEntry], by: ui)
        try await reply.finish(ConversationMessage(id: reply.id, role: .assistant, text: "Hello"))
        #expect(try await text(entries()) == ["Hello"])
    }

    @Test("The end of a reply keeps the longer text of an entry saved as complete", arguments: [false, true])
    func longerCompleteEntry(isInterrupted: Bool) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Answer")
        shownEntry.content = "Answer"
        try await save([shownEntry], by: ui)
        (shownEntry.content, shownEntry.isComplete) = ("Answer [source]", true)
        try await save([shownEntry], by: ui)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        #expect(try await text(entries()) == ["Answer [source]"])
        shownEntry.content = "Answer"
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["Answer"])
    }

    @Test("An increment of a reply leaves a longer text that a window has saved", arguments: [" ", "\u{0}"])
    func longerIncrement(space: String) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        let writer = try await history.saveReply(ConversationMessage(shownEntry), in: Self.scope)
        try await writer.save("Hello", behind: nil)
        shownEntry.content = "Hello\(space)world"
        try await save([shownEntry], by: ui)
        try await writer.save("Hello\(space)wor", behind: nil)
        #expect(try await text(entries()) == ["Hello\(space)world"])
        try await writer.save("Hello\(space)world!", behind: nil)
        #expect(try await text(entries()) == ["Hello\(space)world!"])
        try await writer.save("Other", behind: nil)
        #expect(try await text(entries()) == ["Other"])
    }

    private static let behindLonger: [(parts: [ContentPart], saved: [String])] = [
        ([call], ["Let me look that up", "weather"]),
        ([call, .text("Found.")], ["Let me look that up", "weather", "Found."]),
    ]

    @Test(
        "A longer text that a window has saved stays if the writer appends parts", arguments: behindLonger.indices,
        [false, true])
    func longerBeforeParts(index: Int, isComplete: Bool) async throws {
        let (ui, (parts, saved)) = (window(), Self.behindLonger[index])
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Let me look")
        try await waitForIncrement { $0.first?.text == "Let me look" }
        (shownEntry.content, shownEntry.isComplete) = ("Let me look that up", isComplete)
        try await save([shownEntry], by: ui)
        for part in parts { reply.append(part) }
        if !isComplete {
            try await waitForIncrement { $0.count == saved.count }
            #expect(try await text(entries()) == saved)
        }
        try await reply.finish()
        #expect(try await text(entries()) == saved)
        shownEntry.isComplete = true
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == saved)
    }

    @Test(
        "An entry with the later texts of its reply does not repeat them, and keeps its rest",
        arguments: [("Found.", "Found."), ("\n\nFou", "Found."), (" Found. And", "Found. And")])
    func aheadOfParts(later: String, saved: String) async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        let reply = ConversationMessage(shownEntry)
        let writer = try await history.saveReply(reply, in: Self.scope)
        try await writer.save("Let me look", behind: nil)
        shownEntry.content = "Let me look" + later
        try await save([shownEntry], by: ui)
        var whole = reply
        whole.parts = [.text("Let me look"), Self.call, .text("Found.")]
        try await writer.save("Found.", behind: Array(whole.parts.dropLast()))
        #expect(try await text(entries()) == ["Let me look", "weather", saved])
        try await writer.finish(whole, isAppended: true)
        #expect(try await text(entries()) == ["Let me look", "weather", saved])
    }

    @Test("The rest of an entry ahead of its reply stays while the writer appends parts and texts")
    func restBehindParts() async throws {
        let ui = window()
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        var reply = ConversationMessage(shownEntry)
        let writer = try await history.saveReply(reply, in: Self.scope)
        try await writer.save("Let me look. ", behind: nil)
        shownEntry.content = "Let me look. It is sunny, and warm."
        try await save([shownEntry], by: ui)
        reply.parts = [.text("Let me look. "), Self.call]
        var saved = ["Let me look. ", "weather", "It is sunny, and warm."]
        try await writer.save("It ", behind: reply.parts)
        #expect(try await text(entries()) == saved)
        try await writer.save("It is sun", behind: nil)
        #expect(try await text(entries()) == saved)
        reply.parts += [.text("It is sunny"), .toolCall(id: "d", name: "news", arguments: [:])]
        try await writer.save(nil, behind: reply.parts)
        #expect(try await text(entries()) == saved + ["news"])
        try await writer.save("Any", behind: reply.parts)
        #expect(try await text(entries()) == saved + ["news", "Any"])
        reply.parts.append(.text("Anything else?"))
        try await writer.finish(reply, isAppended: true)
        saved += ["news", "Anything else?"]
        #expect(try await text(entries()) == saved)
    }

    @Test(
        "An entry behind its reply leaves the text that it lacks when it is marked as complete",
        arguments: [false, true], [false, true])
    func behindReply(isInterrupted: Bool, isCompact: Bool) async throws {
        let ui = window()
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("one two three")
        try await waitForIncrement { $0.first?.text == "one two three" }
        shownEntry.content = "one two"
        try await save([shownEntry], by: ui)
        try await compact(ui, isCompact)
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        (shownEntry.isComplete, shownEntry.wasCancelled) = (true, isInterrupted)
        try await save([shownEntry], by: ui)
        #expect(try await text(entries()) == ["one two three"])
    }

    @Test(
        "The first save of a reply's entry leaves a longer text that another window has saved as complete",
        arguments: [false, true])
    func longerByAnother(isInterrupted: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Answer")
        try await waitForIncrement { $0 == [.text("Answer")] }
        try await change { ($0[1].content, $0[1].isComplete) = ("Answer [source]", true) }
        if isInterrupted { try await reply.interrupt() } else { try await reply.finish() }
        (shownEntry.content, shownEntry.isComplete) = ("Answer", true)
        try await save([question, shownEntry], by: ui)
        #expect(try await text(entries()) == ["question", "Answer [source]"])
    }
}
