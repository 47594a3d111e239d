import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Messages of several agents under one ID, and messages assigned to an agent.
extension ChatsAreaTests {
    @Test("chat-projection: devices with one message of several agents settle")
    func sharedByAgents() async throws {
        // The agents of each device.
        let agents = [["b"], ["a"], ["a", "b"]]
        var devices: [(SharedWorkspace, SQLiteHistoryStore)] = []
        for (number, agents) in agents.enumerated() {
            let workspace = try SharedWorkspace(
                root: folder.root,
                configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("device \(number)")))
            let history = SQLiteHistoryStore.inMemory()
            for agent in agents + ["a", "b"].filter({ !agents.contains($0) }) {
                // The other agent has a message of its own with the ID.
                var own = message("1", agents.contains(agent) ? "same" : "own \(number)")
                if !agents.contains(agent) { own.timestamp += 1 }
                try await history.append([own], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent))
            }
            devices.append((workspace, history))
        }
        var files: [String] = []
        for round in 0..<4 {
            for (workspace, history) in devices {
                try await workspace.chats.synchronize(id, with: history)
                if round > 1 { files.append(try await workspace.read(path).text) }
            }
        }
        #expect(Set(files).count == 1)
        for (number, (_, history)) in devices.enumerated() {
            let texts = try await texts(history)
            #expect(Set(texts) == (agents[number].count == 2 ? ["same"] : ["same", "own \(number)"]))
        }
    }

    @Test("chat-projection: a message of several agents reaches all of them, and a different copy stays as it is")
    func agents() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func scope(_ agent: String) -> Scope { Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        for agent in ["a", "b"] { try await history.append([message("1", "common")], to: scope(agent)) }
        try await history.append([message("2", "of a")], to: scope("a"))
        try await history.append([message("2", "of b")], to: scope("b"))
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.count == 3)
        for agent in ["a", "b"] {
            #expect(try await other.message("1", in: id, agentId: agent)?.message.text == "common")
        }
        #expect(try await elsewhere.chats.synchronize(id, with: other).new.isEmpty)
        try await other.edit([message("1", "changed"), message("2", "changed")], in: id)
        try await elsewhere.chats.synchronize(id, with: other)
        try await workspace.chats.synchronize(id, with: history)
        for agent in ["a", "b"] {
            #expect(try await history.message("1", in: id, agentId: agent)?.message.text == "changed")
        }
        #expect(try await history.message("2", in: id, agentId: "a")?.message.text == "changed")
        #expect(try await history.message("2", in: id, agentId: "b")?.message.text == "of b")
        #expect(try await workspace.chats.synchronize(id, with: history).new.isEmpty)
    }

    @Test("chat-projection: a message is assigned to an agent on one device, and not copied on the other")
    func assigned() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        let unassigned = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "")
        try await history.append([message("1", "one")], to: unassigned)
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.append(
            [message("1", "one")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "a"),
            options: AppendOptions(claimsUnassigned: true))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: history)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await workspace.chats.read("Moby Dick")?.messages.map(\.agentId) == ["a"])
        #expect(try await [texts(history), texts(other)] == [["one"], ["one"]])
    }

    @Test("chat-projection: another agent's earlier text is not taken for an edit")
    func earlierTextOfAnotherAgent() async throws {
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func scope(_ agent: String) -> Scope { Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        func synchronizeBoth() async throws {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: history)
                try await elsewhere.chats.synchronize(id, with: other)
            }
        }
        for agent in ["a", "b"] { try await history.append([message("1", "hello")], to: scope(agent)) }
        try await synchronizeBoth()
        let branch = try await history.branch(id, from: "1", agentId: "b")
        try await synchronizeBoth()
        try await history.edit([MessageEdit(of: message("1", "hello"), to: message("1", "hello, ann"))], in: id)
        try await synchronizeBoth()
        try await history.restoreBranch(branch, in: id)
        try await synchronizeBoth()
        for (old, new) in [("hello, ann", "hello, ann and bert"), ("hello, ann and bert", "hello, all")] {
            let edited = try await history.edit([MessageEdit(of: message("1", old), to: message("1", new))], in: id)
            try #require(edited.count == 1)
            try await synchronizeBoth()
            #expect(try await Set(published()) == [new])
            #expect(try await history.message("1", in: id, agentId: "a")?.message.text == new)
            #expect(try await other.message("1", in: id, agentId: "a")?.message.text == new)
        }
    }

    @Test("chat-projection: a deletion elsewhere does not apply to another agent's message of the same ID")
    func deletedElsewhereOfOthers() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        try await other.append([message("1", "of b")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
        try await elsewhere.chats.synchronize(id, with: other)
        try await history.deleteMessages(["1", "2"], in: id)
        try await workspace.chats.synchronize(id, with: history)
        let deleted = try await elsewhere.chats.synchronize(id, with: other).deletedElsewhere
        #expect(deleted.map(\.text) == ["1", "2"])
        #expect(try await other.delete(deleted, in: id) == deleted)
        #expect(try await texts(other) == ["of b"])
    }

    @Test("chat-projection: a message deleted elsewhere does not return because another agent's message has its ID")
    func othersAddedAgain() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1", "2")
        let scope = Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b")
        try await history.append([message("2", "of b")], to: scope)
        _ = try await other.branch(id, from: "2")
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
            try await history.delete([message("2", "of b")], in: id)
            try await history.append([message("2", "new of b")], to: scope)
        }
        try await elsewhere.chats.synchronize(id, with: other)
        #expect(try await [texts(history), texts(other)] == [["1", "2", "new of b"], ["1"]])
    }

    @Test("chat-projection: when one agent's copy of an ID expires, another agent's message replaces no text")
    func expiredCopy() async throws {
        let store = SQLiteHistoryStore(
            directory: folder.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(retention: .window))
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        func append(_ id: String, _ text: String, to agent: String) async throws {
            try await store.append(
                [message(id, text)], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent),
                options: AppendOptions(maxMessages: 2))
        }
        try await append("1", "first of a", to: "a")
        try await append("1", "first of b", to: "b")
        for round in 2...4 {
            for _ in 0..<2 {
                try await workspace.chats.synchronize(id, with: store)
                try await elsewhere.chats.synchronize(id, with: other)
            }
            try await append("\(round)", "\(round)", to: "a")
        }
        #expect(try await texts(other).contains("first of a"))
        #expect(try await store.message("1", in: id, agentId: "b")?.message.text == "first of b")
        #expect(try await store.message("1", in: id, agentId: "a") == nil)
        #expect(try await keptVersions().isEmpty)
        await store.close()
    }

    @Test("chat-projection: of messages of several agents with one ID, none replaces another one")
    func agentsWithOneID() async throws {
        func append(_ text: String, to agent: String, in session: String = "Moby Dick", adopts: Bool = false)
            async throws
        {
            try await history.append(
                [message("1", text)], to: Scope(userId: "ann", sessionId: session, agentId: agent),
                options: AppendOptions(claimsUnassigned: adopts))
        }
        func both() async throws -> [String] {
            try await stored().filter { $0.message.id == "1" }.map { "\($0.agentId): \($0.message.text)" }.sorted()
        }
        // The message of b is moved to a position before that of a.
        try await append("question to a", to: "a")
        try await workspace.chats.synchronize(id, with: history)
        try await append("question to b", to: "b", in: "draft")
        try await history.moveSession(SessionKey(userId: "ann", sessionId: "draft"), to: "Moby Dick")
        #expect(try await stored().map(\.agentId) == ["b", "a"])
        for _ in 0..<2 {
            #expect(try await workspace.chats.synchronize(id, with: history).edited.isEmpty)
            #expect(try await both() == ["a: question to a", "b: question to b"])
        }
        // The published message is edited.
        try await history.edit([MessageEdit(of: message("1", "question to a"), to: message("1", "edited"))], in: id)
        try await workspace.chats.synchronize(id, with: history)
        #expect(try await published() == ["edited"])
        #expect(try await both() == ["a: edited", "b: question to b"])
        // On another device, a third agent has a message with the ID.
        let (elsewhere, other) = (try elsewhere(), SQLiteHistoryStore.inMemory())
        try await other.append(
            [message("1", "question to c")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "c"))
        for _ in 0..<2 {
            try await elsewhere.chats.synchronize(id, with: other)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await texts(other) == ["edited", "question to c"])
        #expect(try await both() == ["a: edited", "b: question to b"])
        #expect(try await published() == ["edited"])
        #expect(try await keptVersions().isEmpty)
    }

    @Test(
        "chat-projection: of messages of two agents with one ID, a conflict copy brings neither text to the other agent"
    )
    func agentsWithOneIDInConflict() async throws {
        // Each device publishes its message before the folders meet.
        let apart = try TestFolder()
        let (elsewhere, other) = (
            try SharedWorkspace(
                root: apart.root,
                configuration: WorkspaceConfiguration(stateURL: apart.url.appendingPathComponent("state"))),
            SQLiteHistoryStore.inMemory()
        )
        let scope = { (agent: String) in Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent) }
        try await history.append([message("1", "answer of b")], to: scope("b"))
        try await other.append([message("1", "question to a")], to: scope("a"))
        try await workspace.chats.synchronize(id, with: history)
        try await elsewhere.chats.synchronize(id, with: other)
        try FileManager.default.copyItem(
            at: apart.root.appendingPathComponent(path.description),
            to: folder.root.appendingPathComponent("Chats/Moby Dick.sync-conflict-20261127-101010-ABCDEFG.json"))
        #expect(try await workspace.resolveConflicts().count == 1)
        let file = folder.root.appendingPathComponent(path.description)
        let elsewhereFile = apart.root.appendingPathComponent(path.description)
        for _ in 0..<2 {
            try Data(contentsOf: file).write(to: elsewhereFile)
            try await elsewhere.chats.synchronize(id, with: other)
            try Data(contentsOf: elsewhereFile).write(to: file)
            try await workspace.chats.synchronize(id, with: history)
        }
        #expect(try await published() == ["question to a"])
        for store in [history, other] {
            #expect(try await store.message("1", in: id, agentId: "a")?.message.text == "question to a")
        }
        #expect(try await history.message("1", in: id, agentId: "b")?.message.text == "answer of b")
        #expect(try await keptVersions().contains { $0.contains("answer of b") })
    }

    @Test("chat-projection: another agent's new message with the ID of an expired or lost one is no edit of it")
    func expiredBeforeReuse() async throws {
        let (elsewhere, other) = try await otherDevice(having: "1")
        let agents = { (store: SQLiteHistoryStore) in
            try await store.messages(of: self.id, agentId: nil, page: PageRequest(limit: 9)).elements
                .filter { $0.message.id == "1" }.map { "\($0.agentId): \($0.message.text)" }.sorted()
        }
        // The history is lost, and begun again by another agent.
        let empty = SQLiteHistoryStore.inMemory()
        try await empty.append([message("1", "of b")], to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: "b"))
        for _ in 0..<2 {
            try await workspace.chats.synchronize(id, with: empty)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await agents(empty) == ["a: 1", "b: of b"])
        #expect(try await agents(other) == ["a: 1"])
        // It expires, and another agent's message comes between two synchronizations.
        let folder = try TemporaryFolder()
        let third = try SharedWorkspace(
            root: workspace.rootURL,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
        let store = SQLiteHistoryStore(
            directory: folder.url.appendingPathComponent("history"),
            configuration: HistoryConfiguration(retention: .window))
        try await third.chats.synchronize(id, with: store)
        #expect(try await agents(store) == ["a: 1"])
        for (number, agent) in [("2", "a"), ("3", "a"), ("4", "a"), ("1", "b")] {
            try await store.append(
                [message(number, "\(number) of \(agent)")],
                to: Scope(userId: "ann", sessionId: "Moby Dick", agentId: agent),
                options: AppendOptions(maxMessages: 2))
        }
        for _ in 0..<2 {
            try await third.chats.synchronize(id, with: store)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await agents(store) == ["b: 1 of b"])
        #expect(try await agents(other) == ["a: 1"])
        // A later edit of it is published.
        try await store.edit([message("1", "edited by b")], in: id)
        for _ in 0..<2 {
            try await third.chats.synchronize(id, with: store)
            try await elsewhere.chats.synchronize(id, with: other)
        }
        #expect(try await agents(store) == ["b: edited by b"])
        #expect(try await agents(other) == ["a: 1", "b: edited by b"])
        #expect(try await keptVersions().isEmpty)
        await store.close()
    }

    @Test("chat-projection: of several agents' messages, the deleted one is published if it comes back")
    func returnedCopy() {
        let (own, others) = (message("1", "of a"), message("1", "of b"))
        var last = SynchronizedChat(
            userId: "ann", chat: ChatProjection(session: "Moby Dick", entries: []), change: ChangeCursor(sequence: 1))
        last.replaced = [ByteString("1"): [ChatRevision(content: own.json).state]]
        let copies = [("b", others), ("a", own)].map { agent, message in
            StoredMessage(agentId: agent, cursor: MessageCursor(position: 0), message: message)
        }.copies(after: last)
        #expect(copies.map(\.message) == [own])
        #expect(copies[0].agents == ["a"])
    }
}
