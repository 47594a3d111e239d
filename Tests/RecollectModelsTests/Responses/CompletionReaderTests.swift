import RecollectAgents
import RecollectCore
import Testing
@testable import RecollectModels

@Suite("Completion chunks")
struct CompletionReaderTests {
    private func events(_ chunks: [JSONValue]) throws -> [LLMStreamEvent] {
        var reader = CompletionReader()
        var events: [LLMStreamEvent] = []
        for chunk in chunks { try reader.read(Array(chunk.jsonString.utf8)) { events.append($0) } }
        reader.finish { events.append($0) }
        return events
    }

    private func delta(_ delta: JSONValue, reason: JSONValue = .null, index: JSONValue = 0) -> JSONValue {
        ["choices": [["index": index, "delta": delta, "finish_reason": reason]]]
    }

    private func calls(_ pieces: [JSONValue], reason: JSONValue = "tool_calls") throws -> [LLMStreamEvent] {
        try events(pieces.map { delta(["tool_calls": [$0]]) } + [delta([:], reason: reason)])
    }

    @Test("Text, reasoning under either name and refusals are read; other choices are not")
    func pieces() throws {
        let chunks = [
            delta(["role": "assistant", "content": ""]), delta(["reasoning_content": "hm"]),
            delta(["reasoning": "so"]), delta(["reasoning": "once", "reasoning_content": "once"]),
            delta(["content": "Yes"]), delta(["content": "No"], index: 1),
            delta(["content": [["type": "text", "text": "!"]]]), delta(["refusal": "Sorry"], reason: "stop"),
        ]
        #expect(
            try events(chunks) == [
                .thinking("hm"), .thinking("so"), .thinking("once"), .textDelta("Yes"), .textDelta("!"),
                .textDelta("Sorry"), .done(LLMCompletion(reason: .stop)),
            ])
    }

    @Test(
        "A chunk with two keys that differ only in bytes throws",
        arguments: [
            #"{"choices":[{"index":0,"delta":{"content":"hello ",TWINS}}]}"#,
            #"{"choices":[{"index":0,TWINS,"delta":{"content":"hello "}}]}"#,
            #"{"choices":[{"index":0,"message":{"content":[{"text":"hello ",TWINS}]}}]}"#,
            #"{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"name":"f"},TWINS}]}}]}"#,
            #"{"choices":[{"index":0,"delta":{"tool_calls":[{"id":"a","function":{"name":"f",TWINS}}]}}]}"#,
            #"{"choices":[{"index":0,"delta":{"function_call":{"name":"f",TWINS}}}]}"#,
        ])
    func equalKeys(_ chunk: String) throws {
        var reader = CompletionReader()
        let whole = chunk.replacing("TWINS", with: "\"\u{e9}\":1")
        try reader.read(Array(whole.utf8)) { _ in }
        let data = Array(chunk.replacing("TWINS", with: "\"\u{e9}\":1,\"e\u{301}\":2").utf8)
        let error = #expect(throws: RecollectError.self) { try reader.read(data) { _ in } }
        #expect(error?.code == .unreadable)
    }

    @Test("A null or missing object is ignored")
    func nulls() throws {
        let deltas: [JSONValue] = [
            .null, ["content": .null, "tool_calls": .null, "function_call": .null], ["tool_calls": [.null]],
            ["content": "a"],
        ]
        let chunks: [JSONValue] = deltas.map { delta($0) } + [["choices": [.null]], delta([:], reason: "stop")]
        #expect(try events(chunks) == [.textDelta("a"), .done(LLMCompletion(reason: .stop))])
    }

    @Test("Calls are assembled from their pieces and arrive whole, in order, before the end")
    func callPieces() throws {
        let pieces: [JSONValue] = [
            ["index": 0, "id": "a", "type": "function", "function": ["name": "sea", "arguments": ""]],
            ["index": 0, "function": ["name": "rch", "arguments": "{\"q\":"]],
            ["index": 1, "id": "b", "function": ["name": "read"]],
            ["index": 0, "function": ["arguments": "\"x\"}"]],
        ]
        #expect(
            try calls(pieces) == [
                .toolCall(id: "a", name: "search", arguments: ["q": "x"]),
                .toolCall(id: "b", name: "read", arguments: [:]), .done(LLMCompletion(reason: .toolCalls)),
            ])
    }

    @Test("Whole calls are read with a shared index, without an index, or with a name in every piece")
    func wholeCalls() throws {
        let sameIndex: [JSONValue] = [
            ["index": 0, "id": "a", "function": ["name": "f", "arguments": "{}"]],
            ["index": 0, "id": "b", "function": ["name": "f", "arguments": "{}"]],
        ]
        let noIndex: [JSONValue] = [
            ["id": "a", "function": ["name": "f", "arguments": [:]]],
            ["id": "b", "function": ["name": "f", "arguments": [:]]],
        ]
        let repeated: [JSONValue] = [
            ["index": 0, "id": "a", "function": ["name": "f", "arguments": "{"]],
            ["index": 0, "id": "a", "function": ["name": "f", "arguments": "}"]],
            ["index": 1, "id": "b", "function": ["name": "f", "arguments": "{}"]],
        ]
        for pieces in [sameIndex, noIndex, repeated] {
            #expect(
                try calls(pieces, reason: "stop") == [
                    .toolCall(id: "a", name: "f", arguments: [:]), .toolCall(id: "b", name: "f", arguments: [:]),
                    .done(LLMCompletion(reason: .toolCalls)),
                ])
        }
    }

    @Test("A call with a missing or duplicate ID gets a unique ID")
    func missingIds() throws {
        let pieces: [JSONValue] = [
            ["function": ["name": "f", "arguments": "{}"]], ["function": ["name": "g", "arguments": "{}"]],
            ["index": 5, "id": "x", "function": ["name": "h"]], ["index": 6, "id": "x", "function": ["name": "i"]],
        ]
        let ids = try calls(pieces).compactMap { event in
            if case .toolCall(let id, _, _) = event { return id }
            return nil
        }
        #expect(ids.count == 4)
        #expect(Set(ids).count == 4)
        #expect(!ids.contains(""))
    }

    @Test("Arguments that nest too deeply or have keys that differ only in bytes stay as text")
    func unkeepableArguments() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "{ \"in\": ", count: levels - 1) + "[]" + String(repeating: "}", count: levels - 1)
        }
        for text in [nested(129), nested(508), nested(600), "{\"\u{E9}\": 1, \"e\u{301}\": 2}"] {
            let events = try calls([["id": "a", "function": ["name": "f", "arguments": .string(text)]]])
            #expect(events.first == .toolCall(id: "a", name: "f", arguments: .string(text)))
        }
        let deepest = try JSONValue(parsing: nested(128))
        let events = try calls([["id": "a", "function": ["name": "f", "arguments": .string(nested(128))]]])
        #expect(events.first == .toolCall(id: "a", name: "f", arguments: deepest))
        let deep: JSONValue = ["in": deepest]
        let whole = try calls([["id": "a", "function": ["name": "f", "arguments": deep]]])
        #expect(whole.first == .toolCall(id: "a", name: "f", arguments: .string(deep.jsonString)))
    }

    @Test("Arguments that are not JSON stay as text")
    func brokenArguments() throws {
        let events = try calls([["id": "a", "function": ["name": "f", "arguments": "{\"q\": oops"]]])
        #expect(events.first == .toolCall(id: "a", name: "f", arguments: "{\"q\": oops"))
    }

    @Test("Usage arrives without choices, with cached tokens counted separately")
    func usage() throws {
        let usage: JSONValue = [
            "model": "m", "choices": [],
            "usage": [
                "prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": ["cached_tokens": 60],
            ],
        ]
        #expect(
            try events([delta([:], reason: "length"), usage])
                == [
                    .done(
                        LLMCompletion(
                            reason: .length, usage: TokenUsage(input: 40, output: 7, cacheRead: 60), model: "m"))
                ])
    }

    @Test("An error that is not wrapped in an `error` member is an error", arguments: ["object", "type"])
    func bareErrors(key: String) {
        let error: JSONValue = [key: "error", "message": "out of memory", "code": 500]
        #expect(throws: CompletionReader.ServerFailure.self) { try events([delta(["content": "so"]), error]) }
    }

    @Test("The ID of a call counts toward the limit, even if it arrives late")
    func lateIds() throws {
        var reader = CompletionReader(maxBytes: 1_000)
        var events: [LLMStreamEvent] = []
        for piece in [["function": ["name": "f"]], ["id": .string(String(repeating: "x", count: 2_000))]]
            as [JSONValue]
        {
            let chunk = delta(["tool_calls": [piece]])
            try reader.read(Array(chunk.jsonString.utf8)) { events.append($0) }
        }
        #expect(reader.isCutOff)
    }

    @Test("An error in the middle of a stream throws; a null error does not")
    func serverFailure() throws {
        #expect(throws: CompletionReader.ServerFailure.self) { try events([["error": ["message": "overloaded"]]]) }
        #expect(try events([["error": .null, "choices": []]]).count == 1)
    }
}
