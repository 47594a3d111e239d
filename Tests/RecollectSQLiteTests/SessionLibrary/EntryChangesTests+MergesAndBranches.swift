import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Entries of sessions merged, forked, moved, or cut into branches.
extension EntryChangesTests {
    @Test("The final entry of a reply ended before a merge is saved once", arguments: [false, true])
    func endedBeforeMerge(isOwn: Bool) async throws {
        let ui = window()
        try await history.append(
            [ConversationMessage(role: .user, text: "t")], to: Scope(userId: "ann", sessionId: "t", agentId: "a"))
        var (shownEntry, reply) = try await begin(by: isOwn ? ui : window())
        try await save([shownEntry], by: ui)
        reply.append("Answer")
        try await reply.finish()
        try await ui.updateSessionId(oldId: "s", newId: "t")
        shownEntry.content = "Answer"
        shownEntry.isComplete = true
        try await ui.updateSessionMessages(id: "t", messages: [shownEntry])
        #expect(try await window().getSession(id: "t")?.messages.map(\.content).sorted() == ["Answer", "t"])
    }

    @Test("A transcript older than a fork leaves an edit that the fork has, after the fork is merged back")
    func olderThanMergedFork() async throws {
        let ui = window()
        var transcript = ["one", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await change { $0[1].content = "edited" }
        try await ui.fork("s", at: transcript[1].id, into: "f")
        _ = try await ui.getSession(id: "f")
        try await ui.updateSessionId(oldId: "f", newId: "s")
        transcript.append(ChatMessage(role: .user, content: "next"))
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["one", "edited", "next"])
    }

    @Test(
        "After a merge with its fork, an entry belongs to its part, though another writer has edited it",
        arguments: [false, true])
    func mergedFork(isRemoval: Bool) async throws {
        let ui = window()
        let message = ConversationMessage(
            id: UUID().uuidString, role: .assistant, parts: [.text("A"), .text("B")])
        try await history.append([message], to: Self.scope)
        var transcript = try #require(try await ui.getSession(id: "s")).messages
        let fork = SessionKey(userId: "ann", sessionId: "t")
        try await history.fork(Self.session, at: message.id, agentId: "a", into: "t")
        var (ours, theirs) = (message, message)
        theirs.parts[0] = .text("A of t")
        _ = try await history.edit([theirs], in: fork)
        ours.parts[1] = .text("B of s")
        _ = try await history.edit([ours], in: Self.session)
        try await ui.updateSessionId(oldId: "s", newId: "t")
        if isRemoval { transcript.remove(at: 1) } else { transcript[1].isError = true }
        try await ui.updateSessionMessages(id: "t", messages: transcript)
        let entries = try #require(try await window().getSession(id: "t")).messages
        #expect(entries.contains { $0.content == "B" && !$0.isError })
        #expect(entries.contains { $0.content == "B of s" && $0.isError } == !isRemoval)
    }

    @Test("A window that merges another session into its own knows its entries")
    func mergedIntoShown() async throws {
        let ui = window()
        let transcript = ["t1", "t2", "t3", "t4"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await ui.updateSessionMessages(id: "r", messages: [ChatMessage(role: .user, content: "r1")])
        try await ui.updateSessionId(oldId: "r", newId: "s")
        try await change {
            $0.removeAll { $0.content == "t3" }
            if let index = $0.firstIndex(where: { $0.content == "t2" }) { $0[index].content = "edited" }
        }
        try await save(Array(transcript[0...2]), by: ui)
        #expect(try await text(entries()) == ["r1", "t1", "edited"])
    }

    /// Merges `s`, known with two entries, into `t`, where another writer has saved a message.
    private func merged(by ui: SQLiteSessionStorage, shows: Bool = false) async throws -> [ChatMessage] {
        let own = ["q", "x"].map { ChatMessage(role: .user, content: $0) }
        try await save(own, by: ui)
        let note = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "note")
        try await history.append([note], to: Scope(userId: "ann", sessionId: "t", agentId: "a"))
        if shows { _ = try await ui.getSession(id: "t") }
        try await ui.updateSessionId(oldId: "s", newId: "t")
        return own
    }

    @Test("After a merge with a session never shown, all entries can be removed")
    func mergedIntoUnknown() async throws {
        let ui = window()
        _ = try await merged(by: ui)
        try await ui.updateSessionMessages(id: "t", messages: [])
        #expect(try await text(#require(try await window().getSession(id: "t")).messages) == ["note"])
    }

    @Test("After a merge, all entries can be removed once a transcript had entries of both sessions")
    func mergedAndShown() async throws {
        let ui = window()
        let own = try await merged(by: ui, shows: true)
        let note = try #require(try await window().getSession(id: "t")).messages.filter { $0.content == "note" }
        try await ui.updateSessionMessages(id: "t", messages: note + own)
        try await ui.updateSessionMessages(id: "t", messages: [ChatMessage(role: .user, content: "new")])
        #expect(try await text(#require(try await window().getSession(id: "t")).messages) == ["new"])
    }

