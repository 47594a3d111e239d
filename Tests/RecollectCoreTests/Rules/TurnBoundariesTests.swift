import Testing

@testable import RecollectCore

@Suite("Turn boundaries")
struct TurnsTests {
    private func message(_ id: String) -> ConversationMessage {
        switch id.first {
        case "u": ConversationMessage(id: id, role: .user, text: id)
        case "s": ConversationMessage(id: id, role: .system, text: id)
        case "c":
            ConversationMessage(
                id: id, role: .assistant,
                parts: [.toolCall(id: String(id.dropFirst()), name: "x", arguments: [:])])
        case "r":
            ConversationMessage(
                id: id, role: .user, parts: [.toolResult(id: String(id.dropFirst()), content: "y")])
        default: ConversationMessage(id: id, role: .assistant, text: id)
        }
    }

    private func turns(_ ids: String) -> [String] {
        let turns = TurnBoundaries(ids.split(separator: " ").map { message(String($0)) })
        var end = 0
        return (0..<turns.count).map { index in
            let first = turns.first(index + 1)
            defer { end = first.endIndex }
            return first[end...].map(\.id).joined(separator: " ")
        }
    }

    @Test(
        "A turn begins with a user message, never inside an exchange or between consecutive user messages",
        arguments: [
            ("", []), ("u1 a1", ["u1 a1"]), ("u1 a1 u2", ["u1 a1", "u2"]), ("a0 s0 u1 a1 u2", ["a0 s0 u1 a1", "u2"]),
            ("u1 c1 r1 a1 u2 a2", ["u1 c1 r1 a1", "u2 a2"]), ("u1 u2 a2 u3", ["u1 u2 a2", "u3"]),
            ("u1 c1 u2 r1 a1 u3 a3", ["u1 c1 u2 r1 a1", "u3 a3"]), ("u1 c1 u2 a2", ["u1 c1", "u2 a2"]),
            ("s1 s2 a1", ["s1 s2 a1"]),
        ] as [(String, [String])])
    func cut(_ ids: String, _ expected: [String]) {
        #expect(turns(ids) == expected)
    }
}
