import Crypto
import Foundation
import RecollectCore

/// The encoding of IDs as file names in a workspace: of a book's folder in `Research`, or of a session's file in
/// `Chats`.
///
/// Most characters stay unchanged, for readability. As few as possible are escaped as `%XX`: `%` itself, characters
/// refused by `WorkspacePath`, and letters in decomposed form (NFD). A character is also escaped in a name with the
/// form of a conflict copy (`moby 2` becomes `moby%202`, because iCloud names a second `moby` `moby 2`) or of a
/// kept copy (`moby (kept 1a2b3c4d)`). The empty ID becomes `%`. `id(of:)` returns the ID byte for byte, except for
/// names over 120 bytes. These are cut and end with `%-` and a hash.
///
/// Different IDs have different names. IDs different only in case or in joining characters may have names with the
/// same `WorkspacePath.key`: systems without this distinction treat them as one file.
public enum FileNameEncoding {
    /// Returns the name for an ID. It is the same on all devices and in all versions.
    public static func name(for id: String) -> String {
        guard !id.isEmpty else { return "%" }
        // Longer IDs are too long in any encoding, so they are not encoded as a whole.
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

    /// Decodes a name of `name(for:)`. Returns `nil` for a hashed name and for any other.
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
        // A name not equal to the encoding of its ID is not from `name(for:)`.
        return self.name(for: id).hasSameBytes(as: name) ? id : nil
    }

    private static let longest = 120

    /// A character of an ID with its combining marks, and its form. Marks are escaped together with their base
    /// character: on the last letter of an escape, they would change the escape.
    private struct Piece {
        enum Form {
            case plain
            /// ASCII characters allowed in names stay; everything else is escaped.
            case escapedMarks
            case escaped
        }

        let character: Character
        var form: Form

        init(_ character: Character) {
            self.character = character
            let isPlain =
                FileNameEncoding.isComposed(String(character))
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

    /// Escapes more characters until the name is acceptable.
    private static func acceptable(_ pieces: [Piece], ending: String) -> String {
        var pieces = pieces
        func name() -> String { pieces.reduce(into: "") { $0 += $1.text } + ending }
        if !isComposed(name()) {
            // Characters composed with their neighbors.
            for index in pieces.indices where !pieces[index].isASCII { pieces[index].form = .escaped }
        }
        while case let tried = name(), !isAcceptable(tried), tried.utf8.count <= longest {
            // Candidates: punctuation from the end, then letters and digits from the start. The first to make the name
            // acceptable alone wins.
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
        WorkspaceName.refusal(of: name) == nil && ConflictCopyName(name) == nil && !KeptCopyName.isMarked(name)
            && isComposed(name)
    }

    private static func isComposed(_ text: String) -> Bool {
        text.composed.hasSameBytes(as: text)
    }
}