    @Test(
        "After a merge with a session read as missing, saves write and remove the entries of the other",
        arguments: [false, true])
    func mergedWithMissing(isTarget: Bool) async throws {
        let ui = window()
        let own = ["one", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(own, by: ui)
        if isTarget {
            try await window().deleteSession(id: "s")
            #expect(try await ui.getSession(id: "s") == nil)
            try await history.append([ConversationMessage(role: .user, text: "note")], to: Self.scope)
        }
        try await ui.updateSessionMessages(id: "r", messages: [ChatMessage(role: .user, content: "other")])
        if !isTarget {
            try await window().discard("r")
            #expect(try await ui.getSession(id: "r") == nil)
        }
        try await ui.updateSessionId(oldId: "r", newId: "s")
        try await save(isTarget ? own : [own[1]], by: ui)
        #expect(try await text(entries()).sorted() == (isTarget ? ["note", "one", "other", "two"] : ["other", "two"]))
    }

    @Test("After a read of a missing session and a merge, edits by others stay", arguments: [false, true])
    func editedAfterMissing(isTarget: Bool) async throws {
        let ui = window()
        var transcript = ["one", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await window().discard("s")
        #expect(try await ui.getSession(id: "s") == nil)
        try await window().restore("s")
        try await change { $0[1].content = "edited" }
        try await ui.updateSessionMessages(id: "r", messages: [ChatMessage(role: .user, content: "other")])
        try await ui.updateSessionId(oldId: isTarget ? "r" : "s", newId: isTarget ? "s" : "r")
        transcript.append(ChatMessage(role: .user, content: "next"))
        let id = isTarget ? "s" : "r"
        try await ui.updateSessionMessages(id: id, messages: transcript)
        let saved = try #require(try await window().getSession(id: id)).messages
        #expect(text(saved).sorted() == ["edited", "next", "one", "other"])
    }

    @Test("The end of a reply during a move of its session is known", arguments: [false, true], [false, true])
    func endedDuringMove(isBefore: Bool, isMerge: Bool) {
        let known = KnownTranscripts()
        let reply = ConversationMessage(id: UUID().uuidString, role: .assistant, text: "Hello")
        for id in isMerge ? ["s", "t"] : ["s"] {
            _ = known.note(Transcript([]), of: id, since: known.lastCall, lastMove: 0, isLast: false)
        }
        let move = known.beginCall(on: ["s", "t"])
        // The reply ends under the new ID before the move is noted, or under the old ID after it.
        if isBefore { known.note(ended: reply, in: "t") }
        if isMerge {
            known.merge("s", into: "t", replies: [], found: [:], call: move)
        } else {
            known.rename("s", to: "t", call: move)
        }
        known.endCall(move, on: ["s", "t"])
        if !isBefore { known.note(ended: reply, in: "s") }
        #expect(known.entries(of: "t").isEnd(reply.chatMessages()[0]))
        known.note(ended: reply.with(id: "later"), in: "unknown")
        #expect(known.entries(of: "unknown").entries.ids.isEmpty)
    }

    @Test("Messages moved into a branch by a restored one stay after another window has restored theirs")
    func movedByRestoredBranch() async throws {
        let ui = window()
        let (question, first) = (
            ChatMessage(role: .user, content: "q"), ChatMessage(role: .assistant, content: "first")
        )
        try await save([question, first], by: ui)
        let branch = try await ui.branch("s", from: first.id)
        try await save([question, ChatMessage(role: .assistant, content: "second")], by: ui)
        try await ui.restoreBranch(branch, in: "s")
        try await window().restoreBranch(window().branches(of: "s")[0].id, in: "s")
        try await save([question, first, ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()).sorted() == ["first", "next", "q", "second"])
    }

    @Test("Messages moved into a branch behind an entry of another window stay when they are back")
    func movedBehindUnknown() async throws {
        let ui = window()
        let transcript = ["q", "last"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await change { $0.insert(ChatMessage(role: .assistant, content: "between"), at: 1) }
        let page = try await ui.messages(in: "s", page: PageRequest(limit: 10, before: nil)).elements
        let branch = try await ui.branch("s", from: page[1].id)
        try await window().restoreBranch(branch, in: "s")
        try await save([transcript[0], ChatMessage(role: .assistant, content: "new")], by: ui)
        #expect(try await text(entries()).sorted() == ["between", "last", "new", "q"])
    }

    @Test("A branch leaves an entry shown behind its first one that another window has moved before it")
    func movedBeforeBranch() async throws {
        let (ui, other) = (window(), window())
        let question = ChatMessage(role: .user, content: "q")
        try await save([question], by: other)
        let (shownEntry, reply) = try await begin(by: other)
        let next = ChatMessage(role: .user, content: "next")
        try await save([question, shownEntry, next], by: other)
        reply.append("answer")
        try await reply.finish()
        let shown = try #require(try await ui.getSession(id: "s")).messages
        #expect(text(shown) == ["q", "next", "answer"])
        let later = ChatMessage(role: .user, content: "later")
        try await save([question, shown[2], next, later], by: other)
        try await ui.branch("s", from: next.id)
        try await save([question, ChatMessage(role: .user, content: "edited")], by: ui)
        #expect(try await text(entries()).sorted() == ["answer", "edited", "q"])
    }

    @Test("Messages that the window itself has restored from a branch can be removed", arguments: [false, true])
    func removedAfterRestore(isFlipped: Bool) async throws {
        let ui = window()
        let transcript = ["q", "first"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        let branch = try await ui.branch("s", from: transcript[1].id)
        let second = ChatMessage(role: .user, content: "second")
        if isFlipped { try await save([transcript[0], second], by: ui) }
        try await ui.restoreBranch(branch, in: "s")
        if isFlipped { try await ui.restoreBranch(ui.branches(of: "s")[0].id, in: "s") }
        try await save([transcript[0]], by: ui)
        #expect(try await text(entries()) == ["q"])
    }

    @Test("The end of a reply in a session with the earlier ID of a moved one is its own")
    func endedUnderEarlierID() async throws {
        let ui = window()
        try await save([ChatMessage(role: .user, content: "question")], by: ui)
        try await ui.updateSessionId(oldId: "s", newId: "t")
        var (shownEntry, reply) = try await begin(by: ui)
        reply.append("Answer")
        try await reply.finish()
        (shownEntry.content, shownEntry.isComplete) = ("Answer", true)
        try await ui.updateSessionMessages(id: "t", messages: [shownEntry])
        #expect(try await text(#require(window().getSession(id: "t")).messages) == ["Answer"])
    }

    @Test("The end of a reply is known though its session was moved by a call during the beginning")
    @MainActor
    func endedAfterEarlyMove() async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        var shownEntry = ChatMessage(role: .assistant, content: "", isComplete: false)
        let begin = Task { try await ui.beginReply(in: "s", shownEntry) }
        let move = Task { try await ui.updateSessionId(oldId: "s", newId: "t") }
        let reply = try await begin.value
        try await move.value
        let buffer = try #require(Mirror(reflecting: reply).descendant("writing"))
        let writer = try #require(Mirror(reflecting: buffer).descendant("writer") as? HistoryReplyWriter)
        // The reply ended before the move. The move was noted first.
        var message = reply.message
        message.parts = [.text("Hello")]
        message.isStreaming = false
        _ = try await history.endReply(
            writer.reply, begunIn: Self.scope, as: message, isAppended: true, maxMessages: nil)
        writer.onEnd?([SavedReply(message: message, scope: Self.scope)])
        message.parts = [.text("edited")]
        _ = try await history.edit([message], in: SessionKey(userId: "ann", sessionId: "t"))
        (shownEntry.content, shownEntry.isComplete) = ("Hello", true)
        try await ui.updateSessionMessages(id: "t", messages: [question, shownEntry])
        #expect(try await text(#require(window().getSession(id: "t")).messages) == ["question", "edited"])
    }

    @Test("A reply streaming when its question was moved into a branch is not deleted by later saves")
    func branchedDuringReply() async throws {
        let (ui, other) = (window(), window())
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        let (_, reply) = try await begin(by: other)
        reply.append("answer")
        let transcript = try #require(try await ui.getSession(id: "s")).messages
        let branch = try await ui.branch("s", from: question.id)
        try await reply.finish()
        let next = ChatMessage(role: .user, content: "next")
        try await save(transcript + [next], by: ui)
        try await save([next], by: ui)
        let moved = try await history.messages(of: branch, agentId: nil, page: PageRequest(limit: 9)).elements
        #expect(moved.map(\.message.text) == ["question", "answer"])
    }

    @Test("An entry saved again after it was moved into a branch can be removed", arguments: [false, true])
    func branchedAndSaved(isRestored: Bool) async throws {
        let ui = window()
        var transcript = ["question", "two"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        let branch = try await ui.branch("s", from: transcript[1].id)
        if isRestored {
            try await ui.restoreBranch(branch, in: "s")
        } else {
            transcript[1].content = "edited"
        }
        try await save(transcript + [ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()) == transcript.map(\.content) + ["next"])
        try await save(Array(transcript.prefix(1)), by: ui)
        #expect(try await text(entries()) == ["question"])
    }

    @Test("After a save of one of two merged sessions, the entries of the other are known", arguments: [false, true])
    func mergedAndHidden(isRemoval: Bool) async throws {
        let ui = window()
        let own = ["s1", "s2"].map { ChatMessage(role: .user, content: $0) }
        var other = ["t1", "t2"].map { ChatMessage(role: .user, content: $0) }
        try await ui.updateSessionMessages(id: "r", messages: own)
        try await save(other, by: ui)
        try await ui.updateSessionId(oldId: "r", newId: "s")
        other[1].content = "t2, more"
        try await save(other, by: ui)
        try await change { transcript in
            guard let index = transcript.firstIndex(where: { $0.content == "s2" }) else { return }
            if isRemoval { transcript.remove(at: index) } else { transcript[index].content = "edited" }
        }
        try await save(own + other, by: ui)
        #expect(try await text(entries()).sorted() == (isRemoval ? [] : ["edited"]) + ["s1", "t1", "t2, more"])
        try await save(other, by: ui)
        #expect(try await text(entries()) == ["t1", "t2, more"])
    }
}
