import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectWorkspace

/// Messages moved into a branch or another session, or expired, without a deletion by a user.
extension ChatsAreaTests {
    @Test("chat-projection: messages moved into a branch are deleted in the file, and restored ones are not")
    func branches() async throws {
        let (elsewhere, other) = try await otherDevice(having: "one", "two")
        let branch = try await history.branch(id, from: "one")
        try await say("retry", in: history)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await texts(history) == ["retry"])
        #expect(try await published() == ["retry"])
        #expect(try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere == [])
        try await other.deleteMessages(["one", "two"], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await texts(other) == ["retry"])

        try await history.restoreBranch(branch, in: id)
        let restored = try await workspace.chats.synchronize(id, with: history)
        #expect(restored.deletedElsewhere.isEmpty)
        #expect(try await published() == ["one", "two"])
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.map(\.message.id) == ["one", "two"])
        #expect(try await texts(other).sorted() == ["one", "retry", "two"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test("chat-projection: a branch undone before the last synchronization is no evidence of a later deletion")
    func earlierEvidence() async throws {
        try await say("one", "two", in: history)
        try await workspace.chats.synchronize(id, with: history)
        let branch = try await history.branch(id, from: "two")
        try await history.restoreBranch(branch, in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(
            try await workspace.chats.lastSynchronized("Moby Dick")?.change.sequence
                == history.latestChangeCursor().sequence)
        // Changes of other sessions are not noted one by one.
        try await history.append([message("x", "x")], to: Scope(userId: "ann", sessionId: "other", agentId: "a"))
        try await workspace.chats.synchronize(id, with: history)
        #expect(
            try await workspace.chats.lastSynchronized("Moby Dick")?.change.sequence
                != history.latestChangeCursor().sequence)
    }

    @Test(
        "chat-projection: messages in a branch, expired, or in another session are not to be deleted elsewhere",
        arguments: ["branch", "expiry", "move", "move into another"])
    func movedElsewhere(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        switch change {
        case "branch": _ = try await other.branch(id, from: "2")
        case "expiry":
            // Not on the other device: it keeps all messages.
            try await other.append(
                [message("new", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
            _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        case "move": try await other.moveSession(id, to: "Moby")
        default:
            let new = Scope(userId: "ann", sessionId: "Moby", agentId: "a")
            try await other.append([message("3", "3")], to: new)
            try await other.moveSession(id, to: "Moby")
        }
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            let published = try await workspace.chats.synchronize(id, with: history)
            #expect(published.deletedElsewhere == [])
            #expect(!published.chat.messages.contains { $0.message.id == "2" })
        }
        #expect(try await texts(history) == ["1", "2"])
        // A deletion by the user still counts.
        try await history.deleteMessages(["2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await workspace.chats.read("Moby Dick")?.deletions[ByteString("2")]?.states.isEmpty == false)
    }

    @Test(
        "chat-projection: a message added again, or another agent's, that leaves the session after a deletion is not to be deleted elsewhere",
        arguments: ["expiry", "window", "branch", "move"], [true, false])
    func leavesAfterDeletion(change: String, isOthers: Bool) async throws {
        let other = SQLiteHistoryStore.inMemory(
            HistoryConfiguration(retention: change == "window" ? .window : .everything))
        let (elsewhere, scope) = (try elsewhere(), Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        for text in ["1", "2"] { try await say(text, in: other) }
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        if isOthers {
            let text = message("1", "of b")
            try await other.append([text], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
            try await other.delete([text], in: id)
        } else {
            try await other.deleteMessages(["1"], in: id)
            try await say("1", in: other)
        }
        switch change {
        case "expiry": _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        case "window":
            let new = ["3", "4"].map { message($0, $0) }
            try await other.append(new, to: scope, options: AppendOptions(maxMessages: 2))
        case "branch": _ = try await other.branch(id, from: "1")
        default: try await other.moveSession(id, to: "Moby")
        }
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history).contains("1"))
    }

    @Test(
        "chat-projection: a message back with its branch or session after a deletion under its ID, which then leaves again, is not to be deleted elsewhere",
        arguments: [true, false], ["expiry", "branch"])
    func backAfterDeletion(isBranch: Bool, change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let moved = SessionKey(userId: "ann", sessionId: "Moby")
        let branch = isBranch ? try await other.branch(id, from: "1") : moved
        if !isBranch { try await other.moveSession(id, to: moved.sessionId) }
        try await other.append([message("1", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        try await other.deleteMessages(["1"], in: id)
        if isBranch {
            try await other.restoreBranch(branch, in: id)
        } else {
            try await other.moveSession(moved, to: id.sessionId)
        }
        if change == "expiry" {
            _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        } else {
            _ = try await other.branch(id, from: "1")
        }
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history).contains("1"))
    }

    @Test("chat-projection: a message that expired before its user was deleted is not to be deleted elsewhere")
    func expiredBeforeUser() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        for isExpired in [true, false] {
            if isExpired { _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10)) }
            try await other.deleteUser("ann")
            let last = try await other.latestChangeCursor()
            try await other.deleteUser("ann")
            #expect(try await other.latestChangeCursor() == last)
            try await elsewhere.chats.synchronize(id, with: other)
            let deleted = try await workspace.chats.synchronize(id, with: history).deletedElsewhere
            #expect(deleted.map(\.text) == (isExpired ? [] : ["3"]))
            if isExpired {
                try await say("3", in: history)
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
                #expect(try await texts(other).contains("3"))
            }
        }
        let changes = try await other.changes(after: .beginning, limit: 10)
        #expect(changes.allSatisfy { $0.session.sessionId == "" })
    }

    @Test(
        "chat-projection: the deletion of another message with the ID of one in a branch, expired, or in another session is not that of the former",
        arguments: ["branch", "move", "expiry"], [true, false])
    func deletionOfAnotherMessage(change: String, synchronizes: Bool) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        switch change {
        case "branch": _ = try await other.branch(id, from: "1")
        case "move": try await other.moveSession(id, to: "Moby")
        default: _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        }
        try await other.append([message("1", "new")], to: scope)
        if synchronizes { try await elsewhere.chats.synchronize(id, with: other) }
        try await other.deleteMessages(["1"], in: id)
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history).contains("1"))
    }

    @Test(
        "chat-projection: a text replaced by another message with its ID is kept beside the file, unless a user deleted it",
        arguments: ["branch", "move", "expiry", "deletion"])
    func idUsedAgain(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a")
        switch change {
        case "branch": _ = try await other.branch(id, from: "1")
        case "move": try await other.moveSession(id, to: "Moby")
        case "expiry": _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        default: try await other.deleteMessages(["1"], in: id)
        }
        try await other.append([message("1", "new")], to: scope)
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await texts(history) == ["new"])
        #expect(try await keptVersions().count == (change == "deletion" ? 0 : 1))
    }

    @Test(
        "chat-projection: an expired message without an agent is not to be deleted elsewhere, although one of its ID was deleted",
        arguments: [true, false])
    func expiredWithoutAgent(isAssigned: Bool) async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func scope(_ agent: String) -> Scope { Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        try await other.append([message("1", "1")], to: scope(""))
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        if isAssigned {
            try await other.deleteMessages(["1"], in: id)
            try await other.append([message("1", "1")], to: scope(""))
            let options = AppendOptions(claimsUnassigned: true)
            try await other.append([message("1", "1")], to: scope("b"), options: options)
        } else {
            try await other.append([message("1", "of b")], to: scope("b"))
            try await other.delete([message("1", "of b")], in: id)
        }
        _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        #expect(try await texts(other) == [])
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
        }
        #expect(try await texts(history) == ["1"])
    }

    @Test(
        "chat-projection: messages that expired before their session was deleted are not to be deleted elsewhere",
        arguments: ["message", "trash", "move"])
    func expiredBeforeDeletion(change: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        switch change {
        case "message": _ = try await other.deleteMessages(olderThan: Date(timeIntervalSince1970: 10))
        case "trash":
            try await other.discardSession(id)
            #expect(try await other.deleteSessions(discardedBefore: .distantFuture) == 1)
        default: try await other.moveSession(id, to: "Moby")
        }
        try await say("new", in: other)
        try await other.deleteSession(id)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
    }

    @Test(
        "chat-projection: a new text under the ID of a message in a branch leaves the other text beside the file elsewhere"
    )
    func newTextAfterExpiry() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        _ = try await other.branch(id, from: "2")
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        try await other.append([message("2", "new")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"))
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await texts(history) == ["1", "new"])
        #expect(try await keptVersions().count { $0.contains("\"2\"") } == 1)
    }

    @Test("chat-projection: an expired session in the trash is not to be deleted elsewhere")
    func expiredInTrash() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        try await other.discardSession(id)
        #expect(try await other.deleteSessions(discardedBefore: .distantFuture) == 1)
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await workspace.chats.synchronize(id, with: history).deletedElsewhere == [])
    }

    @Test("chat-projection: messages that expire from an agent's window do not come back")
    func expired() async throws {
        let store = SQLiteHistoryStore(
            directory: folder.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(retention: .window))
        for number in 1...6 {
            for agent in ["a", "b"] {
                try await store.append(
                    [message("\(number)", "\(number)")],
                    to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent),
                    options: AppendOptions(maxMessages: agent == "a" ? 2 : 4))
                try await workspace.chats.synchronize(id, with: store)
            }
        }
        func window(_ agent: String) async throws -> [String] {
            try await store.window(
                of: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent), maxMessages: nil
            ).map(\.text)
        }
        #expect(try await window("a") == ["5", "6"])
        #expect(try await window("b") == ["3", "4", "5", "6"])
        #expect(try await Set(published()) == ["3", "4", "5", "6"])
        #expect(try await keptVersions().isEmpty)
        await store.close()
    }

    @Test(
        "chat-projection: a branch restored under an ID used again since gets its text back on all devices",
        arguments: ["a", "b"])
    func restoredBeforeReuse(agent: String) async throws {
        let (elsewhere, other) = try await otherDevice(having: "one")
        let branch = try await history.branch(id, from: "one")
        try await history.append(
            [message("one", "other")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent))
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
            }
        }
        try await synchronizeBoth()
        // Another agent's message is another one.
        #expect(try await texts(other) == [agent == "a" ? "other" : "one"])
        try await history.restoreBranch(branch, in: id)
        try await synchronizeBoth()
        #expect(try await history.message("one", in: id, agentId: "a")?.message.text == "one")
        #expect(try await published() == ["one"])
        #expect(try await texts(other) == ["one"])
    }
}
