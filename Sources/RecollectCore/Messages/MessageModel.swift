/// Metadata about the model of a message.
extension ConversationMessage {
    /// The model's name at its provider; `nil` if unknown.
    public var model: String? {
        get { metadata[Self.model]?.stringValue }
        set { metadata[Self.model] = newValue.map { .string($0) } }
    }

    /// The tokens used for the message; `nil` if unknown. Lists show the sum.
    ///
    /// The JSON names are those of Anthropic's API, also used in transcripts: `input_tokens`, `output_tokens`,
    /// `cache_creation_input_tokens`, `cache_read_input_tokens`. Setting the property preserves other members.
    public var usage: TokenUsage? {
        get {
            guard let usage = metadata[Self.usage]?.objectValue else { return nil }
            func count(_ name: String) -> Int { usage[name]?.integerValue.map { Int(clamping: $0) } ?? 0 }
            return TokenUsage(
                input: count("input_tokens"), output: count("output_tokens"),
                cacheCreation: count("cache_creation_input_tokens"), cacheRead: count("cache_read_input_tokens"))
        }
        set {
            guard let newValue else {
                metadata[Self.usage] = nil
                return
            }
            var usage = metadata[Self.usage]?.objectValue ?? [:]
            usage["input_tokens"] = .integer(Int64(newValue.input))
            usage["output_tokens"] = .integer(Int64(newValue.output))
            usage["cache_creation_input_tokens"] =
                newValue.cacheCreation == 0 ? nil : .integer(Int64(newValue.cacheCreation))
            usage["cache_read_input_tokens"] = newValue.cacheRead == 0 ? nil : .integer(Int64(newValue.cacheRead))
            metadata[Self.usage] = .object(usage)
        }
    }

    private static let model = "model"
    private static let usage = "usage"
}

extension TokenUsage {
    /// Returns the sum of two counts.
    public static func + (left: TokenUsage, right: TokenUsage) -> TokenUsage {
        TokenUsage(
            input: left.input + right.input, output: left.output + right.output,
            cacheCreation: left.cacheCreation + right.cacheCreation, cacheRead: left.cacheRead + right.cacheRead)
    }
}
