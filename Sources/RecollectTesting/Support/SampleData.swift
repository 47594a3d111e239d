import Foundation
import RecollectCore

/// Messages invented by the checks.
enum SampleData {
    /// The reference date, 2023-11-14, in milliseconds. It is a whole second, so that a store losing milliseconds
    /// fails only in checks of them.
    static let start: Int64 = 1_700_000_000_000

    /// Returns a message with one text part, `offset` milliseconds after `start`.
    static func message(_ role: Role, _ id: String, _ text: String? = nil, at offset: Int64 = 0) -> ConversationMessage
    {
        ConversationMessage(
            id: id, role: role, text: text ?? "text of \(id)", timestamp: Date(millisecondsSince1970: start + offset))
    }

    /// Returns `count` messages, user and assistant in turn, a second apart. Their IDs are `prefix` and a number
    /// from `first`.
    static func dialogue(
        _ count: Int, _ prefix: String = "m", from first: Int = 0, at offset: Int64 = 0
    ) -> [ConversationMessage] {
        (first..<(first + count)).map { index in
            message(index.isMultiple(of: 2) ? .user : .assistant, "\(prefix)\(index)", at: offset + Int64(index) * 1000)
        }
    }

    /// Nesting depths around the limits of Recollect's stores and of JSON readers.
    static let depths = [100, 400] + Array(494...497) + Array(506...515) + [600]

    /// Returns a value of nested arrays and objects with the given depth.
    static func nested(_ levels: Int) -> JSONValue {
        (0..<levels).reduce("bottom") { value, level in level.isMultiple(of: 2) ? [value] : ["in": value] }
    }

    /// Returns an assistant's tool call.
    static func call(_ id: String, of callId: String, at offset: Int64 = 0) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: [.toolCall(id: callId, name: "read", arguments: ["path": "a.txt"])],
            timestamp: Date(millisecondsSince1970: start + offset))
    }

    /// Returns a tool result.
    static func result(_ id: String, of callId: String, at offset: Int64 = 0) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .tool, parts: [.toolResult(id: callId, content: "contents of a.txt")],
            timestamp: Date(millisecondsSince1970: start + offset))
    }
}

/// IDs known to cause errors in stores.
enum EdgeCaseIDs {
    /// All IDs, each different from the others in bytes.
    static let all: [String] = [
        "", " ", ".", "..", "/", "\\", "a", "A", "a.b", "a/b", "a/../b", "../a", "a%2Fb", "%", "%%", "%00", "~", "*",
        "?", "-",
        "_", ":", "|", "a ", " a", "a.", "CON", "nul", "'", "\"", "'; DROP TABLE message; --", "\n", "\r\n", "\t",
        "\u{0}",
        "a\u{0}", "a\u{0}b", "\u{1}", "\u{7F}", "\u{FEFF}", "\u{202E}a", "\u{FFFD}", "\u{E9}", "e\u{301}", "ß", "ss",
        "İ", "i", "I", "👩‍👩‍👧‍👦", "👩", "日本語", "\u{10FFFF}", "null", "0", "-1", "{}", "[]", "__proto__",
    ]

    /// Separators used by programs to join IDs.
    static let separators = [
        "", ".", "/", ":", "::", "|", "_", "__", "-", ",", " ", "%", "%2E", "\\", "\n", "\u{0}", "\u{1F}", "#",
    ]
}
