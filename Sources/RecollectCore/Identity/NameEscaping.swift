import Crypto
import Foundation

/// An ID as the name of a file, a folder or a key: ASCII, reversible, and different for different bytes on every
/// file system.
///
/// Lowercase letters and digits stay, every other byte of the ID's UTF-8 becomes `%XX`, and the empty ID becomes
/// `_`. Uppercase letters and all non-ASCII characters are escaped because file systems fold and normalize them;
/// dots, slashes and NUL because they have a meaning in paths.
package enum NameEscaping {
    /// Returns Recollect's name for an ID.
    package static func escaped(_ id: String) -> String {
        escape(id) { isLowercaseOrDigit($0) }
    }

    /// Returns Agent Squad's name for an ID, with uppercase letters unescaped.
    package static func agentSquad(_ id: String) -> String {
        escape(id) { isLowercaseOrDigit($0) || isUppercase($0) }
    }

    /// Returns the name for an ID with every byte escaped. It is used if `escaped(id)` collides with the name of
    /// another ID.
    package static func fullyEscaped(_ id: String) -> String {
        escape(id) { _ in false }
    }

    /// Returns a name of fixed length for an ID with a long escaped name. The ID itself must be saved beside it.
    package static func hashed(_ id: String) -> String {
        "#" + SHA256.hash(data: Data(id.utf8)).lowercaseHexadecimal
    }

    /// Whether a name has the form of the names from `hashed`.
    static func isHashed(_ name: some StringProtocol) -> Bool {
        name.utf8.count == 65 && name.utf8.first == UInt8(ascii: "#")
            && name.utf8.dropFirst().allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
    }

    /// Returns the ID of a name made by one of the functions above except `hashed`; `nil` if the name cannot be
    /// decoded.
    ///
    /// Names with other bytes escaped are decoded, too.
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

    /// Whether two names are the same on a file system that ignores case.
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
