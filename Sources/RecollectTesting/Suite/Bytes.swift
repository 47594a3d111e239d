import Foundation
import RecollectCore

/// Values compared by every byte. Swift's `==` treats canonically equivalent strings as equal.
protocol ComparedByBytes: Equatable {
    /// Returns the value as JSON with sorted keys. Equal bytes mean equal values.
    func encoded() throws -> Data
}

extension ConversationMessage: ComparedByBytes {
    func encoded() -> Data {
        var writer = JSONWriter()
        writer.write(self)
        return Data(writer.bytes)
    }
}

extension ChatMessage: ComparedByBytes {
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension ComparedByBytes {
    /// Whether both values are equal in every field and byte.
    func isExactly(_ other: Self) throws -> Bool {
        guard self == other else { return false }
        return try encoded() == other.encoded()
    }

    /// The value as shown in a failure, shortened if long.
    var shown: String {
        let text = (try? encoded()).map { String(decoding: $0, as: UTF8.self) } ?? "\(self)"
        return text.count > 400 ? "\(text.prefix(400))… (\(text.utf8.count) bytes)" : text
    }
}

/// Throws unless both lists have the same messages in the same order, byte for byte.
func expectMessages(_ actual: [ConversationMessage], _ expected: [ConversationMessage], _ what: String) throws {
    try expectIDs(actual, expected.map(\.id), what)
    try expectExactly(actual, expected, what)
}

/// Throws unless the messages have these IDs, in this order.
func expectIDs(_ actual: [ConversationMessage], _ expected: [String], _ what: String) throws {
    let came = actual.map(\.id)
    let same = came.count == expected.count && zip(came, expected).allSatisfy { $0.hasSameBytes(as: $1) }
    try expect(same, "\(what): \(listed(expected))", actual: listed(came))
}

/// Throws unless both transcripts have the same messages in the same order, byte for byte.
func expectTranscript(_ actual: [ChatMessage], _ expected: [ChatMessage], _ what: String) throws {
    try expect(
        actual.map(\.id) == expected.map(\.id), "\(what): \(listed(expected.map(\.content)))",
        actual: listed(actual.map(\.content)))
    try expectExactly(actual, expected, what)
}

private func expectExactly<Message: ComparedByBytes>(
    _ actual: [Message], _ expected: [Message], _ what: String
) throws {
    for (came, wanted) in zip(actual, expected) where try !came.isExactly(wanted) {
        throw BrokenPromise(expected: "\(what): \(wanted.shown)", actual: came.shown)
    }
}

/// Returns a list of IDs or texts as shown in a failure.
private func listed(_ strings: [String]) -> String {
    let quoted = strings.prefix(24).map { String($0.prefix(60)).debugDescription }.joined(separator: ", ")
    return strings.count > 24
        ? "\(strings.count) messages [\(quoted), …]" : "\(strings.count) messages [\(quoted)]"
}
