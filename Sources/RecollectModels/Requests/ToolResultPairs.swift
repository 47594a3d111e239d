#if Models
    import RecollectCore

    /// Where a part stands in a history.
    struct PartPlace: Hashable {
        let message: Int
        let part: Int
    }

    /// Joins calls to their results.
    enum ToolResultPairs {
        /// The result of every call, by the place of the call. A result answers the latest open call of its id, as in
        /// `wholeExchanges()`: in what that gives back, every call has one.
        static func results(of history: [ConversationMessage]) -> [PartPlace: JSONValue] {
            var results: [PartPlace: JSONValue] = [:]
            // By bytes: ids that only look the same are two.
            var open: [[UInt8]: [PartPlace]] = [:]
            for (index, message) in history.enumerated() {
                for (partIndex, part) in message.parts.enumerated() {
                    switch part {
                    case .toolCall(let id, _, _):
                        open[Array(id.utf8), default: []].append(PartPlace(message: index, part: partIndex))
                    case .toolResult(let id, let content):
                        guard let call = open[Array(id.utf8)]?.popLast() else { continue }
                        results[call] = content
                    default:
                        continue
                    }
                }
            }
            return results
        }
    }
#endif
