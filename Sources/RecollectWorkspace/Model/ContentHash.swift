import Crypto
import Foundation
import RecollectCore

/// The SHA-256 hash of content, for example as the expected version of a write.
public struct ContentHash: RawRepresentable, Hashable, Sendable, Codable {
    /// 64 lowercase hexadecimal digits.
    public let rawValue: String

    /// Creates a hash from its digits.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the hash of a sequence of bytes.
    public init(of bytes: some Sequence<UInt8>) {
        let digest = bytes.withContiguousStorageIfAvailable { SHA256.hash(data: $0) }
        self.init(digest ?? SHA256.hash(data: Data(bytes)))
    }

    /// Creates a hash from a digest.
    init(_ digest: SHA256Digest) {
        rawValue = digest.lowercaseHexadecimal
    }
}
