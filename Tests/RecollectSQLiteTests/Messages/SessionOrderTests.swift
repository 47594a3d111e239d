import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("The order of a session's messages") struct SessionOrderTests {
    private static let session = SessionKey(userId: "ann", sessionId: "s")

    private func message(_ id: String, at time: Int64, _ role: Role = .user) -> ConversationMessage {
        ConversationMessage(id: id, role: role, text: "text of \(id)", timestamp: Date(millisecondsSince1970: time))
    }

    /// Returns the messages of all agents merged by timestamp, without reordering those of an agent.
    private func merged(_ agents: [String: [ConversationMessage]]) -> [String] {
        var rest = agents.mapValues { $0[...] }
        var ids: [String] = []
        while let next = rest.filter({ !$0.value.isEmpty }).min(by: { left, right in
            let (first, second) = (left.value[left.value.startIndex], right.value[right.value.startIndex])
            if first.timestamp != second.timestamp { return first.timestamp < second.timestamp }
            return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }) {
            ids.append(next.value[next.value.startIndex].id)
            rest[next.key] = next.value.dropFirst()
        }
        return ids
    }

    /// Appends the messages of several agents, each agent's in order, in batches of random sizes.
    private func append(
        _ agents: [String: [ConversationMessage]], to history: SQLiteHistoryStore, atMost size: Int = 12,
        using random: inout SeededGenerator
    ) async throws {
        var rest = agents.mapValues { $0[...] }
        while let agent = rest.filter({ !$0.value.isEmpty }).keys.sorted().randomElement(using: &random) {
            let batch = rest[agent]?.prefix(Int.random(in: 1...size, using: &random)) ?? []
            try await history.append(Array(batch), to: Self.session.scope(agentId: agent))
            rest[agent] = rest[agent]?.dropFirst(batch.count)
        }
    }

    private func randomAgents(using random: inout SeededGenerator) -> [String: [ConversationMessage]] {
        var agents: [String: [ConversationMessage]] = [:]
        for agent in ["", "claude", "a93", "Z", "\u{E9}"].prefix(Int.random(in: 2...5, using: &random)) {
            var time = Int64.random(in: 0...200, using: &random)
            agents[agent] = (0..<Int.random(in: 1...60, using: &random)).map { index in
                // Mostly forward, with equal times and steps back.
                time += Int64.random(in: -15...40, using: &random)
                return message("\(agent)\(index)", at: time, index.isMultiple(of: 2) ? .user : .assistant)
            }
        }
        return agents
    }

    private func ids(_ history: SQLiteHistoryStore) async throws -> [String] {
        try await ids(of: Self.session, history)
    }

    private func ids(of session: SessionKey, _ history: SQLiteHistoryStore) async throws -> [String] {
        try await history.messages(of: session, agentId: nil, page: PageRequest(limit: 10_000)).elements.map(
            \.message.id)
    }

    @Test("Appends in any order give the order of fetchAllChats, and the same session", arguments: 1...30)
    func anyOrder(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let agents = randomAgents(using: &random)
        var details: Set<[String]> = []
        for _ in 0..<3 {
            let history = memory()
            try await append(agents, to: history, using: &random)
            #expect(try await ids(history) == merged(agents))
            let storage = DeviceChatStorage(history: history, userId: "ann")
            #expect(try await storage.fetchAllChats(userId: "ann", sessionId: "s").map(\.id) == merged(agents))
            for (agent, messages) in agents {
                #expect(try await history.window(of: Self.session.scope(agentId: agent), maxMessages: nil) == messages)
            }
            let session = try #require(try await history.session(Self.session))
            details.insert([session.preview, "\(session.createdAt.millisecondsSince1970)"] + session.agentIds)
            #expect(try await history.check().problems.isEmpty)
        }
        #expect(details.count == 1)
    }

    @Test("Thousands of messages fit between two, one at a time, and windows stay", arguments: [1, 40])
    func between(size: Int) async throws {
        let history = memory()
        let main = Self.session.scope(agentId: "main")
        try await history.append((0..<40).map { message("m\($0)", at: Int64($0) * 1_000_000) }, to: main)
        try await history.append([], to: main, options: AppendOptions(maxMessages: 20))
        let window = try await history.window(of: main, maxMessages: nil)
        #expect(window.first?.id == "m20")
        let added = (0..<3000).map { message("s\($0)", at: 19_500_000 + Int64($0)) }
        for start in stride(from: 0, to: added.count, by: size) {
            let batch = Array(added[start..<min(start + size, added.count)])
            try await history.append(batch, to: Self.session.scope(agentId: "sub"))
        }
        let order = (0..<20).map { "m\($0)" } + added.map(\.id) + (20..<40).map { "m\($0)" }
        #expect(try await ids(history) == order)
        #expect(try await history.window(of: main, maxMessages: nil) == window)
        #expect(try await history.window(of: Self.session.scope(agentId: "sub"), maxMessages: nil) == added)
        try await history.append([message("end", at: 90_000_000)], to: main)
        #expect(try await ids(history) == order + ["end"])
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("Messages cleared from a window stay out of it when a full gap gets room")
    func cleared() async throws {
        let history = memory()
        let sub = Self.session.scope(agentId: "sub")
        try await history.append(
            [message("m0", at: 0), message("m1", at: 9000)], to: Self.session.scope(agentId: "main"))
        var kept: [String] = []
        for index in 0..<500 {
            if index == 190 {
                try await history.append([], to: sub, options: AppendOptions(maxMessages: 0))
                kept = []
            }
            try await history.append([message("s\(index)", at: 500)], to: sub, options: AppendOptions(maxMessages: 10))
            kept = (kept + ["s\(index)"]).suffix(10)
            #expect(try await history.window(of: sub, maxMessages: nil).map(\.id) == kept)
        }
        let kinds = try await history.changes(after: .beginning, limit: 1000).map(\.kind)
        #expect(kinds.contains(.sessionRearranged))
    }

    @Test("An adopted message has the time of its new agent")
    func adoptedTime() async throws {
        let history = memory()
        let (a, b, none) = (
            Self.session.scope(agentId: "a"), Self.session.scope(agentId: "b"), Self.session.scope(agentId: "")
        )
        try await history.append([message("u", at: 900), message("q", at: 100)], to: none)
        try await history.append([message("a0", at: 50)], to: a)
        try await history.append([message("q", at: 100)], to: a, options: AppendOptions(claimsUnassigned: true))
        try await history.append([message("a1", at: 1000)], to: a)
        // The key of q has the time 100 now, so a message of another agent at 950 comes after it.
        try await history.append([message("b0", at: 950)], to: b)
        #expect(try await ids(history) == ["a0", "u", "q", "b0", "a1"])
    }

    @Test("A change of positions is in the feed, and invalidates no cursor silently")
    func rearranged() async throws {
        let history = memory()
        try await history.append(
            (0..<2).map { message("m\($0)", at: Int64($0) * 1000) }, to: Self.session.scope(agentId: "a"))
        for index in 0..<400 {
            try await history.append([message("b\(index)", at: 500)], to: Self.session.scope(agentId: "b"))
        }
        let kinds = try await history.changes(after: .beginning, limit: 1000).map(\.kind)
        #expect(kinds.contains(.sessionRearranged))
        #expect(try await ids(history) == ["m0"] + (0..<400).map { "b\($0)" } + ["m1"])
    }

    @Test("A message with a new date keeps its place, also for messages appended later")
    func edited() async throws {
        let history = memory()
        let (a, b) = (Self.session.scope(agentId: "a"), Self.session.scope(agentId: "b"))
        try await history.append((0..<4).map { message("a\($0)", at: Int64($0) * 100) }, to: a)
        var edit = message("a3", at: 5)
        edit.parts = [.text("new text")]
        try await history.edit([edit], in: Self.session)
        try await history.append([message("b0", at: 250), message("b1", at: 310)], to: b)
        #expect(try await ids(history) == ["a0", "a1", "a2", "b0", "a3", "b1"])
        #expect(try await history.message("a3", in: Self.session)?.message == edit)
    }

    @Test("A message of an earlier time is never placed before the start of its agent's window")
    func trimmed() async throws {
        let history = memory()
        let (a, b) = (Self.session.scope(agentId: "a"), Self.session.scope(agentId: "b"))
        try await history.append([message("a0", at: 0), message("a1", at: 1000)], to: a)
        try await history.append([message("b0", at: 0), message("b1", at: 900)], to: b)
        try await history.append([], to: b, options: AppendOptions(maxMessages: 0))
        try await history.deleteMessages(["b1"], in: Self.session)
        try await history.append([message("b2", at: 10)], to: b)
        #expect(try await history.window(of: b, maxMessages: nil).map(\.id) == ["b2"])
        #expect(try await ids(history) == ["a0", "b0", "b2", "a1"])
    }

    @Test("Adopted and branched messages, forks and merges keep a session in which messages can be placed")
    func afterMoves() async throws {
        let history = memory()
        let (a, b, none) = (
            Self.session.scope(agentId: "a"), Self.session.scope(agentId: "b"), Self.session.scope(agentId: "")
        )
        try await history.append([message("q", at: 100)], to: none)
        try await history.append([message("a1", at: 200, .assistant), message("a2", at: 600)], to: a)
        try await history.append(
            [message("q", at: 100), message("b1", at: 50, .assistant), message("b2", at: 300)], to: b,
            options: AppendOptions(claimsUnassigned: true))
        #expect(try await ids(history) == ["q", "b1", "a1", "b2", "a2"])
        let branch = try await history.branch(Self.session, from: "b2", agentId: "b")
        try await history.append([message("b3", at: 250)], to: b)
        #expect(try await ids(history) == ["q", "b1", "a1", "b3"])
        try await history.restoreBranch(branch, in: Self.session)
        #expect(try await ids(history) == ["q", "b1", "a1", "b2", "a2"])
        try await history.fork(Self.session, at: "b2", agentId: "b", into: "fork")
        let fork = SessionKey(userId: "ann", sessionId: "fork")
        try await history.append([message("a3", at: 250)], to: fork.scope(agentId: "a"))
        #expect(try await ids(of: fork, history) == ["q", "b1", "a1", "a3", "b2"])
        try await history.moveSession(fork, to: "s")
        try await history.append([message("c", at: 150)], to: Self.session.scope(agentId: "c"))
        #expect(try await history.check().problems.isEmpty)
        #expect(try await Set(ids(history)) == ["q", "b1", "a1", "a3", "b2", "a2", "c"])
    }
}
