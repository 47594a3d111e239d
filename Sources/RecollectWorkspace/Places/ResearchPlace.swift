import Foundation
import RecollectCore

/// The research on one book: its full text and the sources that were found, each written once and never changed.
///
/// What is written twice with the same bytes is there once, so two devices that find the same source make one file.
public struct ResearchPlace: Sendable {
    /// A source that was kept.
    public struct Source: Hashable, Sendable {
        /// Where it lies.
        public let path: WorkspacePath
        /// Its title; the file's name where the title cannot be read: the file is not local, or not of Recollect's making.
        public let title: String
        /// Whether its text is on this device.
        public let state: FileState
    }

    /// The folder.
    public let path: WorkspacePath
    private let workspace: SharedWorkspace

    fileprivate init(_ workspace: SharedWorkspace, bookId: String) {
        self.workspace = workspace
        path = Self.folder(of: bookId)
    }

    /// The folder of a book: its id, with what a file name cannot have escaped.
    static func folder(of bookId: String) -> WorkspacePath {
        // What `PlaceName` gives is a name for every system.
        WorkspacePath(checked: ["Research", PlaceName.name(for: bookId)])
    }

    // MARK: The full text

    /// The full text of the book; `nil` where there is none yet.
    /// - Throws: as `SharedWorkspace.read`, but for `notFound`.
    public func fullText(download: DownloadPolicy = .wait(.seconds(60))) async throws -> String? {
        do {
            return try await workspace.read(fullTextPath, download: download).text
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// Keeps the full text of the book, once.
    /// - Throws: `conflict` where another text is there; as `SharedWorkspace.write`.
    @discardableResult
    public func setFullText(_ text: String, by author: WorkspaceAuthor = .user) async throws -> WorkspaceFile {
        try await writeOnce(text, to: fullTextPath, by: author)
    }

    private var fullTextPath: WorkspacePath { WorkspacePath(checked: path.names + ["full_text.txt"]) }

    // MARK: Sources

    /// Keeps a source, once: the same title and text again are the same file.
    /// - Parameters:
    ///   - title: Its title: the first line of the file, and a part of its name.
    ///   - text: Markdown.
    ///   - author: Who found it.
    /// - Throws: `invalidArgument` for a title that is not one line; as `SharedWorkspace.write`.
    @discardableResult
    public func addSource(
        title: String, text: String, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        let title = title.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !title.isEmpty, !title.contains(where: \.isNewline) else {
            throw RecollectError(.invalidArgument, "a title is one line of text")
        }
        let content = "# \(title)\n\n\(text)\(text.hasSuffix("\n") ? "" : "\n")"
        let hash = ContentHash(of: content.utf8).rawValue.prefix(8)
        return try await writeOnce(
            content, to: sourcesPath.appending("\(Self.slug(of: title))-\(hash).md"), by: author)
    }

    /// The sources, in the order of their names. Reads the titles of those that are on this device; starts no download.
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
                    isLocal && item.size <= workspace.configuration.largestFile
                    ? try workspace.fileIfThere(at: item.path) : nil
                let first = file?.text.split(maxSplits: 1, whereSeparator: \.isNewline).first ?? ""
                let title = first.hasPrefix("# ") ? String(first.dropFirst(2)) : item.path.name
                return Source(path: item.path, title: title, state: item.state)
            }
        }
    }

    private var sourcesPath: WorkspacePath { WorkspacePath(checked: path.names + ["sources"]) }

    /// The letters and digits of a title, of any script, in lower case, with hyphens between its words; cut at 60 bytes.
    static func slug(of title: String) -> String {
        let words = title.precomposedStringWithCanonicalMapping.lowercased().split { !$0.isLetter && !$0.isNumber }
        var slug = ""
        for character in words.joined(separator: "-") where slug.utf8.count + character.utf8.count <= 60 {
            slug.append(character)
        }
        // Letters of some scripts bring invisible ones, which names may not have everywhere.
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
                \(path) is written once and holds \(changed.current?.version.rawValue ?? "nothing"); \
                \(asked.rawValue) was not written: use another id, or move the file away first
                """, cause: changed)
        }
    }
}

extension SharedWorkspace {
    /// The research on a book.
    public func research(_ bookId: String) -> ResearchPlace {
        ResearchPlace(self, bookId: bookId)
    }
}
