import RecollectCore

/// Tokens naming a message's owner in its document, so that filters apply inside the index.
///
/// A token is `_`, never the first character of a word, then a letter for the kind, and a number: of the session,
/// of the time, or 40 bits of a hash. Two users with the same hash cost time, never privacy: every row is checked
/// again.
package enum FilterTokens {
    /// The number of tokens of a message.
    package static let count = 6

    /// Returns the tokens shared by all messages of a scope.
    package static func tokens(userId: String, session: SessionRowID, agentId: String) -> String {
        [user(userId), self.session(session), agent(agentId)].joined(separator: " ")
    }

    /// Returns the tokens of a single message.
    package static func tokens(role: String, timestamp: Int64) -> String {
        let block = block(of: timestamp)
        return [self.role(role), time(block), era(block)].joined(separator: " ")
    }

    package static func user(_ id: String) -> String { token("u", hash(id)) }
    package static func session(_ id: SessionRowID) -> String { token("c", UInt64(bitPattern: id.rawValue)) }
    package static func agent(_ id: String) -> String { token("a", hash(id)) }
    package static func role(_ role: String) -> String { token("r", hash(role)) }

    /// Returns tokens covering a range of timestamps. Each message in the range has one of them, as have some
    /// messages within 25 days of its ends.
    package static func times(_ timestamps: ClosedRange<Int64>) -> [String] {
        var tokens: [String] = []
        var next = block(of: timestamps.lowerBound)
        let last = block(of: timestamps.upperBound)
        while next <= last {
            if next % blocksOfAnEra == 0, next + blocksOfAnEra - 1 <= last {
                tokens.append(era(next))
                next += blocksOfAnEra
            } else {
                tokens.append(time(next))
                next += 1
            }
        }
        return tokens
    }

    /// Returns the eras of a range of timestamps and their blocks, in order.
    package static func eras(of timestamps: ClosedRange<Int64>) -> [(token: String, blocks: ClosedRange<Int64>)] {
        let blocks = block(of: timestamps.lowerBound)...block(of: timestamps.upperBound)
        return (blocks.lowerBound / blocksOfAnEra...blocks.upperBound / blocksOfAnEra).map { number in
            let first = number * blocksOfAnEra
            return (era(first), (first...first + blocksOfAnEra - 1).clamped(to: blocks))
        }
    }

    /// Returns the block of a timestamp: 25 days (2^31 ms) each, from 1970 to 2109. Other timestamps are in the
    /// first or last block.
    private static func block(of timestamp: Int64) -> Int64 { min(max(timestamp >> 31, 0), 2047) }
    private static let blocksOfAnEra: Int64 = 32
    package static func time(_ block: Int64) -> String { token("t", UInt64(block)) }
    private static func era(_ block: Int64) -> String { token("e", UInt64(block / blocksOfAnEra)) }

    private static func token(_ kind: String, _ number: UInt64) -> String {
        "_" + kind + String(number, radix: 36)
    }

    private static func hash(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8(SearchDocument.hash) & 0xFF_FFFF_FFFF
    }
}
