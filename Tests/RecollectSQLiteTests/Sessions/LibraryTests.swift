import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Pages of sessions and messages") struct LibraryTests {
    @Test("Any number is a valid limit: the largest returns everything, and zero or less returns one")
    func limits() async throws {
        let history = memory()
        let scope = Scope(userId: "ann", sessionId: "s", agentId: "a")
        try await history.append(messages(0..<5), to: scope)
        for (limit, count) in [(Int.max, 5), (0, 1), (Int.min, 1)] {
            var forward = PageRequest<MessageCursor>(limit: 2)
            forward.limit = limit
            for request in [forward, PageRequest(limit: limit), PageRequest(limit: limit, before: nil)] {
                let page = try await history.messages(of: scope.session, agentId: nil, page: request)
                #expect(page.elements.count == count)
                #expect((page.next == nil) == (count == 5))
            }
            let sessions = try await history.sessions(of: "ann", page: PageRequest(limit: limit))
            #expect(sessions.elements.count == 1)
            var query = SearchQuery(userId: "ann", text: "text")
            query.limit = limit
            #expect(try await history.search(query).elements.count == count)
        }
    }

    @Test("Pages of sessions return each session once, latest first, with any limit and in both directions")
    func sessions() async throws {
        let history = memory()
        for number in 0..<23 {
            let id = Scope(userId: "ann", sessionId: "s\(number)", agentId: "a")
            // Some have the same date.
            let message = ConversationMessage(
                id: "1", role: .user, text: "hello \(number)",
                timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double(number / 3)))
            try await history.append([message], to: id)
        }
        try await history.append(messages(0..<2), to: Scope(userId: "bob", sessionId: "s1", agentId: "a"))
        let all = try await history.sessions(of: "ann", page: PageRequest(limit: 100)).elements
        #expect(all.count == 23)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.lastActivityAt >= $1.lastActivityAt })
        for limit in [1, 2, 7, 23, 24] {
            var forward: [Session] = []
            var cursor: SessionCursor?
            repeat {
                let page = try await history.sessions(of: "ann", page: PageRequest(limit: limit, after: cursor))
                forward += page.elements
                cursor = page.next
            } while cursor != nil
            #expect(forward == all)
            var backward: [Session] = []
            repeat {
                let page = try await history.sessions(of: "ann", page: PageRequest(limit: limit, before: cursor))
                backward = page.elements + backward
                cursor = page.next
            } while cursor != nil
            #expect(backward == all)
        }
    }

    @Test("A session has its counts, agents, preview, dates and details")
    func summary() async throws {
        let history = memory()
        try await history.append(
            [
                ConversationMessage(id: "0", role: .system, text: "rules", timestamp: Date(timeIntervalSince1970: 10)),
                ConversationMessage(
                    id: "1", role: .user,
                    parts: [
                        .attachment(Attachment(mediaType: "a/b", content: .remote(url: "x"))),
                        .text("  What  is\n this? "),
                    ], timestamp: Date(timeIntervalSince1970: 30)),
            ], to: scope)
        try await history.append(
            [ConversationMessage(id: "2", role: .assistant, text: "that", timestamp: Date(timeIntervalSince1970: 20))],
            to: scope.session.scope(agentId: "b"))
        try await history.update(
            scope.session,
            with: SessionDetails(
                title: "T", workingDirectory: "/w", branchName: "main", metadata: ["k": 1, "l": 2]))
        try await history.update(scope.session, with: SessionDetails(metadata: ["k": .null]))
        let session = try #require(try await history.session(scope.session))
        #expect(session.messageCount == 3)
        #expect(session.agentIds == ["a", "b"])
        #expect(session.preview == "What is this?")
        #expect(session.createdAt == Date(timeIntervalSince1970: 10))
        #expect(session.lastActivityAt == Date(timeIntervalSince1970: 30))
        #expect(session.title == "T")
        #expect(session.workingDirectory == "/w")
        #expect(session.branchName == "main")
        #expect(session.metadata == ["l": 2])
    }

    @Test("A prefix of session IDs matches by bytes, and only the user's own sessions")
    func prefixes() async throws {
        let history = memory()
        for session in ["abc1", "abc2", "abd", "ab", "é1", "e\u{301}2"] {
            try await history.append(messages(0..<1), to: Scope(userId: "ann", sessionId: session, agentId: ""))
        }
        try await history.append(messages(0..<1), to: Scope(userId: "bob", sessionId: "abc3", agentId: ""))
        let found = try await history.sessions(of: "ann", sessionIdPrefix: "abc", limit: 10)
        #expect(found.map(\.id.sessionId) == ["abc1", "abc2"])
        #expect(
            try await history.sessions(of: "ann", sessionIdPrefix: "é", limit: 10).map(\.id.sessionId) == ["é1"])
        #expect(try await history.sessions(of: "ann", sessionIdPrefix: "", limit: 3).count == 3)
    }

    @Test("Pages return each message once in the order of saving, for one agent or all, in both directions")
    func messagePages() async throws {
        let history = memory()
        let agents = ["a", "b", "c"]
        for number in 0..<40 {
            let id = scope.session.scope(agentId: agents[number * number % 3])
            try await history.append(messages(number..<number + 1), to: id)
        }
        let all = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 100))
            .elements
        #expect(all.map(\.message) == messages(0..<40))
        for agent in [nil, "a", "b", "c", "none"] {
            let expected = all.filter { stored in agent.map { stored.agentId == $0 } ?? true }
            for limit in [1, 3, 40] {
                var forward: [StoredMessage] = []
                var cursor: MessageCursor?
                repeat {
                    let page = try await history.messages(
                        of: scope.session, agentId: agent, page: PageRequest(limit: limit, after: cursor))
                    forward += page.elements
                    cursor = page.next
                } while cursor != nil
                #expect(forward == expected)
                var backward: [StoredMessage] = []
                repeat {
                    let page = try await history.messages(
                        of: scope.session, agentId: agent, page: PageRequest(limit: limit, before: cursor))
                    backward = page.elements + backward
                    cursor = page.next
                } while cursor != nil
                #expect(backward == expected)
            }
        }
    }

    @Test("A fork copies the messages up to the given one, with their IDs and agents, even those outside windows")
    func fork() async throws {
        let history = memory()
        let other = scope.session.scope(agentId: "b")
        try await history.append(messages(0..<4), to: scope, options: AppendOptions(maxMessages: 2))
        try await history.append(messages(4..<6), to: other)
        try await history.append(messages(6..<8), to: scope)
        try await history.fork(scope.session, at: "m6", into: "fork")
        let fork = SessionKey(userId: "ann", sessionId: "fork")
        let copied = try await history.messages(of: fork, agentId: nil, page: PageRequest(limit: 100)).elements
        #expect(copied.map(\.message) == messages(0..<7))
        #expect(copied.map(\.agentId) == ["a", "a", "a", "a", "b", "b", "a"])
        #expect(
            try await history.window(of: fork.scope(agentId: "a"), maxMessages: nil) == messages(2..<4)
                + messages(6..<7))
        let session = try #require(try await history.session(fork))
        #expect(session.messageCount == 7)
        #expect(session.metadata["forkedFrom"] == ["sessionId": "s", "messageId": "m6"])
        try await history.append(messages(8..<9), to: fork.scope(agentId: "a"))
        #expect(try await history.session(scope.session)?.messageCount == 8)
        await expectError(.notFound) { try await history.fork(scope.session, at: "none", into: "f2") }
        await expectError(.invalidArgument) { try await history.fork(scope.session, at: "m0", into: "fork") }
    }

    @Test("A window never begins inside a tool exchange")
    func windowOfWholeExchanges() async throws {
        let history = memory()
        try await history.append(
            [
                ConversationMessage(id: "0", role: .user, text: "read it"),
                ConversationMessage(
                    id: "1", role: .assistant, parts: [.toolCall(id: "t", name: "read", arguments: [:])]),
                ConversationMessage(id: "2", role: .tool, parts: [.toolResult(id: "t", content: "text")]),
                ConversationMessage(id: "3", role: .assistant, text: "done"),
            ], to: scope)
        #expect(try await history.windowOfWholeExchanges(of: scope, maxMessages: 2).map(\.id) == ["3"])
        #expect(try await history.windowOfWholeExchanges(of: scope, maxMessages: 4).map(\.id) == ["0", "1", "2", "3"])
    }
}
