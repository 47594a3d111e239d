import Foundation
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A workspace in a plain folder, with or without a sync service.
///
/// Paths are resolved name by name, starting at the folder opened by the initializer. Symbolic links below it are
/// never followed, whenever they are made. A removed, replaced or unmounted folder is `unavailable`, never empty.
/// The folder's own path may contain links. The provider keeps the folder open, so it cannot be unmounted during
/// use. New files are accessible to this user only (0600, folders 0700). A file keeps its permissions when its
/// content is replaced.
///
/// A file with the decomposed form (NFD) of a path as its name on disk is the file at this path. If both forms
/// exist, the composed one is the file. It is listed as conflicted, and the other one is among its
/// `conflictVersions`. Names different only in case are two files on a case-sensitive file system, and one file on
/// others. In the second case, a write keeps the existing name.
public final class FolderProvider: WorkspaceProvider {
    /// The folder as given to the initializer, in absolute form.
    public let rootURL: URL

    /// Kept open so that no other folder gets its identity.
    private let root: OpenFolder
    private let watcher: FolderWatcher
    let now: @Sendable () -> Date
    /// For tests: runs between the check of a file and the following exchange of names.
    let beforeExchange: @Sendable () -> Void

    /// Opens a folder, and creates it if needed.
    /// - Throws: `invalidArgument` for a URL other than a file URL; `foreignStore` if the path is taken by
    ///   something other than a folder; and disk errors.
    public convenience init(root: URL) throws {
        try self.init(root: root, now: { Date() })
    }

    init(root url: URL, now: @escaping @Sendable () -> Date, beforeExchange: @escaping @Sendable () -> Void = {}) throws
    {
        guard url.isFileURL else {
            throw RecollectError(.invalidArgument, "\(url) is not a folder on this device: use a file URL")
        }
        rootURL = url.absoluteURL.standardizedFileURL
        let path = rootURL.path
        root = try withFileErrors("open", path) { try OpenFolder.make(path: path) }
        watcher = FolderWatcher(path: path)
        self.now = now
        self.beforeExchange = beforeExchange
    }

    /// Returns the items in a folder, one level deep, in no particular order. Their paths are in composed form,
    /// whatever the form on disk.
    /// - Throws: `notFound`, `unavailable`, `foreignStore` for a file or a link.
    public func items(in folder: WorkspacePath) throws -> [WorkspaceItem] {
        try withFileErrors("list", path(of: folder)) {
            guard let opened = try self.folder(at: folder) else { throw notFound(folder) }
            return try Listing(opened, at: folder).items()
        }
    }

    /// Returns the names left out by `items(in:)`, including links and devices. Invalid UTF-8 in a name is
    /// repaired.
    /// - Throws: `notFound`, `unavailable`, `foreignStore` for a file or a link.
    public func unlistedNames(in folder: WorkspacePath) throws -> [String] {
        try withFileErrors("list", path(of: folder)) {
            guard let opened = try self.folder(at: folder) else { throw notFound(folder) }
            return try Listing(opened, at: folder).unlistedNames()
        }
    }

    /// Returns a file or folder; `nil` if there is none, and for links and devices.
    /// - Throws: `unavailable`, `foreignStore` if a parent folder is a file or a link.
    public func item(at path: WorkspacePath) throws -> WorkspaceItem? {
        try withFileErrors("read", self.path(of: path)) {
            guard let parent = path.parent else {
                _ = try openRoot()
                return WorkspaceItem(path: .root, isFolder: true)
            }
            guard let folder = try folder(at: parent) else { return nil }
            return try Listing(folder, at: parent).item(at: path)
        }
    }

    /// Returns the path of a file or folder as spelled on disk, if the file system ignores case; otherwise the
    /// path itself.
    /// - Throws: `unavailable`.
    public func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath {
        try withFileErrors("read", self.path(of: path)) {
            var folder: OpenFolder? = try openRoot()
            var names: [String] = []
            for name in path.names {
                guard let parent = folder, let found = try FoundFile.name(name, in: parent) else {
                    names.append(name)
                    folder = nil
                    continue
                }
                names.append(try FoundFile.spelling(of: found, in: parent))
                // A file has no items below it; reads and writes there throw.
                folder = try? parent.folder(found)
            }
            return (try? WorkspacePath(names.joined(separator: "/"))) ?? path
        }
    }

