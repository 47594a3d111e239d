import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Reads, saves, moves and deletions called while others run, and sessions read as missing.
extension EntryChangesTests {
    @Test("After overlapping saves of an entry, a save leaves the changes of another window", arguments: [false, true])
    @MainActor
    func overlapping(isRemoval: Bool) async throws {
        let ui = window()
        var transcript = ["question", "One"].map { ChatMessage(role: .user, content: $0) }
        var saves: [Task<Void, any Error>] = []
        for text in ["One", "One two", "One two three"] {
            transcript[1].content = text
            saves.append(Task { [transcript] in try await save(transcript, by: ui) })
        }
        for save in saves { try await save.value }
        try await change { entries in
            if isRemoval { entries.removeLast() } else { entries[1].content = "edited" }
        }
        try await save(transcript + [ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()) == (isRemoval ? ["question", "next"] : ["question", "edited", "next"]))
    }

    @Test("A read returned during a merge leaves both sessions known", arguments: ["a", "b"])
    func readDuringMerge(id: String) {
        let known = KnownTranscripts()
        let messages = ["a", "b"].map { ConversationMessage(id: UUID().uuidString, role: .user, text: $0) }
        func read(_ index: Int) -> Transcript { Transcript([AgentMessage(agentId: "", message: messages[index])]) }
        for (index, id) in ["a", "b"].enumerated() {
            #expect(known.note(read(index), of: id, since: known.lastCall, lastMove: 0, isLast: false))
        }
        let before = known.lastCall
        let move = known.beginCall(on: ["a", "b"])
        let own = id == "a" ? 0 : 1
        #expect(!known.note(read(own), of: id, since: before, lastMove: 0, isLast: true))
        known.merge("a", into: "b", replies: [], found: [:], call: move)
        known.endCall(move, on: ["a", "b"])
        let merged = known.entries(of: "b")
        let next = read(1 - own).entries
        #expect(merged.entries.ids.count == 2)
        #expect(merged.removals(TranscriptDifference(from: merged.base, to: next).removed, from: next).isEmpty)
    }

    @Test("A read by another task during saves is not the base of a save of other entries")
    func readByAnotherTask() {
        let known = KnownTranscripts()
        func transcript(_ text: String) -> Transcript {
            Transcript([
                AgentMessage(agentId: "", message: ConversationMessage(id: UUID().uuidString, role: .user, text: text))
            ])
        }
        let (old, current, next) = (transcript("old"), transcript("current"), transcript("next"))
        let before = known.lastCall
        let save = known.beginCall(on: ["s"])
        #expect(!known.note(old, of: "s", since: before, lastMove: 0, isLast: true))
        let difference = TranscriptDifference(from: .whole([]), to: current.entries)
        known.note(difference, SaveTranscriptOperation.Outcome(), of: "s")
        known.endCall(save, on: ["s"])
        let call = known.beginCall(on: ["s"])
        #expect(known.entries(of: "s", beforeCall: call, saving: next.entries).base.ids == current.entries.map(\.id))
    }

    @Test("A read of a missing session leaves the waiting read known")
    func missingAfterRead() {
        let known = KnownTranscripts()
        let message = AgentMessage(
            agentId: "", message: ConversationMessage(id: UUID().uuidString, role: .user, text: "one"))
        let (read, before) = (Transcript([message]), known.lastCall)
        let save = known.beginCall(on: ["s"])
        #expect(!known.note(read, of: "s", since: before, lastMove: 0, isLast: true))
        known.endCall(save, on: ["s"])
        #expect(known.note(nil, of: "s", since: known.lastCall, lastMove: 0, isLast: false))
        #expect(known.entries(of: "s").entries.ids == read.entries.map(\.id))
        #expect(known.entries(of: "s").base.ids.isEmpty)
    }

    @Test("A waiting read leaves the saves after it known, and its messages moved into a branch")
    func savedAfterRead() throws {
        let known = KnownTranscripts()
        let messages = ["old", "shown"].map { ConversationMessage(id: UUID().uuidString, role: .user, text: $0) }
        let read = Transcript(
            messages.map { AgentMessage(agentId: "", message: $0) },
            sequences: [SequenceNumber(rawValue: 1), SequenceNumber(rawValue: 2)])
        let before = known.lastCall
        let save = known.beginCall(on: ["s"])
        #expect(!known.note(read, of: "s", since: before, lastMove: 0, isLast: true))
        let next = ChatMessage(role: .user, content: "next")
        var saved = read.entries + [next]
        saved[0].content = "new"
        known.note(
            TranscriptDifference(from: .whole(read.entries), to: saved), SaveTranscriptOperation.Outcome(), of: "s")
        known.note(BranchChange(moved: [SequenceNumber(rawValue: 2)]), in: "s")
        known.endCall(save, on: ["s"])
        let call = known.beginCall(on: ["s"])
        let entries = known.entries(of: "s", beforeCall: call, saving: saved)
        let difference = TranscriptDifference(from: entries.base, to: saved)
        #expect(difference.unchanged == Set(saved.map(\.id)))
        #expect(TranscriptDifference(from: entries.base, to: read.entries).unchanged == Set(read.entries.map(\.id)))
        // The window may not show the saved entry, and another one may have restored the branch.
        #expect(entries.removals(saved.map(\.id), from: []) == [saved[0].id])
    }

