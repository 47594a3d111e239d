import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Replaces the text of a file, atomically and durably, if the file has the expected version.
    ///
    /// The replaced content is archived first. Missing parent folders are created. Writing the current content
    /// again changes nothing.
    /// - Parameters:
    ///   - text: The complete new content.
    ///   - path: The path of the file.
    ///   - replacing: The expected version; `nil` if the file must not exist.
    ///   - author: The author of the new version.
    /// - Throws: `FileChangedError` with the current content if the file has another version or is missing;
    ///   `credential` for a line resembling a credential and missing in the replaced content; `tooLarge`;
    ///   `notLocal`; `unavailable` during a mass deletion; `UnconfirmedChangeError` if the file was written and a
    ///   later step failed.
    @discardableResult
    public func write(
        _ text: String, to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await write(Array(text.utf8), to: path, replacing: replacing, by: author)
    }

    /// Replaces the bytes of a file, under the conditions of the text variant. The bytes may be text.
    @discardableResult
    public func write(
        _ bytes: [UInt8], to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await writing { try self.writer.put(bytes, to: path, replacing: replacing, by: author) }
    }

    /// Appends text to a file, and creates the file if it is missing. Concurrent appends of other writers are kept.
    ///
    /// If the last line has no line end, one is added first. If other writers interfere, the append is repeated for
    /// some seconds. After an `UnconfirmedChangeError`, the same append adds nothing more.
    /// - Throws: As `write(_:to:replacing:by:)`, except `FileChangedError`; `busy` if other writers interfered
    ///   every time; `unreadable` if the file is not UTF-8 text.
    @discardableResult
    public func append(
        _ text: String, to path: WorkspacePath, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await update(path, by: author) { file in
            guard let file, let last = file.bytes.last else { return Array(text.utf8) }
            guard file.bytes.isText else {
                throw RecollectError(
                    .unreadable,
                    "\(path) is not UTF-8 text, so no text can be appended: convert it first, or write the whole file as bytes"
                )
            }
            return file.bytes + (last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]) + Array(text.utf8)
        }
    }

    /// Reads a file, changes its content and writes it. Starts again if the file changed in between.
    ///
    /// - Parameter change: Returns the new content for the current file, or for `nil` if the file is missing. It
    ///   may be called several times.
    @discardableResult
    func update(
        _ path: WorkspacePath, by author: WorkspaceAuthor,
        _ change: @escaping @Sendable (WorkspaceFile?) throws -> [UInt8]
    ) async throws -> WorkspaceFile {
        try await writing { try self.writer.update(path, by: author, change) }
    }
}
