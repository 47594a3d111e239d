/// Counts the tokens of messages for a model.
///
/// ```swift
/// let counter = TokenCounter { message in message.text.utf8.count / 3 }
/// let prompt = try await history.window(of: scope, tokens: 100_000, counter: counter)
/// ```
public struct TokenCounter: Sendable {
    private let tokens: @Sendable (ConversationMessage) -> Int

    /// Creates a counter from a function, for example with the tokenizer of a model.
    ///
    /// The function may be called from any task, several times for a message. A negative result counts as zero.
    public init(_ tokens: @escaping @Sendable (ConversationMessage) -> Int) {
        self.tokens = tokens
    }

    /// Returns the number of a message's tokens.
    public func count(_ message: ConversationMessage) -> Int { max(0, tokens(message)) }

    /// Estimates the number of tokens without a tokenizer.
    ///
    /// One token is four ASCII letters or spaces, two other ASCII characters, or three bytes of any other script;
    /// larger characters such as emoji are two tokens. A message has four tokens more, and an attachment 1,600, which is
    /// about an image of 1.15 megapixels (Anthropic's documentation of images). Each model has another tokenizer: see
    /// the measured differences in the guide "The rules of a history".
    public static let estimate = TokenCounter { message in
        message.parts.reduce(4) { $0 + estimate(of: $1) }
    }

    private static func estimate(of part: ContentPart) -> Int {
        switch part {
        case .text(let text), .audioTranscript(let text): estimate(of: text)
        case .thinking(let text, let signature): estimate(of: text) + estimate(of: signature ?? "")
        case .toolCall(let id, let name, let arguments): estimate(of: id) + estimate(of: name) + estimate(of: arguments)
        case .toolResult(let id, let content): estimate(of: id) + estimate(of: content)
        case .attachment: 1600
        case .unknown(let value): estimate(of: value)
        }
    }

    private static func estimate(of value: JSONValue) -> Int {
        if case .string(let text) = value { return estimate(of: text) }
        return estimate(of: value.jsonString)
    }

    private static func estimate(of text: String) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            // In twelfths of a token.
            var twelfths = 0
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: " "):
                    twelfths += 3
                case ..<0x80: twelfths += 6
                // The first byte of four.
                case 0xF0...: twelfths += 12
                default: twelfths += 4
                }
            }
            return (twelfths + 11) / 12
        }
    }
}
