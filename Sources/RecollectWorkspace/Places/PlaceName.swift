import Crypto
import Foundation
import RecollectCore

/// Any id as a name in a workspace: of a book's folder in `Research`, of a conversation's file in `Chats`.
///
/// Characters stay as they are, so that people can read the name. As few as needed are `%XX`: `%` itself, what
/// `WorkspacePath` refuses, letters in decomposed form (NFD), and one in each name that would be taken for a conflict
/// copy (`moby 2` is `moby%202`, for a file `moby 2` is what iCloud makes of a second `moby`) or for what a conflict left
/// (`moby (kept 1a2b3c4d)`). The empty id is `%`. The id comes back byte for byte, except from a name that would be over 120 bytes, which is cut and ends with `%-` and a
/// hash.
///
/// Different ids have different names. Ids that differ only in case, or in what joins their letters, may have names that
/// differ only so, and with them one `WorkspacePath.key`: on a system that ignores that they are one place.
public enum PlaceName {
    /// The name of an id's place; the same everywhere and for ever.
    public static func name(for id: String) -> String {
        guard !id.isEmpty else { return "%" }
        // What is too long as it is need not be looked at whole.
        if id.utf8.count <= longest {
            let name = acceptable(id.map(Piece.init), ending: "")
            if name.utf8.count <= longest { return name }
        }
        let hash = SHA256.hash(data: Data(id.utf8)).lowercaseHexadecimal.prefix(24)
        var start = String(id.unicodeScalars.prefix(longest)).map(Piece.init)
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

    /// A character of an id with its marks, and how much of it is written as `%XX`: the marks go with what they stand on,
    /// for on an escape's last letter they would make another one of it.
    private struct Piece {
        enum Form {
            case plain
            /// All but what is ASCII and stands in names.
            case escapedMarks
            case escaped
        }

        let character: Character
        var form: Form

        init(_ character: Character) {
            self.character = character
            let isPlain =
                PlaceName.isComposed(String(character))
                && !character.unicodeScalars.contains { $0 == "%" || WorkspaceName.isForbidden($0) }
            form = isPlain ? .plain : .escapedMarks
        }

        var isASCII: Bool { character.unicodeScalars.allSatisfy(\.isASCII) }

        var isLetterOrDigit: Bool {
            character.unicodeScalars.first.map { $0.properties.isAlphabetic || $0.properties.numericType != nil }
                ?? false
        }

        var text: String {
            if form == .plain { return String(character) }
            return character.unicodeScalars.reduce(into: "") { text, scalar in
                let isKept =
                    form == .escapedMarks && scalar.isASCII && scalar != "%" && !WorkspaceName.isForbidden(scalar)
                for byte in String(scalar).utf8 {
                    text +=
                        isKept ? String(scalar) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                }
            }
        }
    }

    /// The name of some characters, with more of them escaped until it is one that a place can have.
    private static func acceptable(_ pieces: [Piece], ending: String) -> String {
        var pieces = pieces
        func name() -> String { pieces.reduce(into: "") { $0 += $1.text } + ending }
        if !isComposed(name()) {
            // Characters that become one with their neighbours.
            for index in pieces.indices where !pieces[index].isASCII { pieces[index].form = .escaped }
        }
        while case let tried = name(), !isAcceptable(tried), tried.utf8.count <= longest {
            // Punctuation from the end on, then letters from the start on: the first that alone makes it good.
            let left = pieces.indices.filter { pieces[$0].form != .escaped }
            let candidates =
                left.reversed().filter { !pieces[$0].isLetterOrDigit } + left.filter { pieces[$0].isLetterOrDigit }
            guard let first = candidates.first else { break }
            let found = candidates.first { index in
                let form = pieces[index].form
                defer { pieces[index].form = form }
                pieces[index].form = .escaped
                return isAcceptable(name())
            }
            pieces[found ?? first].form = .escaped
        }
        return name()
    }

    private static func isAcceptable(_ name: String) -> Bool {
        WorkspaceName.refusal(of: name) == nil && ConflictName(name) == nil && !KeptName.isMarked(name)
            && isComposed(name)
    }

    private static func isComposed(_ text: String) -> Bool {
        text.composed.hasSameBytes(as: text)
    }
}
