import RecollectCore
import RecollectTestSupport

/// How a server answers a request, step by step.
public struct ModelReply: Sendable {
    /// One step of a body.
    public enum Step: Sendable, ExpressibleByStringLiteral {
        /// Sends these bytes as one chunk.
        case send([UInt8])
        /// Waits until the test opens the gate.
        case wait(Gate)
        /// Closes the connection in an orderly way (FIN), in the middle of the body.
        case hangUp
        /// Resets the connection (RST).
        case reset
        /// Does nothing more until the client closes the connection.
        case silence

        /// Sends text.
        public init(stringLiteral value: String) { self = .send(Array(value.utf8)) }

        /// Sends text.
        public static func text(_ text: String) -> Step { .send(Array(text.utf8)) }

        /// Sends an event whose data is this JSON.
        public static func event(_ json: JSONValue) -> Step { .text("data: \(json.jsonString)\n\n") }

        /// Sends the chunk of a completion that has this delta.
        public static func delta(_ delta: JSONValue, finishReason: String? = nil) -> Step {
            .event([
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "test-model",
                "choices": [
                    ["index": 0, "delta": delta, "finish_reason": finishReason.map { .string($0) } ?? .null]
                ],
            ])
        }

        /// Sends the end of a stream.
        public static let done: Step = "data: [DONE]\n\n"
    }

    /// The status.
    public var status: Int
    /// The headers, except those that frame the body.
    public var headers: [(name: String, value: String)]
    /// The body. Each step starts after the previous one is done.
    public var steps: [Step]
    /// Whether no head is sent. The bytes of the steps are then sent as they are.
    public var isRaw = false

    /// Makes a reply.
    public init(status: Int = 200, headers: [(name: String, value: String)], steps: [Step]) {
        self.status = status
        self.headers = headers
        self.steps = steps
    }

    /// An event stream.
    public static func stream(_ steps: [Step]) -> ModelReply {
        ModelReply(headers: [("Content-Type", "text/event-stream")], steps: steps)
    }

    /// A completion with these pieces of text, and its usage.
    public static func text(_ pieces: [String], reason: String = "stop") -> ModelReply {
        var steps: [Step] = [.delta(["role": "assistant", "content": ""])]
        steps += pieces.map { .delta(["content": .string($0)]) }
        return .stream(steps + ending(reason: reason))
    }

    /// A completion with tool calls. Their names and arguments are split into pieces, as servers send them.
    public static func toolCalls(_ calls: [(id: String, name: String, arguments: JSONValue)]) -> ModelReply {
        var steps: [Step] = []
        for (index, call) in calls.enumerated() {
            let arguments = call.arguments.jsonString
            let middle = arguments.index(arguments.startIndex, offsetBy: arguments.count / 2)
            func piece(_ members: [String: JSONValue]) -> Step {
                .delta(["tool_calls": [.object(members.merging(["index": .integer(Int64(index))]) { $1 })]])
            }
            steps += [
                piece([
                    "id": .string(call.id), "type": "function",
                    "function": ["name": .string(call.name), "arguments": ""],
                ]),
                piece(["function": ["arguments": .string(String(arguments[..<middle]))]]),
                piece(["function": ["arguments": .string(String(arguments[middle...]))]]),
            ]
        }
        return .stream(steps + ending(reason: "tool_calls"))
    }

    /// A complete JSON body.
    public static func json(_ json: JSONValue, status: Int = 200) -> ModelReply {
        ModelReply(
            status: status, headers: [("Content-Type", "application/json")], steps: [.text(json.jsonString)])
    }

    /// An error in the format of chat-completions servers.
    public static func status(
        _ status: Int, _ message: String, headers: [(name: String, value: String)] = []
    ) -> ModelReply {
        var reply = json(["error": ["message": .string(message)]], status: status)
        reply.headers += headers
        return reply
    }

    /// Steps without a head.
    public static func raw(_ steps: [Step]) -> ModelReply {
        var reply = ModelReply(headers: [], steps: steps)
        reply.isRaw = true
        return reply
    }

    /// The end of every stream: the finish reason, the usage, and `[DONE]`.
    public static func ending(reason: String) -> [Step] {
        [
            .delta([:], finishReason: reason),
            .event([
                "model": "test-model", "choices": [],
                "usage": [
                    "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
                    "prompt_tokens_details": ["cached_tokens": 4],
                ],
            ]),
            .done,
        ]
    }
}
