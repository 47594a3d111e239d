import Foundation

extension ConversationMessage {
    /// Returns the new ID of a message whose own ID is taken by other content. It is derived from the message and
    /// session IDs, so repeated moves result in the same ID.
    package func copyId(from sessionId: String) -> String {
        Self.copyId(of: id, from: sessionId)
    }

    /// Returns the new ID for an ID alone.
    package static func copyId(of id: String, from sessionId: String) -> String {
        UUID(name: Array("\(sessionId)\u{0}\(id)".utf8), in: copies).uuidString
    }

    private static let copies = UUID(
        uuid: (0x5B, 0x1F, 0x0E, 0x6A, 0x77, 0x3D, 0x4C, 0x52, 0x9A, 0x0C, 0x2E, 0x94, 0xD1, 0x63, 0xF8, 0x01))
}
