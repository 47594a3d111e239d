import Foundation

/// What is searched for in a workspace.
public struct WorkspaceQuery: Hashable, Sendable {
    /// Words, parted by blanks, 1,000 bytes at most: a file is found that has all of them in its path or its text, whatever their case
    /// and accents.
    public var text: String
    /// Where is searched, its folders included.
    public var folder: WorkspacePath
    /// How many files are found at most.
    public var limit: Int
    /// How many lines of each are given at most.
    public var linesPerFile: Int
    /// How many bytes are read at most.
    public var byteLimit: Int

    /// Makes a query.
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

/// What a search found.
public struct WorkspaceSearchResult: Hashable, Sendable {
    /// The files, in the order of their paths.
    public var files: [WorkspaceMatch] = []
    /// How many files could not be looked into because their content is not on this device.
    public var filesNotLocal = 0
    /// How many were not looked into because they are too large, or no text, or cannot be read.
    public var filesNotSearched = 0
    /// How many folders were not looked into because this process may not, or the disk cannot.
    public var foldersNotSearched = 0
    /// Whether there may be more: the query's limits ended the search.
    public var isCut = false

    /// Makes a result of nothing.
    public init() {}
}

/// A file that a search found.
public struct WorkspaceMatch: Hashable, Sendable {
    /// A line of text.
    public struct Line: Hashable, Sendable {
        /// Its number, from 1.
        public let number: Int
        /// The line, cut around the first word where it is long.
        public let text: String
    }

    /// The file.
    public let path: WorkspacePath
    /// Lines that have words of the query: those with most of them, in the order of the file.
    public let lines: [Line]
}
