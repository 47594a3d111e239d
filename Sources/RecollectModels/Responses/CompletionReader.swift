#if Models
    import RecollectAgents
    import RecollectCore

    /// Makes events of a model's answer: of the chunks of a stream, or of one whole body.
    struct CompletionReader {
        /// What a server says went wrong, in the middle of an answer: its JSON.
        struct ServerFailure: Error {
            let error: JSONValue
        }

        private var calls = ToolCallPieces()
        private var reason: FinishReason?
        private var usage: TokenUsage?
        private var model: String?
        /// Whether the server has said that it is done.
        private(set) var isDone = false
        /// Whether anything came that belongs to a completion.
        private(set) var hasBegun = false

        /// Whether all has been said; the usage may still come.
        var isComplete: Bool { isDone || reason != nil }

        /// Reads the data of one event and gives what it says.
        /// - Throws: `RecollectError` where it is no JSON object, `ServerFailure` where the server reports one.
        mutating func read(_ data: [UInt8], _ yield: (LLMStreamEvent) -> Void) throws {
            if data.elementsEqual("[DONE]".utf8) {
                isDone = true
                return
            }
            let chunk = try data.withUnsafeBytes { bytes in
                try JSONParser.read(bytes, replacesLoneSurrogates: true) { try $0.object() }
            }
            if let error = chunk["error"], error != .null { throw ServerFailure(error: error) }
            if let model = chunk["model"]?.stringValue, !model.isEmpty { self.model = model }
            if let usage = chunk["usage"].flatMap(TokenUsage.init(chatCompletions:)) { self.usage = usage }
            guard let choices = chunk["choices"]?.arrayValue else { return }
            hasBegun = true
            for choice in choices where choice["index"]?.integerValue ?? 0 == 0 {
                if let delta = choice["delta"] ?? choice["message"] { read(delta: delta, yield) }
                if let reason = choice["finish_reason"]?.stringValue, !reason.isEmpty {
                    self.reason = FinishReason(rawValue: reason)
                }
            }
        }

        private mutating func read(delta: JSONValue, _ yield: (LLMStreamEvent) -> Void) {
            let reasoning = [delta["reasoning_content"], delta["reasoning"]].lazy.compactMap { $0?.prose }
            if let reasoning = reasoning.first(where: { !$0.isEmpty }) { yield(.thinking(reasoning)) }
            for text in [delta["content"], delta["refusal"]].compactMap({ $0?.prose }) where !text.isEmpty {
                yield(.textDelta(text))
            }
            for call in delta["tool_calls"]?.arrayValue ?? [] { calls.add(call) }
        }

        /// Gives the tool calls and the end.
        func finish(_ yield: (LLMStreamEvent) -> Void) {
            calls.events().forEach(yield)
            var reason = reason ?? .stop
            // Not every server tells the one from the other.
            if !calls.isEmpty, reason == .stop || reason.rawValue == "function_call" { reason = .toolCalls }
            yield(.done(LLMCompletion(reason: reason, usage: usage, model: model)))
        }
    }

    extension JSONValue {
        /// The text of a `content`: a string, or an array of parts of which some have text.
        fileprivate var prose: String? {
            stringValue ?? arrayValue?.compactMap { $0["text"]?.stringValue }.joined()
        }
    }

    extension TokenUsage {
        /// Reads `usage`: what came from a cache is part of `prompt_tokens` there.
        init?(chatCompletions usage: JSONValue) {
            guard let prompt = usage["prompt_tokens"]?.integerValue else { return nil }
            let cached = usage["prompt_tokens_details"]?["cached_tokens"]?.integerValue ?? 0
            let completion = usage["completion_tokens"]?.integerValue ?? 0
            self.init(
                input: max(0, Int(clamping: prompt) - Int(clamping: cached)), output: Int(clamping: completion),
                cacheRead: Int(clamping: cached))
        }
    }
#endif
