import Foundation

extension UUID {
    /// Returns a random UUID (RFC 9562, version 4).
    ///
    /// On Linux, `UUID()` reads `/dev/urandom`, and ignores a failure: in a process without a free file descriptor, all
    /// UUIDs are `00000000-0000-4000-8000-000000000000`, and a store takes different messages for the same one. This
    /// function needs no descriptor.
    @usableFromInline
    package static func random() -> UUID {
        var random = SystemRandomNumberGenerator()
        return UUID(random.next(), random.next())
    }

    /// Creates a UUID of version 4 from random bits.
    private init(_ high: UInt64, _ low: UInt64) {
        // The version is in bits 48 to 51 from the left, and the variant in bits 64 and 65.
        let halves = [high & ~0xF000 | 0x4000, low & ~(3 << 62) | 2 << 62]
        let bytes = halves.flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
