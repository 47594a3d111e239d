import Crypto
import Foundation
import RecollectCore

/// Any id as a name in a workspace: of a book's folder in `Research`, of a conversation's file in `Chats`.
///
/// Characters stay as they are, so that people can read the name. As few as needed are `%XX`: `%` itself, what `WorkspacePath` refuses,
/// letters in decomposed form (NFD), and one in each name that would be taken for a conflict copy (`moby 2` is `moby%202`, for a file
/// `moby 2` is what iCloud makes of a second `moby`). The empty id is `%`. The id comes back byte for byte, except from a name that would be
/// over 120 bytes, which is cut and ends with `%-` and a hash.
///
/// Different ids have different names. Ids that differ only in case may have names that differ only in case, and with them one
/// `WorkspacePath.key`: on a system that ignores case they are one place.
public enum PlaceName {
    /// The name of an id's place; the same everywhere and for ever.
    public static func name(for id: String) -> String {
        guard !id.isEmpty else { return "%" }
        // What is too long as it is need not be looked at whole.
        if id.utf8.count <= longest {
            let name = acceptable(pieces(of: id[...]), ending: "")
            if name.utf8.count <= longest { return name }
        }
        let hash = SHA256.hash(data: Data(id.utf8)).lowercaseHexadecimal.prefix(24)
        var start = pieces(of: id.unicodeScalars.prefix(longest).reduce(into: "") { $0.unicodeScalars.append($1) }[...])
        while true {
            let name = acceptable(start, ending: "%-\(hash)")
            if name.utf8.count <= longest { return name }
            start.removeLast()
        }
    }

    /// The id of a name that `name(for:)` made; `nil` for a hashed one and for any other.
    public static func id(of name: String) -> String? {
        if name == "%" { return "" }
        var bytes: [UInt8] = []
        var rest = name.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let escaped = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                return nil
            }
            bytes.append(escaped)
            rest = rest.dropFirst(2)
        }
        let id = String(decoding: bytes, as: UTF8.self)
        // A name that is not the one of its id belongs to somebody else.
        return self.name(for: id).hasSameBytes(as: name) ? id : nil
    }

    private static let longest = 120

    /// A character of an id, and whether it is written as `%XX`.
    private struct Piece {
        let scalar: Unicode.Scalar
        var isEscaped: Bool

        var isLetterOrDigit: Bool { scalar.properties.isAlphabetic || scalar.properties.numericType != nil }

        var text: String {
            guard isEscaped else { return String(scalar) }
            return String(scalar).utf8.reduce(into: "") {
                $0 += "%" + ($1 < 16 ? "0" : "") + String($1, radix: 16, uppercase: true)
            }
        }
    }

    /// The characters of an id, with those escaped that stand in no name.
    private static func pieces(of id: Substring) -> [Piece] {
        id.flatMap { character in
            let text = String(character)
            let isComposed = text.precomposedStringWithCanonicalMapping.hasSameBytes(as: text)
            let hasForbidden = character.unicodeScalars.contains { $0 == "%" || WorkspaceName.isForbidden($0) }
            return character.unicodeScalars.map { scalar in
                // Marks go with the character they stand on: on an escape's last letter they would make another one of it.
                Piece(
                    scalar: scalar,
                    isEscaped: scalar.isASCII
                        ? scalar == "%" || WorkspaceName.isForbidden(scalar) : hasForbidden || !isComposed)
            }
        }
    }

    /// The name of some characters, with more of them escaped until it is one that a place can have.
    private static func acceptable(_ pieces: [Piece], ending: String) -> String {
        var pieces = pieces
        var name = rendered(pieces) + ending
        if !name.precomposedStringWithCanonicalMapping.hasSameBytes(as: name) {
            for index in pieces.indices where !pieces[index].scalar.isASCII { pieces[index].isEscaped = true }
            name = rendered(pieces) + ending
        }
        while !isAcceptable(name), name.utf8.count <= longest {
            // Punctuation from the end on, then letters from the start on: the first that alone makes it good.
            let punctuation = pieces.indices.reversed().filter { !pieces[$0].isEscaped && !pieces[$0].isLetterOrDigit }
            let letters = pieces.indices.filter { !pieces[$0].isEscaped && pieces[$0].isLetterOrDigit }
            let candidates = punctuation + letters
            guard let first = candidates.first else { break }
            let index =
                candidates.first { index in
                    var tried = pieces
                    tried[index].isEscaped = true
                    return isAcceptable(rendered(tried) + ending)
                } ?? first
            pieces[index].isEscaped = true
            name = rendered(pieces) + ending
        }
        return name
    }

    private static func rendered(_ pieces: [Piece]) -> String {
        pieces.reduce(into: "") { $0 += $1.text }
    }

    private static func isAcceptable(_ name: String) -> Bool {
        WorkspaceName.refusal(of: name) == nil && ConflictName(name) == nil
    }
}
