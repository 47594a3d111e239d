import RecollectAgents
import RecollectCore

/// Turns a model's answer into events: the chunks of a stream, or a single whole body.
struct CompletionReader {
    /// An error reported by the server in the middle of an answer, as JSON.
    struct ServerFailure: Error {
        let error: JSONValue
    }

    private var calls = ToolCallPieces()
    private var room: ReplySizeLimit
    private var reason: FinishReason?
    private var usage: TokenUsage?
    private var model: String?
    /// Whether the server has sent the end mark.
    private var isAtEnd = false
    /// Whether content followed a reason for the end. Some gateways send a reason with each piece, so that only the end
    /// mark or the end of the body shows that the reply is complete.
    private(set) var isUncertain = false
    /// Whether any part of a completion was received.
    private(set) var hasBegun = false

    /// Creates a reader of a completion.
    /// - Parameter maxBytes: The limit for the reply, in bytes of UTF-8.
    init(maxBytes: Int = .max) {
        room = ReplySizeLimit(bytes: maxBytes)
    }

    /// Whether the reply exceeds its limit. The part within the limit was sent.
    var isCutOff: Bool { room.isOver }

    /// Whether reading is finished.
    var isDone: Bool { isAtEnd || isCutOff }

    /// Whether the reply is complete. The usage may follow.
    var isComplete: Bool { isDone || reason != nil }

    /// Reads an event and yields its content.
    /// - Throws: `RecollectError` if the data is not a chunk of a completion, `ServerFailure` if the server reports an
    ///   error.
    mutating func read(_ event: ServerSentEvent, _ yield: (LLMStreamEvent) -> Void) throws {
        guard !event.name.elementsEqual("error".utf8) else { throw ServerFailure(error: Self.failure(event.data)) }
        try read(event.data, yield)
    }

    /// The content of an event named `error`, in any form.
    private static func failure(_ data: [UInt8]) -> JSONValue {
        do {
            let value = try data.withUnsafeBytes { bytes in try JSONParser.read(bytes) { try $0.value() } }
            return value["error"] ?? value
        } catch {
            return .string(String(decoding: data, as: UTF8.self))
        }
    }

    /// Reads the data of one event and yields its content.
    /// - Throws: `RecollectError` if the data is not a chunk of a completion, `ServerFailure` if the server reports an
    ///   error.
    mutating func read(_ data: [UInt8], _ yield: (LLMStreamEvent) -> Void) throws {
        guard !isDone else { return }
        if Self.isEnd(data) {
            guard hasBegun else { throw RecollectError(.unreadable, "the stream ended without a completion") }
            isAtEnd = true
            return
        }
        let chunk = try data.withUnsafeBytes { bytes in
            try JSONParser.read(bytes, replacesLoneSurrogates: true, readsNonFiniteAsNull: true) { try $0.object() }
        }
        if let error = chunk["error"], error != .null { throw ServerFailure(error: error) }
        // vLLM sends the error object itself, without an `error` member around it.
        if chunk["object"] == "error" || chunk["type"] == "error" { throw ServerFailure(error: .object(chunk)) }
        if let model = chunk["model"]?.stringValue, !model.isEmpty { self.model = model }
        if let usage = chunk["usage"].flatMap(TokenUsage.init(chatCompletions:)) { self.usage = usage }
        guard let choices = chunk["choices"]?.arrayValue else { return }
        hasBegun = true
        for choice in try choices.compactMap(Self.object) where choice["index"]?.integerValue ?? 0 == 0 {
            if let delta = try Self.object(choice["delta"] ?? choice["message"]) {
                let hasContent = try read(delta: delta, yield)
                if hasContent, reason != nil { isUncertain = true }
            }
            if let reason = choice["finish_reason"]?.stringValue, !reason.isEmpty {
                self.reason = FinishReason(rawValue: reason)
            }
        }
    }

    /// Whether the data is the end mark. Some servers add spaces or tabs around it.
    private static func isEnd(_ data: [UInt8]) -> Bool {
        let mark = Array("[DONE]".utf8)
        let rest = data.drop { $0 == 0x20 || $0 == 0x09 }
        return rest.starts(with: mark) && rest.dropFirst(mark.count).allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    /// Returns an object of a chunk; `nil` for `null` and for a missing value.
    ///
    /// An object with two canonically equivalent keys of different bytes arrives as a string. Nothing could be
    /// read from it, so it is refused.
    /// - Throws: `RecollectError` for a value of any other type.
    private static func object(_ value: JSONValue?) throws -> JSONValue? {
        switch value {
        case .object?: return value
        case nil, .null?: return nil
        default: throw RecollectError(.unreadable, "a part of a completion is not an object, or has a duplicate key")
        }
    }

    /// Returns the text of a `content`: a string, or an array with text in some of its parts.
    private static func prose(_ content: JSONValue?) throws -> String? {
        try content?.stringValue
            ?? content?.arrayValue?.compactMap { try object($0)?["text"]?.stringValue }.joined()
    }

    /// Reads a piece and yields its text. Returns whether it has any text or a tool call.
    private mutating func read(delta: JSONValue, _ yield: (LLMStreamEvent) -> Void) throws -> Bool {
        var hasContent = false
        let reasoning = try [delta["reasoning_content"], delta["reasoning"]].compactMap(Self.prose)
        if let reasoning = reasoning.first(where: { !$0.isEmpty }) {
            let fitting = room.take(reasoning)
            if !fitting.isEmpty { yield(.thinking(fitting)) }
            hasContent = true
        }
        for text in try [delta["content"], delta["refusal"]].compactMap(Self.prose) {
            let fitting = room.take(text)
            if !fitting.isEmpty { yield(.textDelta(fitting)) }
            if !text.isEmpty { hasContent = true }
        }
        for call in try (delta["tool_calls"]?.arrayValue ?? []).compactMap(Self.object) {
            _ = try Self.object(call["function"])
            calls.add(call, &room)
            hasContent = true
        }
        // The older form of a single tool call.
        if let call = try Self.object(delta["function_call"]) {
            calls.add(["function": call], &room)
            hasContent = true
        }
        return hasContent
    }

    /// Yields the tool calls and the end.
    func finish(_ yield: (LLMStreamEvent) -> Void) {
        calls.events().forEach(yield)
        var reason = reason ?? .stop
        // Some servers give `stop` as the reason for tool calls.
        if !calls.isEmpty, reason == .stop || reason.rawValue == "function_call" { reason = .toolCalls }
        if isCutOff { reason = .length }
        yield(.done(LLMCompletion(reason: reason, usage: usage, model: model)))
    }
}

extension TokenUsage {
    /// Creates token usage from the API's `usage`; `nil` without `prompt_tokens`. These include cached tokens.
    init?(chatCompletions usage: JSONValue) {
        guard let prompt = usage["prompt_tokens"]?.integerValue else { return nil }
        let cached = usage["prompt_tokens_details"]?["cached_tokens"]?.integerValue ?? 0
        let completion = usage["completion_tokens"]?.integerValue ?? 0
        self.init(
            input: max(0, Int(clamping: prompt) - Int(clamping: cached)), output: Int(clamping: completion),
            cacheRead: Int(clamping: cached))
    }
}
