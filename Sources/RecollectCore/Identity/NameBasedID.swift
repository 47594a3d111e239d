import Crypto
import Foundation

extension UUID {
    /// Creates the UUID of a name in a namespace (RFC 9562, version 5). Equal names have equal UUIDs on every
    /// machine.
    package init(name: some Sequence<UInt8>, in namespace: UUID) {
        var hash = Insecure.SHA1()
        withUnsafeBytes(of: namespace.uuid) { hash.update(bufferPointer: $0) }
        hash.update(data: Data(name))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    /// Whether the UUID is marked as name-based. Those created by a UI are random.
    package var isNameBased: Bool { uuid.6 & 0xF0 == 0x50 }

    /// Whether a string is a name-based UUID. Reads the digit of the version first: on Linux, parsing a string takes a
    /// microsecond.
    package static func isNameBased(_ string: String) -> Bool {
        string.utf8.dropFirst(14).first == UInt8(ascii: "5") && UUID(uuidString: string) != nil
    }
}

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
