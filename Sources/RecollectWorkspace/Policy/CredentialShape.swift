import RecollectCore

/// Detection of credentials, so that they are not written to a folder synced to other devices and to a cloud.
///
/// Detects forms, not actual secrets: keys with the prefixes of their services, private key blocks, signed tokens,
/// authorization headers, addresses of webhooks, passwords in connection strings, in logins of commands, in `.netrc` and in
/// tables, and values of names such as `password` or `api_key`, also on the line below; all of these also in base64. Sample
/// values (`YOUR_API_KEY`, `<token>`, `xxx`, a call, a variable), prose about passwords, hashes and IDs are not credentials.
/// An undetected credential is written like any other text. The detection prevents accidents, not intent.
package enum CredentialShape {
    /// A detected credential.
    package struct Kind: Hashable, Sendable {
        /// The kind of credential, in words: `an AWS access key`.
        package let name: String
        /// The number of the credential's first line, from 1.
        package let line: Int

        /// The reason for a refusal and the remedy, without any of the text.
        package var reason: String {
            """
            line \(line) looks like \(name), and this file may be synced to other devices and services: store it in \
            \(CredentialShape.saferPlace), and write only a reference to it
            """
        }
    }

    /// Returns the first credential in a string; `nil` if there is none.
    ///
    /// Blocks, for a time linear in the length of the text.
    package static func found(in text: String) -> Kind? {
        var text = text
        return text.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return nil }
            guard let (name, position) = CredentialScan(bytes: base, count: bytes.count).first() else { return nil }
            return Kind(name: name, line: 1 + bytes[..<position].count { $0 == UInt8(ascii: "\n") })
        }
    }

    /// Throws if a string has a credential on a line missing in the replaced text. Credentials already in a file do
    /// not prevent other changes.
    /// - Throws: `credential`, with the kind, the line and a safer place.
    static func refuse(_ text: String, replacing old: String = "", at path: WorkspacePath) throws {
        guard found(in: text) != nil, let kind = found(in: emptying(text, of: old)) else { return }
        throw RecollectError(.credential, "\(path.names.joined(separator: "/")) was not written: \(kind.reason)")
    }

    /// Returns a string with the lines of another string emptied, so that the remaining lines keep their numbers.
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
            "an encrypted store or an environment variable"
        #endif
    }
}