    /// Returns the bytes of a file. Never starts a download. If a program is writing into the file, the result may
    /// be incomplete.
    /// - Throws: `notFound`, `notLocal`, `tooLarge` above `limit` bytes, `unavailable`, `foreignStore`.
    public func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
        try withFileErrors("read", self.path(of: path)) {
            guard let parent = path.parent else { throw notFound(path) }
            guard let folder = try folder(at: parent),
                let bytes = try FoundFile(path, in: folder)?.read(limit: limit)
            else { throw notFound(path) }
            return bytes
        }
    }

    /// Requests the download of a file, if the system can download it. Otherwise does nothing; a sync service
    /// delivers the file at its own time.
    /// - Throws: `unavailable`, and system errors.
    public func requestDownload(of path: WorkspacePath) throws {
        guard try item(at: path)?.state == .notLocal else { return }
        try Placeholder.requestDownload(of: rootURL.appendingPathComponent(path.description, isDirectory: false))
    }

    /// Returns the contents of the path's other files, different only in the normalization of their names (NFD
    /// beside NFC).
    /// - Throws: `unavailable`, and disk errors.
    public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        try withFileErrors("read", self.path(of: path)) {
            guard let parent = path.parent, !path.name.isASCII,
                let folder = try folder(at: parent)
            else { return [] }
            return try FoundFile.otherForms(of: path, in: folder).map { name in
                ConflictVersion(id: name, bytes: try FoundFile.read(name, in: folder))
            }
        }
    }

    /// Removes versions whose content is unchanged.
    /// - Throws: `ContentMismatchError` for a changed version. This version and the following ones stay.
    public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        guard let parent = path.parent,
            let folder = try withFileErrors("open", self.path(of: path), { try folder(at: parent) })
        else { return }
        for version in versions {
            try withFileErrors("remove", folder.path(of: version.id)) {
                guard
                    try FoundFile.otherForms(of: path, in: folder).contains(where: { $0.hasSameBytes(as: version.id) })
                else { return }
                try remove(version.id, in: folder, at: parent, holding: ContentHash(of: version.bytes))
            }
        }
    }

    /// Returns a stream with an element for possible changes in the folder, by any program. On Linux they come
    /// from the kernel, up to its limit of watched folders; otherwise from a comparison of all files every second.
    /// The stream ends when the iterating task is canceled. Without a listener, nothing is watched.
    public func changeSignals() -> AsyncStream<Void> { watcher.changeSignals() }
}

// MARK: - Finding

extension FolderProvider {
    /// Opens the root; throws `unavailable` if it is not the folder opened by the initializer.
    func openRoot() throws -> OpenFolder {
        let path = rootURL.path
        do {
            let opened = try OpenFolder(path: path)
            if try opened.isSame(as: root) { return opened }
        } catch let failure as POSIXFailure where [ENOENT, ENOTDIR, ELOOP, ESTALE, ENODEV].contains(failure.number) {
            throw RecollectError(
                .unavailable, "\(path) is missing; restore or mount it, and open it again", cause: failure)
        }
        throw RecollectError(.unavailable, "\(path) was replaced by another folder; open it again")
    }

    /// Opens a folder; `nil` if there is none.
    func folder(at path: WorkspacePath) throws -> OpenFolder? {
        var folder = try openRoot()
        for name in path.names {
            guard let found = try FoundFile.name(name, in: folder),
                let next = try nilIfMissing({ try folder.folder(found) })
            else { return nil }
            folder = next
        }
        return folder
    }

    /// Opens a folder, and creates it and its parents if needed.
    func madeFolder(at path: WorkspacePath) throws -> OpenFolder {
        var folder = try openRoot()
        for name in path.names {
            if let found = try FoundFile.name(name, in: folder),
                let next = try nilIfMissing({ try folder.folder(found) })
            {
                folder = next
            } else {
                try folder.makeFolder(name)
                folder = try folder.folder(name)
            }
        }
        return folder
    }

    /// Returns the path on disk, for messages.
    func path(of path: WorkspacePath) -> String {
        path.names.reduce(rootURL.path) { $0 + "/" + $1 }
    }

    func notFound(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notFound, "there is no file at \(self.path(of: path))")
    }
}
