import Foundation
import RecollectCore

/// A file's content at the time of reading, with its version.
public struct WorkspaceFile: Hashable, Sendable {
    /// The path of the file.
    public let path: WorkspacePath
    /// The content.
    public let bytes: [UInt8]
    /// The hash of `bytes`, and the expected version of a later write.
    public let version: ContentHash

    /// Creates a file from content.
    public init(path: WorkspacePath, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        version = ContentHash(of: bytes)
    }

    /// The content as text. Invalid UTF-8 is replaced with `U+FFFD`.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Returns the content as text for an edit.
    /// - Throws: `unreadable` for a file that is not UTF-8, because the replacements in `text` lose content.
    func wholeText() throws -> String {
        guard let text = String(validUTF8: bytes) else {
            throw RecollectError(.unreadable, "\(path) is not UTF-8 text; read its bytes with read(_:download:)")
        }
        return text
    }
}
