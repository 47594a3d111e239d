import Foundation

/// An entry as last shown or saved by a session storage.
package struct KnownChatMessage: Sendable {
    package let hash: ChatMessageHash
    /// The entry in full, or `nil` if only its hashes are known.
    package let entry: ChatMessage?

    /// Creates an entry as last shown or saved.
    package init(hash: ChatMessageHash, entry: ChatMessage?) {
        self.hash = hash
        self.entry = entry
    }

    /// Whether the text, the role, the type and the tool of an entry are the same.
    package func hasSameContent(as other: ChatMessage) -> Bool { hash.hasSameContent(as: ChatMessageHash(other)) }

    /// Whether the content of an entry is the same, apart from white space.
    package func hasSameText(as other: ChatMessage) -> Bool {
        if hasSameContent(as: other) { return true }
        guard let entry, isContinued(by: other) else { return false }
        return entry.content.continues(other.content)
    }

    /// Whether a string continues the text of the entry, known in full and not blank.
    package func isContinued(by other: ChatMessage) -> Bool {
        guard let text = entry?.content, !text.isBlank else { return false }
        return other.content.continues(text)
    }
}

extension [KnownChatMessage] {
    /// Whether one of them has the ID and the content of an entry.
    package func show(_ entry: ChatMessage) -> Bool {
        contains { $0.hash.id == entry.id && $0.hasSameContent(as: entry) }
    }
}
