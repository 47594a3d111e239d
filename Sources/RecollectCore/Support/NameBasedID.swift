import Crypto
import Foundation

extension UUID {
    /// The UUID of a name in a namespace: RFC 9562, version 5. The same names give the same id on every machine.
    package init(name: some Sequence<UInt8>, in namespace: UUID) {
        var hash = Insecure.SHA1()
        withUnsafeBytes(of: namespace.uuid) { hash.update(bufferPointer: $0) }
        hash.update(data: Data(name))
        var bytes = Array(hash.finalize().prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        self = bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    /// Whether it says that it was made of a name; those that a UI makes are random.
    package var isNameBased: Bool { uuid.6 & 0xF0 == 0x50 }
}

extension ConversationMessage {
    /// The id that a message gets where its own already stands for other content: derived from both, so that whoever moves it
    /// again finds it there.
    package func copyId(from sessionId: String) -> String {
        Self.copyId(of: id, from: sessionId)
    }

    /// The same of an id alone.
    package static func copyId(of id: String, from sessionId: String) -> String {
        UUID(name: Array("\(sessionId)\u{0}\(id)".utf8), in: copies).uuidString
    }

    private static let copies = UUID(
        uuid: (0x5B, 0x1F, 0x0E, 0x6A, 0x77, 0x3D, 0x4C, 0x52, 0x9A, 0x0C, 0x2E, 0x94, 0xD1, 0x63, 0xF8, 0x01))
}
