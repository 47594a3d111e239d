import RecollectCore

/// The position of a part in a history.
struct PartPosition: Hashable {
    let message: Int
    let part: Int
}

/// Matches tool calls with their results.
enum ToolResultPairs {
    /// Returns the results of a history's tool calls, by the position of the call. A result belongs to the
    /// latest open call with its ID, as in `wholeExchanges()`. In a history returned by `wholeExchanges()`,
    /// every call has a result.
    static func results(of history: [ConversationMessage]) -> [PartPosition: JSONValue] {
        var results: [PartPosition: JSONValue] = [:]
        // Compared by bytes: canonically equivalent IDs may be different IDs.
        var open: [[UInt8]: [PartPosition]] = [:]
        for (index, message) in history.enumerated() {
            for (partIndex, part) in message.parts.enumerated() {
                switch part {
                case .toolCall(let id, _, _):
                    open[Array(id.utf8), default: []].append(PartPosition(message: index, part: partIndex))
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