    @Test("A save called before a read returned does not remove what the read has found", arguments: [false, true])
    @MainActor
    func readNotSeen(isEdit: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        try await save([question], by: ui)
        if isEdit {
            try await change { $0[0].content = "edited" }
        } else {
            try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        }
        let read = Task { try await ui.getSession(id: "s")?.messages }
        let next = ChatMessage(role: .user, content: "next")
        let save = Task { try await self.save([question, next], by: ui) }
        let transcript = try #require(try await read.value)
        try await save.value
        let texts = isEdit ? ["edited", "next"] : ["answer", "next", "question"]
        #expect(try await text(entries()).sorted() == texts)
        // The UI shows the read, which has the save, and removes the first entry.
        #expect(text(transcript).sorted() == texts)
        try await self.save(Array(transcript.dropFirst()), by: ui)
        #expect(try await text(entries()) == text(Array(transcript.dropFirst())))
    }

    @Test("A save called with a rename before a read returned removes nothing that the read has found")
    @MainActor
    func renamedBeforeRead() async throws {
        let ui = window()
        let transcript = ["question", "next"].map { ChatMessage(role: .user, content: $0) }
        try await save(Array(transcript.prefix(1)), by: ui)
        try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        let read = Task { try await ui.getSession(id: "s")?.messages }
        let rename = Task { try await ui.updateSessionId(oldId: "s", newId: "real") }
        let save = Task { try await ui.updateSessionMessages(id: "real", messages: transcript) }
        #expect(try await read.value.map { text($0).sorted() } == ["answer", "next", "question"])
        try await rename.value
        try await save.value
        let saved = try #require(try await window().getSession(id: "real")).messages
        #expect(text(saved).sorted() == ["answer", "next", "question"])
    }

    @Test("A read does not count as shown for a waiting save if a later call is canceled", arguments: [false, true])
    @MainActor
    func canceledLaterCall(isMove: Bool) async throws {
        let ui = window()
        let transcript = ["question", "next", "later"].map { ChatMessage(role: .user, content: $0) }
        try await save(Array(transcript.prefix(1)), by: ui)
        try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        let read = Task { try await ui.getSession(id: "s")?.messages }
        let next = Task { try await self.save(Array(transcript.prefix(2)), by: ui) }
        let later = Task {
            if isMove {
                try await ui.updateSessionId(oldId: "s", newId: "t")
            } else {
                try await self.save(transcript, by: ui)
            }
        }
        Task { later.cancel() }
        let shown = try #require(try await read.value)
        try await next.value
        await #expect(throws: CancellationError.self) { try await later.value }
        #expect(text(shown).sorted() == ["answer", "next", "question"])
        #expect(try await text(entries()).sorted() == ["answer", "next", "question"])
    }

