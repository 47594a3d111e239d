import Foundation

/// The error for a file that is not a single complete array of messages, with the file's bytes for the repair.
struct Damage: Error {
    let bytes: [UInt8]
    /// The ranges of the readable messages. Of several with one ID, only the first one.
    let ranges: [Range<Int>]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        var ids: Set<ByteString> = []
        ranges = MessageSalvage(of: bytes) { EncodedMessage(stored: bytes[$0]) != nil }.messages().filter {
            EncodedMessage(stored: bytes[$0]).map { ids.insert(ByteString($0.message.id)).inserted } ?? false
        }
    }

    /// The readable messages.
    var messages: [ConversationMessage] {
        ranges.compactMap { EncodedMessage(stored: bytes[$0])?.message }
    }

    /// The JSON array of the readable messages, with unchanged bytes for each.
    var salvaged: [UInt8] {
        MessageArray.joined(ranges.map { bytes[$0] })
    }

    /// Whether the bytes show no sign of a chat store: no readable message, and no opening bracket at the
    /// beginning.
    var looksForeign: Bool {
        ranges.isEmpty && bytes.first { $0 != 0 && $0 != Byte.space } != Byte.openingBracket
    }
}
