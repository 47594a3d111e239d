import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Merged view")
struct MergedChatsTests {
    @Test("No scope is reordered, nothing is lost, and the scope with the earliest next message comes first")
    func merge() async {
        await Seeds.run(500) { seed in
            var generator = SeededGenerator(seed: seed)
            let scopes = (0..<Int.random(in: 0...4, using: &generator)).map { agent in
                AgentMessages(
                    agentId: "agent\(agent)",
                    messages: (0..<Int.random(in: 0...6, using: &generator)).map { index in
                        ConversationMessage(
                            id: "\(agent)/\(index)", role: .user, text: "",
                            timestamp: Date(millisecondsSince1970: .random(in: 0...5, using: &generator)))
                    })
            }
            let merged = MergedChats.merge(scopes.shuffled(using: &generator))
            try #require(merged.count == scopes.reduce(0) { $0 + $1.messages.count })
            var rest = scopes
            for message in merged {
                let heads = rest.filter { !$0.messages.isEmpty }
                let earliest = heads.map { $0.messages[0].timestamp }.min()
                // Of equal messages, the one of the agent with the first ID.
                let next = heads.first { $0.messages[0].timestamp == earliest }
                try #require(next?.messages[0].id == message.id)
                for index in rest.indices where rest[index].agentId == next?.agentId {
                    rest[index].messages.removeFirst()
                }
            }
        }
    }

    @Test("Assistant messages have the agent's ID as a prefix")
    func attribution() {
        let said = ConversationMessage(role: .assistant, text: "hello")
        #expect(MergedChats.merge([AgentMessages(agentId: "tech", messages: [said])]).map(\.text) == ["[tech] hello"])
    }
}

@Suite("Scopes")
struct ScopeTests {
    @Test(
        "Scopes are equal only if their bytes are equal",
        arguments: [
            (Scope(userId: "a.b", sessionId: "c", agentId: "x"), Scope(userId: "a", sessionId: "b.c", agentId: "x")),
            (Scope(userId: "Bob", sessionId: "s", agentId: "x"), Scope(userId: "bob", sessionId: "s", agentId: "x")),
            (
                Scope(userId: "u", sessionId: "\u{e9}", agentId: "x"),
                Scope(userId: "u", sessionId: "e\u{301}", agentId: "x")
            ),
            (
                Scope(userId: "u", sessionId: "s", agentId: "\u{e9}"),
                Scope(userId: "u", sessionId: "s", agentId: "e\u{301}")
            ),
            (
                Scope(userId: "\u{e9}", sessionId: "s", agentId: "x"),
                Scope(userId: "e\u{301}", sessionId: "s", agentId: "x")
            ),
            (
                Scope(userId: "a\u{0}b", sessionId: "s", agentId: "x"),
                Scope(userId: "a\u{0}c", sessionId: "s", agentId: "x")
            ),
            (Scope(userId: "ab", sessionId: "", agentId: "x"), Scope(userId: "a", sessionId: "b", agentId: "x")),
        ])
    func apart(left: Scope, right: Scope) {
        #expect(left != right)
        #expect(Set([left, right]).count == 2)
        #expect(Set([left, left]).count == 1)
    }
}

@Suite("Message windows")
struct MessageWindowTests {
    @Test(
        "A budget is rounded down to even; 1 or less keeps no message, and nil keeps all",
        arguments: [
            (nil, 5), (100, 5), (5, 4), (4, 4), (3, 2), (2, 2), (1, 0), (0, 0), (-1, 0), (.min, 0), (.max, 5),
        ] as [(Int?, Int)])
    func size(budget: Int?, saved: Int) {
        let messages = Array(turns(0...2).prefix(5))
        let trimmed = InMemoryChatStorage().trimToEvenPairs(messages, maxMessages: budget)
        #expect(trimmed == messages.suffix(saved))
    }

    @Test("Only messages without a tool call or result count as a repeated role")
    func sameRole() {
        let store = InMemoryChatStorage()
        let stored = [ConversationMessage(role: .tool, parts: [.toolResult(id: "1", content: "r")])]
        #expect(store.isConsecutiveSameRole(stored, ConversationMessage(role: .tool, text: "a")))
        #expect(!store.isConsecutiveSameRole(stored, stored[0]))
        #expect(!store.isConsecutiveSameRole(stored, ConversationMessage(role: .user, text: "a")))
        #expect(!store.isConsecutiveSameRole([], ConversationMessage(role: .user, text: "a")))
    }
}
