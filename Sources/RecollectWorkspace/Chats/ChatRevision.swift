import Foundation
import RecollectCore

/// A title or the content of a message, with the number of its changes and the states that it replaced.
///
/// The revision with more restores is the later one, then the one with more edits. Of two revisions with equal numbers,
/// made at the same time, the greater one in byte order wins, on every device.
struct ChatRevision: Equatable, Sendable {
    /// The title; empty for none. Or the canonical JSON text of the message.
    var content: ByteString
    /// The number of edits.
    var number = 0
    /// The number of times a message was added again after its deletion.
    var restores = 0
    /// The earlier states replaced by a person or device that had them.
    var replaced: Set<String> = []

    /// The numbers, and the hash of the content: `0.2.0123456789abcdef`. An edit back to an earlier content is another
    /// state.
    var state: String { "\(restores).\(number).\(Self.hash(content))" }

    /// This state and those replaced by it.
    var states: Set<String> { replaced.union([state]) }

    private static func hash(_ content: ByteString) -> String {
        String(ContentHash(of: content.string.utf8).rawValue.prefix(16))
    }

    /// Whether a revision is lost knowingly if only this one is kept: it is replaced, or has the same content.
    func follows(_ other: ChatRevision) -> Bool {
        content == other.content || replaced.contains(other.state)
    }

    /// Whether both revisions have the same numbers and different contents.
    func isConcurrent(with other: ChatRevision) -> Bool {
        (restores, number) == (other.restores, other.number) && content != other.content
    }

    /// Whether some content is this one, or that of an earlier state.
    func has(_ content: ByteString) -> Bool {
        self.content == content || Self.hasState(of: content, in: replaced)
    }

    /// Whether one of the states has this content.
    static func hasState(of content: ByteString, in states: Set<String>) -> Bool {
        guard !states.isEmpty else { return false }
        let hash = hash(content)
        return states.contains { $0.hasSuffix(".\(hash)") }
    }

    /// Replaces the content, as the next edit.
    /// - Parameter isKnown: Whether the writer had the content replaced.
    mutating func replace(with content: ByteString, isKnown: Bool = true) {
        if isKnown { replaced.insert(state) }
        // A file with an older state is kept beside the newer one.
        while replaced.count > 64, let oldest = replaced.min(by: Self.isBefore) { replaced.remove(oldest) }
        self.content = content
        number = Self.next(number)
    }

    /// Returns this revision as the next edit of an earlier one, if only its content differs.
    func numbered(since old: ChatRevision?, isKnown: Bool) -> ChatRevision {
        guard var next = old, isConcurrent(with: next) else { return self }
        next.replace(with: content, isKnown: isKnown)
        return next
    }

    /// Takes the numbers of a later revision with the same content: there it was edited and edited back, or deleted and
    /// restored.
    mutating func join(_ other: ChatRevision) {
        guard content == other.content, (restores, number) < (other.restores, other.number) else { return }
        (restores, number) = (other.restores, other.number)
        replaced.formUnion(other.replaced)
    }

    /// Returns the latest revision, with the states replaced by equal ones; `nil` for none.
    static func latest(_ all: [ChatRevision]) -> ChatRevision? {
        guard var latest = all.max(by: isBefore) else { return nil }
        for other in all where !isBefore(other, latest) { latest.replaced.formUnion(other.replaced) }
        return latest
    }

    private static func isBefore(_ left: ChatRevision, _ right: ChatRevision) -> Bool {
        (left.restores, left.number) == (right.restores, right.number)
            ? left.content < right.content : (left.restores, left.number) < (right.restores, right.number)
    }

    private static func isBefore(_ left: String, _ right: String) -> Bool {
        left.compare(right, options: .numeric) == .orderedAscending
    }

    /// Returns the next number of edits or restores.
    static func next(_ number: Int) -> Int { min(number + 1, most) }

    /// The greatest number of edits or restores. Every JSON parser reads it exactly.
    static let most = 1 << 53
}
