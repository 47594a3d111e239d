import Foundation
import RecollectCore

/// The research on one book: its full text and its sources, each written once and never changed.
///
/// ```swift
/// let research = workspace.research("moby-dick")
/// try await research.addSource(title: "Whales of the North", text: chapter, by: .agent("librarian"))
/// let sources = try await research.sources()
/// ```
///
/// Writing the same bytes again changes nothing, so two devices with the same source create one file.
public struct ResearchArea: Sendable {
    /// A saved source.
    public struct Source: Hashable, Sendable {
        /// The path of the file.
        public let path: WorkspacePath
        /// The source's title; the file name if the file is not local, too large, or not written by Recollect.
        public let title: String
        /// The state of the file.
        public let state: FileState
    }

    /// The path of the book's folder.
    public let path: WorkspacePath
    private let workspace: SharedWorkspace

    fileprivate init(_ workspace: SharedWorkspace, bookId: String) {
        self.workspace = workspace
        path = Self.folder(of: bookId)
    }

    /// Returns the folder of a book, named by its encoded ID.
    static func folder(of bookId: String) -> WorkspacePath {
        // Names from `FileNameEncoding` are valid on every system.
        WorkspacePath(checked: ["Research", FileNameEncoding.name(for: bookId)])
    }

    // MARK: The full text

    /// Returns the full text of the book; `nil` if there is none.
    /// - Throws: As `SharedWorkspace.read(_:download:)`, except `notFound`.
    public func fullText(download: DownloadPolicy = .wait(.seconds(60))) async throws -> String? {
        do {
            return try await workspace.read(fullTextPath, download: download).text
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// Saves the full text of the book, once.
    /// - Throws: `conflict` if different text is in place; as `SharedWorkspace.write(_:to:replacing:by:)`.
    @discardableResult
    public func setFullText(_ text: String, by author: WorkspaceAuthor = .user) async throws -> WorkspaceFile {
        try await writeOnce(text, to: fullTextPath, by: author)
    }

    private var fullTextPath: WorkspacePath { WorkspacePath(checked: path.names + ["full_text.txt"]) }

    // MARK: Sources

    /// Saves a source, once. The same title and text again result in the same file.
    /// - Parameters:
    ///   - title: The title, for the first line of the file and a part of its name.
    ///   - text: The content in Markdown.
    ///   - author: The author of the file.
    /// - Throws: `invalidArgument` for a title of more than one line or none; as
    ///   `SharedWorkspace.write(_:to:replacing:by:)`.
    @discardableResult
    public func addSource(
        title: String, text: String, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        let title = title.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !title.isEmpty, !title.contains(where: \.isNewline) else {
            throw RecollectError(.invalidArgument, "a title must be one line of text")
        }
        let content = "# \(title)\n\n\(text)\(text.hasSuffix("\n") ? "" : "\n")"
        let hash = ContentHash(of: content.utf8).rawValue.prefix(8)
        return try await writeOnce(
            content, to: sourcesPath.appending("\(Self.slug(of: title))-\(hash).md"), by: author)
    }

    /// Returns the sources, sorted by file name. Reads the titles of local files, and starts no download.
    public func sources() async throws -> [Source] {
        let items: [WorkspaceItem]
        do {
            items = try await workspace.list(sourcesPath)
        } catch let error as RecollectError where error.code == .notFound {
            return []
        }
        let workspace = workspace
        return try await workspace.reading {
            try items.filter { !$0.isFolder }.map { item in
                let isLocal = item.state == .local || item.state == .conflicted
                let file =
                    isLocal && item.size <= workspace.configuration.maxFileSize
                    ? try workspace.scanner.fileIfPresent(at: item.path) : nil
                let first = file?.text.split(maxSplits: 1, whereSeparator: \.isNewline).first ?? ""
                let title = first.hasPrefix("# ") ? String(first.dropFirst(2)) : item.path.name
                return Source(path: item.path, title: title, state: item.state)
            }
        }
    }

    private var sourcesPath: WorkspacePath { WorkspacePath(checked: path.names + ["sources"]) }

    /// Returns the letters and digits of a title, of any script, in lowercase, with hyphens between words; at most
    /// 60 bytes.
    static func slug(of title: String) -> String {
        let words = title.precomposedStringWithCanonicalMapping.lowercased().split { !$0.isLetter && !$0.isNumber }
        var slug = ""
        for character in words.joined(separator: "-") where slug.utf8.count + character.utf8.count <= 60 {
            slug.append(character)
        }
        // Some scripts use invisible characters not allowed in names.
        slug.unicodeScalars.removeAll { WorkspaceName.isForbidden($0) || $0.properties.isJoinControl }
        return slug.isEmpty ? "source" : slug
    }

    // MARK: Writing once

    private func writeOnce(
        _ text: String, to path: WorkspacePath, by author: WorkspaceAuthor
    ) async throws -> WorkspaceFile {
        do {
            return try await workspace.write(text, to: path, replacing: nil, by: author)
        } catch let changed as FileChangedError {
            let asked = ContentHash(of: text.utf8)
            if let current = changed.current, current.version == asked { return current }
            throw RecollectError(
                .conflict,
                """
                \(path) can be written only once and contains \(changed.current?.version.rawValue ?? "nothing"); \
                \(asked.rawValue) was not written: use another ID, or move the file away first
                """, cause: changed)
        }
    }
}

extension SharedWorkspace {
    /// Returns the research on a book.
    public func research(_ bookId: String) -> ResearchArea {
        ResearchArea(self, bookId: bookId)
    }
}
