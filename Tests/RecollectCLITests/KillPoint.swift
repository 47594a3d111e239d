#if CommandLine
    import RecollectCore
    import RecollectTestServer
    import Testing

    /// A point in a streamed reply at which a process is killed: what the model server has sent by then, and what the
    /// process has shown.
    struct KillPoint: Sendable, CustomTestStringConvertible {
        /// The event that marks the point.
        enum Sign: Sendable {
            /// The server has received this many requests.
            case asked(Int)
            /// The process has printed this many events of a kind.
            case printed(String, Int)
        }

        let testDescription: String
        /// The server's answers to the turn's requests. It stops where they end.
        let answers: [[ModelReply.Step]]
        let sign: Sign
        /// Whether the server continues at that point, instead of waiting.
        var isFlowing = false

        /// The pieces of the reply. Their characters have all lengths, so that some are split.
        static let pieces = (1...20).map { "\($0): élan 漢字 👩‍👩‍👧. " }

        /// Whether the reply was complete before that point.
        var isFinished: Bool {
            if case .printed("final", _) = sign { true } else { false }
        }

        /// All fifty points.
        static let all: [KillPoint] = plain + torn + flowing + ends + tools

        private static let deltas = pieces.map { ModelReply.Step.delta(["content": .string($0)]) }

        private static let plain: [KillPoint] =
            [
                KillPoint(testDescription: "before the first byte", answers: [], sign: .asked(1)),
                KillPoint(testDescription: "after the head", answers: [[]], sign: .asked(1)),
            ]
            + (1...16).map { count in
                KillPoint(
                    testDescription: "after piece \(count)", answers: [Array(deltas.prefix(count))],
                    sign: .printed("text", count))
            }

        /// A part of the next piece's bytes is sent, too, split within lines and characters.
        private static let torn = (1...8).map { count in
            guard case .send(let bytes) = deltas[count] else { return plain[0] }
            let half: ModelReply.Step = .send(Array(bytes.prefix(bytes.count * count / 9)))
            return KillPoint(
                testDescription: "in piece \(count + 1)", answers: [Array(deltas.prefix(count)) + [half]],
                sign: .printed("text", count))
        }

        private static let flowing = [1, 5, 9, 13, 17, 20].map { count in
            KillPoint(
                testDescription: "while it flows, after piece \(count)",
                answers: [deltas + ModelReply.ending(reason: "stop")],
                sign: .printed("text", count), isFlowing: true)
        }

        private static let ends = [
            KillPoint(
                testDescription: "before the end is said",
                answers: [deltas + ModelReply.ending(reason: "stop").prefix(1)],
                sign: .printed("text", pieces.count)),
            KillPoint(
                testDescription: "when the end is shown", answers: [deltas + ModelReply.ending(reason: "stop")],
                sign: .printed("final", 1), isFlowing: true),
        ]

        private static let call = ModelReply.toolCalls([("call_0", "search_history", ["query": "harbour"])]).steps

        private static let tools: [KillPoint] =
            (1...4).map { count in
                KillPoint(
                    testDescription: "after \(count) pieces of a tool call", answers: [Array(call.prefix(count))],
                    sign: .asked(1))
            }
            + [
                KillPoint(testDescription: "when the call is shown", answers: [call], sign: .printed("toolCall", 1)),
                KillPoint(
                    testDescription: "when the result is shown", answers: [call], sign: .printed("toolResult", 1)),
                KillPoint(testDescription: "when the model is told the result", answers: [call], sign: .asked(2)),
            ]
            + [1, 2, 4, 8, 12, 16, 19].map { count in
                KillPoint(
                    testDescription: "behind a tool, after piece \(count)",
                    answers: [call, Array(deltas.prefix(count))],
                    sign: .printed("text", count))
            }
            + [1, 10].map { count in
                KillPoint(
                    testDescription: "behind a tool, while it flows, after piece \(count)",
                    answers: [call, deltas + ModelReply.ending(reason: "stop")], sign: .printed("text", count),
                    isFlowing: true)
            }
    }
#endif
