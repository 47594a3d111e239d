import Foundation

/// A message and its JSON: made from the one or the other, so that what was stored is never encoded again.
struct EncodedMessage {
    let message: ConversationMessage
    let bytes: [UInt8]

    /// Encodes a message in one line.
    /// - Throws: `invalidArgument` for what JSON cannot say: a number that is not finite.
    init(_ message: ConversationMessage) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            bytes = Array(try encoder.encode(message))
        } catch {
            throw RecollectError(
                .invalidArgument, "a message holds a value that JSON cannot say (a number that is not finite?)",
                cause: error)
        }
        self.message = message
    }

    /// Reads a stored message; `nil` for bytes that are none.
    init?(stored bytes: ArraySlice<UInt8>) {
        // Not being a message is an answer here: what follows is salvage, which tells of it.
        guard let message = try? JSONDecoder().decode(ConversationMessage.self, from: Data(bytes)) else { return nil }
        self.message = message
        self.bytes = Array(bytes)
    }
}
