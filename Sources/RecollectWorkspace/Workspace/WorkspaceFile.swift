import Foundation
import RecollectCore

/// A file's content as somebody read it, and what names that content when it is written again.
public struct WorkspaceFile: Hashable, Sendable {
    /// Where it lies.
    public let path: WorkspacePath
    /// The content.
    public let bytes: [UInt8]
    /// What a writer hands back to say which content it replaces.
    public let version: ContentHash

    /// Makes a file of a content.
    public init(path: WorkspacePath, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        version = ContentHash(of: bytes)
    }

    /// The content as text; what is not UTF-8 in it is replaced by `U+FFFD`.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The content as text that is to be written back.
    /// - Throws: `unreadable` for a file that is not UTF-8: what `text` replaces would be lost.
    func wholeText() throws -> String {
        guard let text = String(validUTF8: bytes) else {
            throw RecollectError(.unreadable, "\(path) is no UTF-8 text; read its bytes with read(_:download:)")
        }
        return text
    }
}

/// Who writes: kept with every version on this device.
public struct WorkspaceAuthor: Hashable, Sendable, Codable {
    /// The agent's id; `nil` for the user.
    public let agentId: String?

    /// The user.
    public static let user = WorkspaceAuthor(agentId: nil)

    /// An agent.
    public static func agent(_ id: String) -> WorkspaceAuthor { WorkspaceAuthor(agentId: id) }
}

/// A file is not what its writer last read, so nothing was written.
public struct FileChangedError: Error, Sendable {
    /// Whose content it is.
    public let path: WorkspacePath
    /// What is there now; `nil` where there is no file any more.
    public let current: WorkspaceFile?

    /// Makes the error.
    public init(path: WorkspacePath, current: WorkspaceFile?) {
        self.path = path
        self.current = current
    }
}

extension FileChangedError: LocalizedError, CustomStringConvertible {
    /// What happened and what to do; never holds any of the content.
    public var description: String {
        guard let current else { return "\(path) was not written: it is not there any more" }
        return "\(path) was not written: it is not what its writer last read; merge that with the version "
            + "\(current.version.rawValue), which is there now, and write again"
    }

    /// The description: what an alert shows as `localizedDescription`.
    public var errorDescription: String? { description }
}

/// A file is known, but its content is not on this device yet; the download was asked for.
public struct FileNotYetAvailableError: Error, Sendable {
    /// The file; `nil` where the error was made without one.
    public let url: URL?

    /// Makes the error.
    public init(url: URL? = nil) {
        self.url = url
    }
}

extension FileNotYetAvailableError: LocalizedError, CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        "\(url?.lastPathComponent ?? "The file") is not on this device yet; its download was asked for: try again later"
    }

    /// The description: what an alert shows as `localizedDescription`.
    public var errorDescription: String? { description }
}
