import RecollectTestSupport
import Foundation

@testable import RecollectCore

/// Random values, parts and messages of every shape that JSON can hold.
struct RandomJSON {
    var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: choices.indices, using: &generator)]
    }

    mutating func string() -> String {
        let pieces = [
            "", "a", "plain words", "\"", "\\", "/", "\n", "\r\n", "\t", "\u{8}\u{c}", "\u{0}", "\u{1f}", "\u{7f}", "é",
            "e\u{301}",
            "漢字", "👩‍👩‍👧", "\u{2028}", "\u{fffd}", "\u{10ffff}", "{\"text\":", "12345678",
        ]
        return (0..<Int.random(in: 0...6, using: &generator)).map { _ in pick(pieces) }.joined()
    }

    mutating func value(depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0...(depth < 4 ? 7 : 5), using: &generator) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &generator))
        case 2: return .integer(pick([0, 1, -1, .max, .min, Int64.random(in: .min ... .max, using: &generator)]))
        case 3:
            return .number(
                pick([
                    0.5, -2.25, 1e300, .leastNonzeroMagnitude, 0.1, 1.5e-7, -0.0, 3, 1e17, 0x1p53, 1e19,
                    Double.random(in: -1e6...1e6, using: &generator),
                ]))
        case 4, 5: return .string(string())
        case 6: return .array((0..<Int.random(in: 0...4, using: &generator)).map { _ in value(depth: depth + 1) })
        default: return .object(object(depth: depth + 1))
        }
    }

    mutating func object(depth: Int = 0) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) { members[string()] = value(depth: depth) }
        return members
    }

    mutating func part() -> ContentPart {
        let bytes = Data(
            (0..<Int.random(in: 0...5, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) })
        let name = pick([nil, string()])
        switch Int.random(in: 0...9, using: &generator) {
        case 0, 1: return .text(string())
        case 2: return .toolCall(id: string(), name: string(), arguments: value())
        case 3: return .toolResult(id: string(), content: value())
        case 4: return .audioTranscript(string())
        case 5: return .thinking(string(), signature: pick([nil, string()]))
        case 6: return .attachment(Attachment(mediaType: string(), name: name, content: .inline(bytes)))
        case 7:
            return .attachment(
                Attachment(mediaType: string(), name: name, content: .stored(sha256: string(), byteCount: 7)))
        case 8: return .attachment(Attachment(mediaType: string(), name: name, content: .remote(url: string())))
        default: return .unknown(["widget": value()])
        }
    }

    mutating func message() -> ConversationMessage {
        ConversationMessage(
            id: string(), role: pick([.user, .assistant, .system, .tool, Role(rawValue: string())]),
            parts: (0..<Int.random(in: 0...4, using: &generator)).map { _ in part() },
            timestamp: Date(millisecondsSince1970: Int64.random(in: -1_000_000...4_000_000_000_000, using: &generator)),
            metadata: object(),
            unknownFields: object().filter { !["id", "role", "parts", "timestamp", "metadata"].contains($0.key) })
    }

    /// JSON that resembles a part: with fields that are missing, repeated, superfluous or of the wrong kind.
    mutating func nearlyPart() -> JSONValue {
        let names = ["text", "toolCall", "toolResult", "audioTranscript", "thinking", "attachment", "widget"]
        let fields = [
            "_0", "id", "name", "arguments", "content", "signature", "mediaType", "data", "sha256", "byteCount", "url",
        ]
        var members: [String: JSONValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            members[pick(fields)] = pick([.null, .string("YQ=="), .string("?"), .integer(3), .number(1.5), [], [:]])
        }
        var part: [String: JSONValue] = [
            pick(names): pick([.object(members), .object(members), .object(members), .string("x")])
        ]
        if Int.random(in: 0...5, using: &generator) == 0 { part[pick(names)] = .object(members) }
        return .object(part)
    }
}
