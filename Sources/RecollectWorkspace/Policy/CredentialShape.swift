import RecollectCore

/// What credentials look like, so that they are not written where all of a user's devices and a cloud get them.
///
/// It knows shapes, not secrets: keys with the prefixes of their services, private key blocks, signed tokens, authorization headers,
/// passwords in connection strings, and assignments to a name such as `password` or `api_key`, also of a value on the line below; and
/// all of these in base64. What stands for a value in a sample (`YOUR_API_KEY`, `<token>`, `xxx`, a call, a variable), prose about
/// passwords, hashes and ids are none of them. Something that is missed is written as any other text: this guards against accidents,
/// not against intent.
public enum CredentialShape {
    /// A credential's kind, and where it stands.
    public struct Kind: Hashable, Sendable {
        /// What it is, in words: `an AWS access key`.
        public let name: String
        /// The line that it begins on, from 1.
        public let line: Int

        /// Why the text is refused and what to do instead; never holds any of the text.
        public var reason: String {
            """
            line \(line) looks like \(name), and this file may be synced to other devices and services: keep it in \
            \(CredentialShape.saferPlace) and write down only where it is kept
            """
        }
    }

    /// The first credential in a text; `nil` where there is none.
    ///
    /// Blocks for a time that is linear in the text's length.
    public static func found(in text: String) -> Kind? {
        var text = text
        return text.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return nil }
            guard let (name, place) = CredentialScan(bytes: base, count: bytes.count).first() else { return nil }
            return Kind(name: name, line: 1 + bytes[..<place].count { $0 == UInt8(ascii: "\n") })
        }
    }

    /// Refuses a text that holds a credential in any line that the text which it replaces has not: what somebody else wrote into a
    /// file keeps nobody from adding to it.
    /// - Throws: `credential`, with the kind, the line and the safer place.
    static func refuse(_ text: String, replacing old: String = "", at path: WorkspacePath) throws {
        guard found(in: text) != nil, let kind = found(in: emptying(text, of: old)) else { return }
        throw RecollectError(.credential, "\(path.names.joined(separator: "/")) was not written: \(kind.reason)")
    }

    /// A text with the lines that another one has emptied, so that those that are left keep their numbers.
    private static func emptying(_ text: String, of old: String) -> String {
        func lines(_ text: String) -> [Substring.UTF8View] {
            text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { $0 }
        }
        let known = Set(lines(old).map { Array($0) })
        return lines(text).map { known.contains(Array($0)) ? "" : String(decoding: $0, as: UTF8.self) }
            .joined(separator: "\n")
    }

    private static var saferPlace: String {
        #if canImport(Darwin)
            "the Keychain"
        #else
            "an encrypted store or the environment"
        #endif
    }
}
