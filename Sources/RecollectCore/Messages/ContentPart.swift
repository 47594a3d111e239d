/// A part of a message.
///
/// The JSON of the first four cases is Agent Squad's (`{"text":{"_0":"hi"}}`): the case, then its labeled values.
/// An unknown part, or a part with unknown fields, is preserved unchanged.
public enum ContentPart: Hashable, Sendable {
    /// Text.
    case text(String)
    /// A tool call by the assistant. Its `id` is also in the result.
    case toolCall(id: String, name: String, arguments: JSONValue)
    /// The result of the tool call with the same `id`.
    case toolResult(id: String, content: JSONValue)
    /// The transcript of audio.
    case audioTranscript(String)
    /// The assistant's thinking, with the signature required by some model providers.
    case thinking(String, signature: String?)
    /// A file.
    case attachment(Attachment)
    /// Unknown data, preserved unchanged.
    case unknown(JSONValue)
}

extension ContentPart {
    /// The text, if this is a text part.
    public var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// Whether this part is a tool call or a tool result. The same-role rule never drops a message with one.
    public var belongsToToolExchange: Bool {
        switch self {
        case .toolCall, .toolResult: return true
        default: return false
        }
    }
}
