import Foundation

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
