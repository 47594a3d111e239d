import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectWorkspace

/// Deletions by a user, told to other devices, and messages added again afterward.
extension ChatsAreaTests {
    @Test(
        "chat-projection: a deletion elsewhere does not name a new message, of the same or another agent",
        arguments: ["a", "b"], [(true, "new"), (false, "new"), (true, "three"), (false, "three")])
    func deletedElsewhereBefore(agent: String, change: (failsFirst: Bool, text: String)) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await say("1", "2", in: other)
        try await other.deleteMessages(["1"], in: id)
        try await say("2", in: history)
        for isNoted in [false, true] {
            try await elsewhere.chats.synchronize(id, with: other)
            if isNoted {
                try await other.append(
                    [message("3", "three")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
                try await elsewhere.chats.synchronize(id, with: other)
                try await other.deleteMessages(["3"], in: id)
                try await elsewhere.chats.synchronize(id, with: other)
            }
            try await workspace.chats.synchronize(id, with: history)
        }
        try await history.append(
            [message("3", change.text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent))
        if change.failsFirst { try await synchronizeInVain() }
        for _ in 0..<3 {
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await texts(history) == ["2", change.text])
    }

    @Test("chat-projection: a message that was never saved is kept beside the file if another one of its ID is deleted")
    func deletedInsteadOfPending() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        try await other.append(
            [message("2", "theirs")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await elsewhere.chats.synchronize(id, with: other)
        // The save of the other device's message failed.
        var (published, local) = try await publish()
        local.pending = ChatProjection(
            session: "", title: ChatRevision(content: ByteString("")),
            entries: published.chat.entries.filter { $0.message.id == "2" })
        try workspace.archive.note(synchronized: local.bytes, at: path)
        try await history.append(
            [message("2", "ours")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await history.deleteMessages(["2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await keptVersions().contains { $0.contains("\"theirs\"") })
    }

    @Test("chat-projection: a message edited during the synchronization is not deleted with those deleted elsewhere")
    func editedDuringDeletion() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.deleteMessages(["1", "2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        try await history.edit([message("1", "edited")], in: id)
        #expect(try await history.delete(deleted, in: id).map(\.id) == ["2"])
        #expect(try await texts(history) == ["edited"])
    }

    @Test(
        "chat-projection: a text that the user of another device did not have is not to be deleted, whenever it was written",
        arguments: ["before", "after", "after a branch", "in a restored branch"])
    func otherTextDeletedElsewhere(time: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        func synchronizeOther() async throws { try await elsewhere.chats.synchronize(id, with: other) }
        func deletions() async throws -> [ConversationMessage] {
            let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
            try await history.delete(deleted, in: id)
            return deleted
        }
        func edit() async throws { try await history.edit([message("2", "edited")], in: id) }
        switch time {
        case "before":
            try await edit()
            try await other.deleteMessages(["2"], in: id)
        case "after":
            try await other.deleteMessages(["2"], in: id)
            try await synchronizeOther()
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["2"])
            try await edit()
        default:
            let branch = try await other.branch(id, from: "2")
            try await synchronizeOther()
            _ = try await deletions()
            try await edit()
            _ = try await deletions()
            try await other.restoreBranch(branch, in: id)
            if time == "in a restored branch" { try await synchronizeOther() }
            try await other.deleteMessages(["2"], in: id)
        }
        try await synchronizeOther()
        for _ in 0..<2 {
            #expect(try await deletions() == [])
            try await synchronizeOther()
        }
        #expect(try await texts(history) == ["1", "edited"])
        #expect(try await texts(other) == ["1"])
    }

    @Test(
        "chat-projection: a message added again after its deletion elsewhere was applied returns on all devices",
        arguments: ["2", "another text"])
    func addedAfterDeletionElsewhere(text: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.deleteMessages(["2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        #expect(try await history.delete(deleted, in: id).map(\.id) == ["2"])
        try await history.append([message("2", text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        for _ in 0..<2 {
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
            #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
        }
        #expect(try await [texts(history), texts(other)] == [["1", text], ["1", text]])
    }

    @Test(
        "chat-projection: a message brought back after its deletion elsewhere was applied returns on all devices",
        arguments: ["branch", "session", "session, later"])
    func broughtBack(way: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        func synchronize() async throws -> [ConversationMessage] {
            let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
            try await history.delete(deleted, in: id)
            return deleted
        }
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        // A branch with an earlier text of the message.
        let branch = try await history.branch(id, from: "2")
        try await history.append([message("2", "later")], to: scope)
        _ = try await synchronize()
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.deleteMessages(["2"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try #require(try await synchronize().map(\.text) == ["later"])
        if way == "branch" {
            try await history.restoreBranch(branch, in: id)
        } else {
            try await history.deleteSession(id)
            if way == "session, later" { _ = try await synchronize() }
            try await history.append([message("1", "1"), message("2", "later")], to: scope)
        }
        let text = way == "branch" ? "2" : "later"
        for _ in 0..<2 {
            #expect(try await synchronize() == [])
            #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
        }
        #expect(try await [texts(history), texts(other)] == [["1", text], ["1", text]])
    }

    @Test(
        "chat-projection: the deletion of a message is told to other devices, although an earlier one of its ID came back and left",
        arguments: ["expiry", "branch"])
    func deletedBeforeReturn(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let branch = try await other.branch(id, from: "1")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        try await other.append([message("1", "new")], to: scope)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history).contains("new"))
        try await other.deleteMessages(["1"], in: id)
        try await other.restoreBranch(branch, in: id)
        if change == "expiry" {
            _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        } else {
            _ = try await other.branch(id, from: "1")
        }
        try await elsewhere.chats.synchronize(id, with: other)
        let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
        #expect(deleted.map(\.text) == ["new"])
    }

    @Test(
        "chat-projection: without positions in the history, a deletion of the ID and the agent counts",
        arguments: [true, false])
    func unknownPositions(ofAgent: Bool) async throws {
        try await say("1", in: history)
        try await workspace.chats.synchronize(id, with: history)
        var last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
        #expect(last.additionCursors.count == 1)
        last.additionCursors = [:]
        try workspace.archive.note(synchronized: last.bytes, at: path)
        if ofAgent {
            try await history.deleteMessages(["1"], in: id)
        } else {
            let others = message("1", "of b")
            try await history.append([others], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
            try await history.delete([others], in: id)
            _ = try await history.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        }
        try await workspace.chats.synchronize(id, with: history)
        let deletion = try #require(try await workspace.chats.read("Moby Dick")?.deletions[ByteString("1")])
        #expect(deletion.states.isEmpty == !ofAgent)
    }

    @Test("chat-projection: the positions of messages appended by a synchronization are noted")
    func appendedPositions() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        try await say("2", in: other)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        let stored = try #require(try await history.message("2", in: id, agentId: "a"))
        let last = try #require(try await workspace.chats.lastSynchronized("Moby Dick"))
        #expect(last.additionCursors[ByteString("2")]?[ByteString("a")] == stored.additionCursor)
        // Known also without a synchronization since.
        _ = try await history.branch(id, from: "2")
        try await history.append([message("2", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await history.deleteMessages(["2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
    }

    @Test("chat-projection: messages of a deleted session are to be deleted elsewhere")
    func sessionDeletedElsewhere() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        _ = try await other.branch(id, from: "2")
        try await elsewhere.chats.synchronize(id, with: other)
        try await other.deleteSession(id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["1"])
    }

    @Test("chat-projection: a message deleted before its session moved is to be deleted elsewhere")
    func deletedBeforeMove() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2", "3")
        try await other.deleteMessages(["1", "2"], in: id)
        try await say("2", in: other)
        try await other.moveSession(id, to: "Moby")
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["1"])
    }

    @Test("chat-projection: a message deleted on another device stays deleted there if a branch with it is restored")
    func othersDeletion() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        try await other.deleteMessages(["two"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        let branch = try await history.branch(id, from: "two")
        try await workspace.chats.synchronize(id, with: history)
        try await history.restoreBranch(branch, in: id)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere.map(\.id) == ["two"])
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.isEmpty)
        #expect(try await texts(other) == ["one"])
        // Deleted here, too, and saved again.
        try await history.deleteMessages(["two"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await say("two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await texts(other) == ["one", "two"])

        // The other device still has the text that this one deleted.
        try await history.deleteMessages(["two"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        try await history.append(
            [message("two", "deux")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await texts(other) == ["one", "deux"])
        #expect(try await keptVersions().isEmpty)
    }
}
