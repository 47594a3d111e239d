import RecollectCore

/// The shared notes of the agents in a workspace: the file `context.md`, with headings.
///
/// ```swift
/// try await workspace.context.append("- ships", under: "Likes", by: .agent("planner"))
/// let text = try await workspace.context.read()?.text
/// ```
public struct ContextFile: Sendable {
    /// The path of the file.
    public let path: WorkspacePath = Self.path

    private let workspace: SharedWorkspace

    fileprivate init(_ workspace: SharedWorkspace) {
        self.workspace = workspace
    }

    /// Returns the file; `nil` if it is missing.
    /// - Throws: As `SharedWorkspace.read(_:download:)`, except `notFound`.
    public func read(download: DownloadPolicy = .wait(.seconds(60))) async throws -> WorkspaceFile? {
        do {
            return try await workspace.read(path, download: download)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// Replaces the text of the file, as `SharedWorkspace.write(_:to:replacing:by:)`.
    @discardableResult
    public func write(
        _ text: String, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await workspace.write(text, to: path, replacing: replacing, by: author)
    }

    /// Appends text to the section of a heading, before the next heading of the same or a higher level. A missing
    /// heading is added at the end of the file, at the second level.
    ///
    /// Changes of other writers are kept: the file is read again, and the text is added to its current content.
    /// - Parameters:
    ///   - text: Lines of Markdown.
    ///   - heading: The text of the heading, without `#`.
    ///   - author: The author of the new version.
    /// - Throws: As `SharedWorkspace.append(_:to:by:)`; `invalidArgument` for a heading of more than one line or
    ///   none; `unreadable` for a file that is not UTF-8.
    @discardableResult
    public func append(
        _ text: String, under heading: String, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        let sections = try MarkdownSections(heading: heading)
        return try await workspace.update(path, by: author) { file in
            Array(sections.adding(text, to: try file?.wholeText() ?? "").utf8)
        }
    }

    // The names are plain ASCII, valid on every system.
    static let path = WorkspacePath(checked: ["context.md"])
}

extension SharedWorkspace {
    /// The shared notes of the agents, in `context.md`.
    public var context: ContextFile { ContextFile(self) }
}