    @Test("A read of a missing session has the messages saved or moved to it meanwhile", arguments: [false, true])
    @MainActor
    func readOfNew(isMove: Bool) async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        if isMove { try await ui.updateSessionMessages(id: "temporary", messages: [question]) }
        let read = Task { try await ui.getSession(id: "s")?.messages ?? [] }
        let write = Task {
            if isMove {
                try await ui.updateSessionId(oldId: "temporary", newId: "s")
            } else {
                try await self.save([question], by: ui)
            }
        }
        let shown = try await read.value
        try await write.value
        #expect(text(shown) == ["question"])
        try await save(shown + [ChatMessage(role: .user, content: "next")], by: ui)
        #expect(try await text(entries()) == ["question", "next"])
    }

    @Test("A read with a save called during each attempt removes nothing that its window lacks")
    @MainActor
    func readDuringSaves() async throws {
        let ui = window()
        var transcript = (0..<50).map { ChatMessage(role: .user, content: "\($0)") }
        try await save(transcript, by: ui)
        var sent: [String] = []
        for round in 0..<5 {
            var saves: [Task<Void, any Error>] = []
            let saving = Task {
                for number in 0..<100 where !Task.isCancelled {
                    saves.append(
                        Task {
                            // The window adds the message and calls the save at once.
                            transcript.append(ChatMessage(role: .user, content: "\(round) \(number)"))
                            sent.append("\(round) \(number)")
                            try await self.save(transcript, by: ui)
                        })
                    await Task.yield()
                }
            }
            transcript = try #require(try await ui.getSession(id: "s")).messages
            saving.cancel()
            await saving.value
            for save in saves { try await save.value }
            transcript.append(ChatMessage(role: .user, content: "\(round) next"))
            try await save(transcript, by: ui)
            #expect(try await Set(text(entries())).isSuperset(of: sent + ["\(round) next"]))
        }
    }

    @Test("A read during a save and a move is shown under the new ID, and its window can edit and remove it")
    @MainActor
    func movedDuringRead() async throws {
        let ui = window()
        let question = ChatMessage(role: .user, content: "question")
        let next = ChatMessage(role: .user, content: "next")
        try await save([question], by: ui)
        try await history.append([ConversationMessage(role: .assistant, text: "answer")], to: Self.scope)
        let read = Task { try await ui.getSession(id: "s") }
        let save = Task { try await self.save([question, next], by: ui) }
        let move = Task { try await ui.updateSessionId(oldId: "s", newId: "t") }
        let shown = try #require(try await read.value)
        try await save.value
        try await move.value
        #expect(shown.id == "t" && text(shown.messages).sorted() == ["answer", "next", "question"])
        try await ui.updateSessionMessages(id: "t", messages: shown.messages.filter { $0.content != "answer" })
        let saved = try #require(try await window().getSession(id: "t")).messages
        #expect(text(saved) == ["question", "next"])
        let deleted = Task { try await ui.getSession(id: "t") }
        let other = Task { try await ui.updateSessionMessages(id: "t", messages: saved) }
        let deletion = Task { try await ui.deleteSession(id: "t") }
        #expect(try await deleted.value == nil)
        try await other.value
        try await deletion.value
    }

    @Test("A window that did not find its session leaves the changes of others after the session came back")
    func missing() async throws {
        let ui = window()
        var transcript = ["question", "answer"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await window().discard("s")
        #expect(try await ui.getSession(id: "s") == nil)
        try await window().restore("s")
        try await change { $0[1].content = "edited" }
        transcript.append(ChatMessage(role: .user, content: "next"))
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["question", "edited", "next"])
        // A deleted session is saved as a whole.
        try await window().deleteSession(id: "s")
        #expect(try await ui.getSession(id: "s") == nil)
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["question", "answer", "next"])
    }

    @Test("A read of a deleted session does not bring back its entries by a save called before")
    @MainActor
    func readOfDeleted() async throws {
        let ui = window()
        let transcript = ["question", "next"].map { ChatMessage(role: .user, content: $0) }
        try await save(Array(transcript.prefix(1)), by: ui)
        try await window().deleteSession(id: "s")
        let read = Task { try await ui.getSession(id: "s") }
        let save = Task { try await self.save(transcript, by: ui) }
        _ = try await read.value
        try await save.value
        #expect(try await text(entries()) == ["next"])
    }

    @Test("A read called before a deletion and returned after it finds no session", arguments: [false, true])
    @MainActor
    func deletedDuringRead(ofAll: Bool) async throws {
        let ui = window()
        try await save([ChatMessage(role: .user, content: "secret")], by: ui)
        let read = Task { try await ui.getSession(id: "s") }
        let deletion = Task { try await ofAll ? ui.deleteAllSessions() : ui.deleteSession(id: "s") }
        try await deletion.value
        #expect(try await read.value == nil)
    }

    @Test("After a failed deletion, a save leaves the changes of another window", arguments: [false, true])
    func failedDeletion(ofAll: Bool) async throws {
        let ui = window()
        var transcript = ["question", "text", "secret", "last"].map { ChatMessage(role: .user, content: $0) }
        try await save(transcript, by: ui)
        try await change { transcript in
            transcript.remove(at: 2)
            transcript[1].content = "edited"
        }
        let deletion = Task {
            try? await Task.sleep(for: .seconds(60))
            try await ofAll ? ui.deleteAllSessions() : ui.deleteSession(id: "s")
        }
        deletion.cancel()
        await #expect(throws: CancellationError.self) { try await deletion.value }
        transcript.removeLast()
        try await save(transcript, by: ui)
        #expect(try await text(entries()) == ["question", "edited"])
    }
}
