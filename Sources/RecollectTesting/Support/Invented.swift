import Foundation
import RecollectCore

/// Messages that the checks make up.
enum Invented {
    /// A moment to count from: 2023-11-14, on the second, so that a store that forgets milliseconds fails where they matter.
    static let start: Int64 = 1_700_000_000_000

    /// A message of one part of prose, so many milliseconds after `start`.
    static func message(_ role: Role, _ id: String, _ text: String? = nil, at offset: Int64 = 0) -> ConversationMessage
    {
        ConversationMessage(
            id: id, role: role, text: text ?? "text of \(id)", timestamp: Date(millisecondsSince1970: start + offset))
    }

    /// So many messages, user and assistant in turn, a second apart; ids are `prefix` and a number from 0.
    static func dialogue(
        _ count: Int, _ prefix: String = "m", from first: Int = 0, at offset: Int64 = 0
    ) -> [ConversationMessage] {
        (first..<(first + count)).map { index in
            message(index.isMultiple(of: 2) ? .user : .assistant, "\(prefix)\(index)", at: offset + Int64(index) * 1000)
        }
    }

    /// How deep values are nested to find where a store stops: around the limits of Recollect's stores and of readers of JSON.
    static let depths = [100, 400] + Array(494...497) + Array(506...515) + [600]

    /// A value of so many arrays and objects, one in the other.
    static func nested(_ levels: Int) -> JSONValue {
        (0..<levels).reduce("bottom") { value, level in level.isMultiple(of: 2) ? [value] : ["in": value] }
    }

    /// An assistant's call of a tool.
    static func call(_ id: String, of callId: String, at offset: Int64 = 0) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .assistant, parts: [.toolCall(id: callId, name: "read", arguments: ["path": "a.txt"])],
            timestamp: Date(millisecondsSince1970: start + offset))
    }

    /// A tool's answer.
    static func result(_ id: String, of callId: String, at offset: Int64 = 0) -> ConversationMessage {
        ConversationMessage(
            id: id, role: .tool, parts: [.toolResult(id: callId, content: "contents of a.txt")],
            timestamp: Date(millisecondsSince1970: start + offset))
    }
}

/// Ids that stores have stumbled over.
enum AwkwardIDs {
    /// All of them, every two different in bytes.
    static let all: [String] = [
        "", " ", ".", "..", "/", "\\", "a", "A", "a.b", "a/b", "a/../b", "../a", "a%2Fb", "%", "%%", "%00", "~", "*",
        "?", "-",
        "_", ":", "|", "a ", " a", "a.", "CON", "nul", "'", "\"", "'; DROP TABLE message; --", "\n", "\r\n", "\t",
        "\u{0}",
        "a\u{0}", "a\u{0}b", "\u{1}", "\u{7F}", "\u{FEFF}", "\u{202E}a", "\u{FFFD}", "\u{E9}", "e\u{301}", "ß", "ss",
        "İ", "i", "I", "👩‍👩‍👧‍👦", "👩", "日本語", "\u{10FFFF}", "null", "0", "-1", "{}", "[]", "__proto__",
    ]

    /// Characters that programs join ids with.
    static let separators = [
        "", ".", "/", ":", "::", "|", "_", "__", "-", ",", " ", "%", "%2E", "\\", "\n", "\u{0}", "\u{1F}", "#",
    ]
}
