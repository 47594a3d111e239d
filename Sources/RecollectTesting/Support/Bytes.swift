import Foundation
import RecollectCore

/// Comparisons of messages that see every byte: Swift's `==` takes canonically equivalent strings for equal.
extension ConversationMessage {
    /// Whether both messages are the same in every field and every byte.
    func isExactly(_ other: ConversationMessage) throws -> Bool {
        guard self == other else { return false }
        return try encoded() == other.encoded()
    }

    /// The message as JSON with sorted keys: equal bytes, equal message.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// The message as a failure shows it, cut where it is long.
    var shown: String {
        let text = (try? encoded()).map { String(decoding: $0, as: UTF8.self) } ?? "\(self)"
        return text.count > 400 ? "\(text.prefix(400))… (\(text.utf8.count) bytes)" : text
    }
}

/// Throws unless both lists are the same messages in the same order, byte for byte.
func expectMessages(_ actual: [ConversationMessage], _ expected: [ConversationMessage], _ what: String) throws {
    try expectIDs(actual, expected.map(\.id), what)
    for (came, wanted) in zip(actual, expected) where try !came.isExactly(wanted) {
        throw BrokenPromise(expected: "\(what): \(wanted.shown)", actual: came.shown)
    }
}

/// Throws unless the messages have these ids, in this order.
func expectIDs(_ actual: [ConversationMessage], _ expected: [String], _ what: String) throws {
    let came = actual.map(\.id)
    let same = came.count == expected.count && zip(came, expected).allSatisfy { $0.hasSameBytes(as: $1) }
    try expect(same, "\(what): \(shown(expected))", came: shown(came))
}

/// A list of ids as a failure shows it.
private func shown(_ ids: [String]) -> String {
    let quoted = ids.prefix(24).map(\.debugDescription).joined(separator: ", ")
    return ids.count > 24 ? "\(ids.count) messages [\(quoted), …]" : "\(ids.count) messages [\(quoted)]"
}
