import Foundation
import RecollectCore

/// The members of the guide to shared workspaces of iOS apps, with its signatures. They block, and use URLs for
/// files.
extension SharedWorkspace {
    /// Returns the folder of a book's research, with its full text and its sources.
    ///
    /// Characters of the ID with a meaning in paths, or refused by a file system, are escaped (`FileNameEncoding`).
    public func researchPath(for bookId: String) -> URL {
        url(of: ResearchArea.folder(of: bookId))
    }

    /// Returns the journal folder. Its subfolders `user` and `agent` have one file for each day.
    public func journalPath() -> URL {
        rootURL.appendingPathComponent("Journal")
    }

    /// Returns the text of a file, and records its version for `writeFile(_:to:)`.
    ///
    /// Blocks, but does not wait for downloads.
    /// - Throws: `FileNotYetAvailableError` for a file that is not local, also under its old placeholder name
    ///   `.name.icloud`; its download is requested. `unreadable` for a file that is not UTF-8; `invalidArgument`
    ///   for a URL outside the root; `notFound`; `tooLarge`.
    public func readFile(at url: URL) throws -> String {
        let path = try path(of: url)
        let found: WorkspaceFile?
        do {
            found = try scanner.file(at: path)
        } catch let error as RecollectError where error.code == .notFound {
            lastRead.withLock { $0[path] = nil }
            throw error
        }
        guard let file = found else {
            try provider.requestDownload(of: path)
            throw FileNotYetAvailableError(url: url)
        }
        let text = try file.wholeText()
        lastRead.withLock { $0[path] = file.version }
        return text
    }

    /// Replaces the text of a file, atomically and durably, with the user as the author.
    ///
    /// The expected version is the one last read with `readFile(at:)` or written with this method, by this instance.
    /// Without one, the file must not exist. If several views edit a file, use `read(_:download:)` and
    /// `write(_:to:replacing:by:)` instead. Blocks.
    /// - Throws: `FileChangedError` with the current content if the file has another version or is missing: read
    ///   it, merge, and write again. `invalidArgument` for a URL outside the root. As `write(_:to:replacing:by:)`.
    public func writeFile(_ content: String, to url: URL) throws {
        let path = try path(of: url)
        let known = lastRead.withLock { $0[path] }
        let file = try writer.put(Array(content.utf8), to: path, replacing: known, by: .user)
        lastRead.withLock { $0[path] = file.version }
    }

    /// Returns the current folder of this workspace's container, for example of iCloud Documents.
    ///
    /// May block for a long time; never call it on the main thread.
    /// - Returns: `nil` without a container, while the folder cannot be found, or if another account is signed in.
    public func iCloudDocumentsURL() -> URL? {
        guard let provider = provider as? AccountProvider, provider.account.isCurrent(in: provider.container) else {
            return nil
        }
        return provider.container.containerURL()
    }

    /// Returns the path of a URL in the root.
    /// - Throws: `invalidArgument` for a URL outside the root.
    func path(of url: URL) throws -> WorkspacePath {
        let outside = RecollectError(.invalidArgument, "\(url) is not in the workspace \(rootURL.path)")
        guard url.isFileURL else { throw outside }
        let names = url.absoluteURL.pathComponents
        let roots = [rootURL, rootURL.resolvingSymlinksInPath()].map {
            $0.absoluteURL.standardizedFileURL.pathComponents
        }
        guard let root = roots.first(where: { names.count > $0.count && names.starts(with: $0) }) else { throw outside }
        var inside = Array(names.dropFirst(root.count))
        // Systems before macOS 14 have a hidden placeholder instead of a file that is not local.
        if let name = inside.last, name.hasPrefix("."), name.hasSuffix(".icloud"),
            name.utf8.count > ".x.icloud".utf8.count - 1
        {
            inside[inside.count - 1] = String(name.dropFirst().dropLast(".icloud".count))
        }
        return try WorkspacePath(inside.joined(separator: "/"))
    }
}
