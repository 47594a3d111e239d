import Foundation
import RecollectCore

/// Checks of rules 7 and 9: a new instance can read every accepted message; an unreadable one is rejected.
enum ReadableChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "unknownData.specialNumbers", rule: 9,
            "Negative zero, whole doubles beyond 2^53 and non-finite numbers are preserved by value or rejected."
        ) { store in
            var kept: [ConversationMessage] = []
            for number in SampleData.awkwardNumbers {
                let message = SampleData.answer("\(number)", ["value": .number(number)])
                if try await isTaken({ try await store.add(message, to: .plain) }) { kept.append(message) }
            }
            try expect(
                kept.count >= SampleData.awkwardNumbers.count(where: \.isFinite), "every finite number accepted",
                actual: "\(kept.count) of \(SampleData.awkwardNumbers.count) numbers accepted")
            let came = try await store.messages(in: .plain)
            try expectIDs(came, kept.map(\.id), "accepted numbers")
            for (came, kept) in zip(came, kept) {
                try expect(came == kept, "the number \(kept.id)", actual: "\(came.parts)")
            }
        },
        ChatStorageCheck(
            "unknownData.canonicallyEquivalentKeys", rule: 9,
            "Keys are preserved byte for byte, even if Swift treats them as equal."
        ) { store in
            let keys = [
                "\u{E9}", "e\u{301}", "\u{C5}", "A\u{30A}", "\u{212B}", "\u{1100}\u{1161}", "\u{AC00}", "K", "\u{212A}",
                "", " ", "a", "A", "a.b", "\"\\/\n", "null", "_0",
            ]
            try await expectPreserved(
                keys.map { [.toolResult(id: "1", content: [$0: [$0: "value"]]), .unknown(["part": [$0: 1]])] },
                in: store)
            let messages = keys.enumerated().map { number, key in
                ConversationMessage(
                    id: "k\(number)", role: number.isMultiple(of: 2) ? .user : .assistant, text: "text",
                    timestamp: Date(millisecondsSince1970: SampleData.start), metadata: [key: ["in": [key: .null]]])
            }
            let scope = Scope.plain.session("metadata")
            try await store.add(messages, to: scope)
            try await expectMessages(store.messages(in: scope), messages, "messages with these metadata keys")
        },
        ChatStorageCheck(
            "persistence.randomSaves", rule: 7,
            "After random saves, a new instance reads every accepted message and no rejected one.",
            needs: .persistent,
            trial: { trial in
                var random = SeededGenerator(seed: trial.seed)
                var kept: [Scope: [ConversationMessage]] = [:]
                let scopes = ["a", "b", ""].map { Scope.plain.agent($0) }
                for step in 0..<24 {
                    let store = try await trial.open()
                    for scope in scopes {
                        let what = "step \(step) of seed \(trial.seed): \(scope.shown)"
                        let (came, expected) = (try await store.messages(in: scope), kept[scope] ?? [])
                        try expectIDs(came, expected.map(\.id), what)
                        // Compare by value: Foundation's encoder limits the depth to that of its decoder.
                        for (came, expected) in zip(came, expected) where came != expected {
                            throw BrokenPromise(expected: "\(what): \(expected.shown)", actual: came.shown)
                        }
                    }
                    let scope = scopes[Int.random(in: scopes.indices, using: &random)]
                    // A user message and a reply, so that no role repeats, with IDs of their own for each agent.
                    let batch = [Role.user, .assistant].map { role in
                        SampleData.anything("\(scope.agentId) \(step) \(role.rawValue)", role, &random)
                    }
                    if try await isTaken({ try await store.add(batch, to: scope) }) {
                        kept[scope, default: []] += batch
                    }
                }
            }),
    ]
}

extension SampleData {
    /// Numbers likely to change in a conversion to text, or without a text form in JSON.
    static let awkwardNumbers: [Double] = [
        -0.0, 0, 1, 0x1p53, 0x1p53 + 2, -0x1p53 - 2, 1e17, 123_456_789_012_345_680, -1e18, 0x1p63, -0x1p63, 1e19, 1e300,
        -1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan,
    ]

    /// Returns a message with a tool result. Its role is `assistant`; results may follow each other.
    static func answer(_ id: String, _ content: JSONValue) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: [.toolResult(id: "1", content: content)],
            timestamp: Date(millisecondsSince1970: start))
    }

    /// Returns a message with random content. Occasionally, no store can save it.
    static func anything(_ id: String, _ role: Role, _ random: inout SeededGenerator) -> ConversationMessage {
        let parts = (0..<Int.random(in: 0...3, using: &random)).map { _ -> ContentPart in
            switch Int.random(in: 0...5, using: &random) {
            case 0: .text(text(&random))
            case 1: .toolCall(id: text(&random), name: text(&random), arguments: value(&random))
            case 2: .toolResult(id: text(&random), content: value(&random))
            case 3: .thinking(text(&random), signature: Bool.random(using: &random) ? text(&random) : nil)
            case 4: .audioTranscript(text(&random))
            default: .unknown(["widget": value(&random)])
            }
        }
        var metadata: [String: JSONValue] = [:]
        for _ in 0..<Int.random(in: 0...2, using: &random) { metadata[text(&random)] = value(&random) }
        return ConversationMessage(
            id: id, role: role, parts: parts,
            timestamp: Date(millisecondsSince1970: Int64.random(in: -1_000_000...4_000_000_000_000, using: &random)),
            metadata: metadata)
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let pieces = [
            "", "a", "plain words", "\"", "\\", "/", "\n", "\r\n", "\u{1}", "\u{7F}", "\u{E9}", "e\u{301}", "日本語",
            "\u{2028}", "\u{10FFFF}", "{\"text\":{\"_0\":\"", "}],", "[",
        ]
        return (0..<Int.random(in: 0...4, using: &random)).map { _ in
            pieces[Int.random(in: pieces.indices, using: &random)]
        }.joined()
    }

    private static func value(_ random: inout SeededGenerator, depth: Int = 0) -> JSONValue {
        // Sometimes use a depth near the limits of stores.
        if depth == 0, Int.random(in: 0...11, using: &random) == 0 {
            return nested(depths[Int.random(in: depths.indices, using: &random)])
        }
        switch Int.random(in: 0...(depth < 4 ? 8 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
        case 3: return .number(awkwardNumbers[Int.random(in: awkwardNumbers.indices, using: &random)])
        case 4: return .number(Double.random(in: -1e6...1e6, using: &random))
        case 5: return .string(text(&random))
        case 6:
            return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth + 1) })
        default:
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                members[text(&random)] = value(&random, depth: depth + 1)
            }
            return .object(members)
        }
    }
}
