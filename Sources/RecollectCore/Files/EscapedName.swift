import Crypto
import Foundation

/// An id as the name of a file, a folder or a key: ASCII, reversible, and different for different bytes on every file system.
///
/// Lowercase letters and digits stay, every other byte of the id's UTF-8 is `%XX`, and the empty id is `_`. Uppercase letters
/// and anything beyond ASCII are escaped because file systems fold and normalise them; dots, slashes and NUL because a path
/// gives them a meaning.
package enum EscapedName {
    /// The name that Recollect gives an id.
    package static func escaped(_ id: String) -> String {
        escape(id) { isLowercaseOrDigit($0) }
    }

    /// The name that Agent Squad gives an id: uppercase letters stay too.
    package static func agentSquad(_ id: String) -> String {
        escape(id) { isLowercaseOrDigit($0) || isUppercase($0) }
    }

    /// A name for an id where a file system takes `escaped(id)` for a name that another id already has.
    package static func fullyEscaped(_ id: String) -> String {
        escape(id) { _ in false }
    }

    /// A name of fixed length for an id whose escaped name is too long; the id itself must be kept beside it.
    package static func hashed(_ id: String) -> String {
        "#" + SHA256.hash(data: Data(id.utf8)).lowercaseHexadecimal
    }

    /// Whether a name is one of those that `hashed` gives.
    static func isHashed(_ name: some StringProtocol) -> Bool {
        name.utf8.count == 65 && name.utf8.first == UInt8(ascii: "#")
            && name.utf8.dropFirst().allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
    }

    /// The id of a name that one of the functions above made, hashed names apart; `nil` for any other name.
    package static func id(of name: String) -> String? {
        if name == "_" { return "" }
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(hexadecimalValue),
                    let low = rest.popFirst().flatMap(hexadecimalValue)
                else { return nil }
                bytes.append(high << 4 | low)
            } else {
                guard isLowercaseOrDigit(byte) || isUppercase(byte) else { return nil }
                bytes.append(byte)
            }
        }
        // `String(validating:as:)` needs iOS 18.
        let id = String(decoding: bytes, as: UTF8.self)
        return !bytes.isEmpty && id.utf8.elementsEqual(bytes) ? id : nil
    }

    /// Whether a file system that ignores case would take one name for the other.
    package static func foldsTogether(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func escape(_ id: String, keeping isKept: (UInt8) -> Bool) -> String {
        guard !id.isEmpty else { return "_" }
        let digits = Array("0123456789ABCDEF".utf8)
        var name: [UInt8] = []
        name.reserveCapacity(id.utf8.count * 3)
        for byte in id.utf8 {
            if isKept(byte) {
                name.append(byte)
            } else {
                name += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: name, as: UTF8.self)
    }

    private static func isLowercaseOrDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    private static func isUppercase(_ byte: UInt8) -> Bool {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }

    private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        isUppercase(byte) ? byte | 0x20 : byte
    }
}
