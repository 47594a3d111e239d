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
