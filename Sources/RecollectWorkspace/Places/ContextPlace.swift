import RecollectCore

/// `context.md`: what the agents of a workspace have come to know, under headings, for all of them to read.
public struct ContextPlace: Sendable {
    /// Where it lies.
    public let path: WorkspacePath = Self.path

    private let workspace: SharedWorkspace

    fileprivate init(_ workspace: SharedWorkspace) {
        self.workspace = workspace
    }

    /// The file; `nil` where there is none yet.
    /// - Throws: as `SharedWorkspace.read`, but for `notFound`.
    public func read(download: DownloadPolicy = .wait(.seconds(60))) async throws -> WorkspaceFile? {
        do {
            return try await workspace.read(path, download: download)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// Gives the file new text, if it still has the content that its writer knows: as `SharedWorkspace.write`.
    @discardableResult
    public func write(
        _ text: String, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await workspace.write(text, to: path, replacing: replacing, by: author)
    }

    /// Adds text at the end of what stands under a heading, above the next heading of its level or a higher one; a heading that is not
    /// there is added at the end of the file, of the second level.
    ///
    /// Nothing that others write meanwhile is lost: the file is read again and the text added to that.
    /// - Parameters:
    ///   - text: Lines of Markdown.
    ///   - heading: The heading's text, without `#`.
    ///   - author: Who writes.
    /// - Throws: as `SharedWorkspace.append`; `invalidArgument` for a heading of more than one line or none; `unreadable` for a file
    ///   that is not UTF-8.
    @discardableResult
    public func append(
        _ text: String, under heading: String, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        let sections = try MarkdownSections(heading: heading)
        return try await workspace.update(path, by: author) { file in
            Array(sections.adding(text, to: try file?.wholeText() ?? "").utf8)
        }
    }

    // The names are plain ASCII that every system takes.
    static let path = WorkspacePath(checked: ["context.md"])
}

extension SharedWorkspace {
    /// What the agents have come to know: `context.md`.
    public var context: ContextPlace { ContextPlace(self) }
}
