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

    /// Creates a file from a content.
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

/// An error thrown if a file does not have the expected version. The file is unchanged.
public struct FileChangedError: Error, Sendable {
    /// The path of the file.
    public let path: WorkspacePath
    /// The current file; `nil` if it is missing.
    public let current: WorkspaceFile?

    /// Creates an error.
    public init(path: WorkspacePath, current: WorkspaceFile?) {
        self.path = path
        self.current = current
    }
}

extension FileChangedError: LocalizedError, CustomStringConvertible {
    /// A description of the failure and its remedy, without any file content.
    public var description: String {
        guard let current else { return "\(path) was not written: it no longer exists" }
        return "\(path) was not written: it changed since it was read; merge your changes with the current version "
            + "\(current.version.rawValue), and write again"
    }

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }
}

/// An error thrown for a known file that is not local. Its download was requested.
public struct FileNotYetAvailableError: Error, Sendable {
    /// The file; `nil` if the error was created without one.
    public let url: URL?

    /// Creates an error.
    public init(url: URL? = nil) {
        self.url = url
    }
}

extension FileNotYetAvailableError: LocalizedError, CustomStringConvertible {
    /// A description of the failure and its remedy.
    public var description: String {
        "\(url?.lastPathComponent ?? "The file") is not on this device yet; its download was requested: try again later"
    }

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }
}
