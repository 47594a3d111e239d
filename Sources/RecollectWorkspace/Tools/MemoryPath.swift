import Foundation
import RecollectCore

/// A path of the memory tool, such as `/memories/notes.md`, and the workspace path it names.
struct MemoryPath {
    /// The path as written by the model.
    let text: String
    /// The path in the workspace.
    let path: WorkspacePath
    /// Whether the path names the memory folder itself.
    let isRoot: Bool

    /// The name of the memory folder for a model.
    static let root = "/memories"

    /// Creates a path.
    ///
    /// Empty names and `.` are dropped. Refused are `..`, `\`, and any text with such a name after decoding percent
    /// escapes, or after replacing letters similar to dots and slashes. No later step decodes names: this refusal
    /// protects programs given the same path.
    /// - Throws: `MemoryFailure` for a path outside the folder, or with a name not valid in a workspace.
    init(_ text: String, in folder: WorkspacePath) throws {
        let bytes = text.utf8
        let start = Self.root.utf8
        guard bytes.count <= Self.longest else {
            throw MemoryFailure("The path \(text.prefix(bytes: 200))… is not valid: it is too long.")
        }
        guard bytes.starts(with: start), bytes.count == start.count || bytes.dropFirst(start.count).first == Self.slash
        else { throw MemoryFailure("Path must start with /memories, got: \(text)") }
        let rest = String(decoding: bytes.dropFirst(start.count), as: UTF8.self)
        let names = Self.names(of: rest)
        guard !Self.escapes(rest, names) else { throw MemoryFailure("Path \(text) would escape /memories directory") }
        for name in names {
            if let reason = WorkspaceName.refusal(of: name.composed) {
                throw MemoryFailure("The path \(text) is not valid: \(reason).")
            }
        }
        self.text = text
        isRoot = names.isEmpty
        do {
            path = try names.reduce(folder) { try $0.appending($1) }
        } catch {
            throw MemoryFailure("The path \(text) is not valid: it is too long, or has too many directories.")
        }
    }

    /// The path as the beginning of the paths in it: without a slash at its end.
    var prefix: String {
        var bytes = Substring(text).utf8
        while bytes.last == Self.slash { bytes.removeLast() }
        return String(Substring(bytes))
    }

    private static let slash = UInt8(ascii: "/")
    /// The maximum number of bytes of a path, over the limit of a workspace path: the composition of longer texts is slow.
    private static let longest = 2_000

    private static func names(of text: String) -> [String] {
        text.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }
    }

    /// Whether a string names another folder, by itself or in another spelling.
    private static func escapes(_ text: String, _ names: [String]) -> Bool {
        if text.utf8.contains(UInt8(ascii: "\\")) { return true }
        let plain = plain(text)
        let slashes = text.utf8.count { $0 == slash }
        return plain.utf8.count { $0 == slash || $0 == UInt8(ascii: "\\") } != slashes
            || (names + Self.names(of: plain)).contains {
                [".", ".."].contains($0.trimmingCharacters(in: .whitespaces))
            }
            || Self.names(of: plain).count != names.count
    }

    /// Returns a string without percent escapes, compatibility characters and letters similar to slashes.
    private static func plain(_ text: String) -> String {
        var plain = String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { !WorkspaceName.isForbidden($0) || $0.isASCII }.map { similar[$0] ?? $0 }))
        // Each round removes one level of escapes.
        for _ in 0..<8 {
            let next = decoded(plain.precomposedStringWithCompatibilityMapping)
            if next.hasSameBytes(as: plain) { break }
            plain = next
        }
        return plain
    }

    /// The letters similar to slashes without a compatibility mapping to one.
    private static let similar: [Unicode.Scalar: Unicode.Scalar] = [
        "\u{2044}": "/", "\u{2215}": "/", "\u{29F8}": "/", "\u{2216}": "\\", "\u{29F5}": "\\", "\u{29F9}": "\\",
    ]

    /// Returns a string with its percent escapes decoded, once.
    private static func decoded(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let digits = bytes[position...].dropFirst().prefix(2)
            if bytes[position] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                position += 3
            } else {
                decoded.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
