import Foundation
import RecollectCore

/// The members that the guide to shared workspaces of iOS apps has, as it has them: they block, and name files by URLs.
extension SharedWorkspace {
    /// The folder of a book's research: its full text and its sources.
    ///
    /// Ids that a path gives a meaning, or that some system refuses, are escaped in it (`PlaceName`).
    public func researchPath(for bookId: String) -> URL {
        url(of: ResearchPlace.folder(of: bookId))
    }

    /// The folder of the journals: `user` and `agent` in it, a file for each day.
    public func journalPath() -> URL {
        rootURL.appendingPathComponent("Journal")
    }

    /// The text of a file. Blocks, but for no download.
    ///
    /// What was read is remembered: `writeFile(_:to:)` replaces that and nothing else.
    /// - Throws: `FileNotYetAvailableError` for a file that is not local, whose download is asked for, and for the old placeholders,
    ///   `.name.icloud`; `unreadable` for a file that is not UTF-8; `invalidArgument` for a URL outside the root; `notFound`, `tooLarge`.
    public func readFile(at url: URL) throws -> String {
        let path = try path(of: url)
        guard let file = try file(at: path) else {
            try provider.requestDownload(of: path)
            throw FileNotYetAvailableError(url: url)
        }
        let text = try file.wholeText()
        lastRead.withLock { $0[path] = file.version }
        return text
    }

    /// Gives a file new text, atomically and durably, if it still has the content that `readFile(at:)` of this instance gave last, or
    /// that was written here last; for a file that was never read here, if there is none. Blocks. Who writes is the user.
    /// - Throws: `FileChangedError` with the current content where something else is there, or nothing any more: read it, merge,
    ///   write again; `invalidArgument` for a URL outside the root; as `write`.
    public func writeFile(_ content: String, to url: URL) throws {
        let path = try path(of: url)
        let known = lastRead.withLock { $0[path] }
        let file = try put(Array(content.utf8), to: path, replacing: known, by: .user)
        lastRead.withLock { $0[path] = file.version }
    }

    /// The folder of the container that this was opened with, asked for now: iCloud Documents, for a workspace that
    /// `RecollectApple` opened; `nil` without a container, and while it cannot be found. May block: never on the main thread.
    public func iCloudDocumentsURL() -> URL? {
        guard let provider = provider as? AccountProvider, provider.account.isCurrent(in: provider.container) else {
            return nil
        }
        return provider.container.containerURL()
    }

    /// The path of a URL in the root.
    /// - Throws: `invalidArgument` for one outside.
    func path(of url: URL) throws -> WorkspacePath {
        let outside = RecollectError(.invalidArgument, "\(url) is not in the workspace \(rootURL.path)")
        guard url.isFileURL else { throw outside }
        let names = url.absoluteURL.pathComponents
        let roots = [rootURL, rootURL.resolvingSymlinksInPath()].map {
            $0.absoluteURL.standardizedFileURL.pathComponents
        }
        guard let root = roots.first(where: { names.count > $0.count && names.starts(with: $0) }) else { throw outside }
        var inside = Array(names.dropFirst(root.count))
        // Systems before macOS 14 put a hidden file in the place of one that is not local.
        if let name = inside.last, name.hasPrefix("."), name.hasSuffix(".icloud"),
            name.utf8.count > ".x.icloud".utf8.count - 1
        {
            inside[inside.count - 1] = String(name.dropFirst().dropLast(".icloud".count))
        }
        return try WorkspacePath(inside.joined(separator: "/"))
    }
}
