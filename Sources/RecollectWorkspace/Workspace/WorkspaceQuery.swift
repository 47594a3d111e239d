import Foundation

/// A search in a workspace.
///
/// ```swift
/// for file in try await workspace.search(WorkspaceQuery("polar night", limit: 10)).files {
///     print(file.path, file.lines.first?.text ?? "")
/// }
/// ```
public struct WorkspaceQuery: Hashable, Sendable {
    /// The words, separated by whitespace, at most 1,000 bytes. A file matches if its path or text contains each of
    /// them, regardless of case and accents.
    public var text: String
    /// The folder to search, with its subfolders.
    public var folder: WorkspacePath
    /// The maximum number of files in the result.
    public var limit: Int
    /// The maximum number of lines for each file.
    public var linesPerFile: Int
    /// The maximum number of bytes to read.
    public var byteLimit: Int

    /// Creates a query.
    public init(
        _ text: String, in folder: WorkspacePath = .root, limit: Int = 50, linesPerFile: Int = 5,
        byteLimit: Int = 200_000_000
    ) {
        self.text = text
        self.folder = folder
        self.limit = limit
        self.linesPerFile = linesPerFile
        self.byteLimit = byteLimit
    }
}

/// The result of a search.
public struct WorkspaceSearchResult: Hashable, Sendable {
    /// The matching files, sorted by path.
    public var files: [WorkspaceMatch] = []
    /// The number of files not searched because their contents are not local.
    public var filesNotLocal = 0
    /// The number of files not searched because they are too large, not text, or unreadable.
    public var filesNotSearched = 0
    /// The number of folders not searched because they are unreadable.
    public var foldersNotSearched = 0
    /// Whether a limit of the query ended the search, so that further files may match.
    public var isTruncated = false

    /// Creates an empty result.
    public init() {}
}

/// A file found by a search.
public struct WorkspaceMatch: Hashable, Sendable {
    /// A line of text.
    public struct Line: Hashable, Sendable {
        /// The line number, from 1.
        public let number: Int
        /// The line. A long one is shortened to the text around the first word found.
        public let text: String
    }

    /// The path of the file.
    public let path: WorkspacePath
    /// The lines with most of the query's words, in the order of the file.
    public let lines: [Line]
}
