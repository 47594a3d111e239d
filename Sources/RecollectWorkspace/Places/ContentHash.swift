import Crypto
import Foundation
import RecollectCore

/// The SHA-256 of a content: what a writer knows of the file that it replaces.
public struct ContentHash: RawRepresentable, Hashable, Sendable, Codable {
    /// 64 lowercase hexadecimal digits.
    public let rawValue: String

    /// Takes a hash as it was written down.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The hash of some bytes.
    public init(of bytes: some Sequence<UInt8>) {
        let digest = bytes.withContiguousStorageIfAvailable { SHA256.hash(data: $0) }
        rawValue = (digest ?? SHA256.hash(data: Data(bytes))).lowercaseHexadecimal
    }
}
