import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A workspace in a plain folder, which a sync service or nothing at all keeps the same on other devices.
///
/// Names are resolved step by step inside the folder that was there when the provider was made: a symbolic link below
/// it is never followed, whoever makes it and when, and a folder that was removed, replaced or unmounted is
/// `unavailable`, never empty. The folder itself may be named by a link. It is kept open, so it cannot be unmounted
/// meanwhile. Files are made for this user alone (0600, folders 0700); one that is given new content keeps its rights.
///
/// A file whose name on the disk is the decomposed form (NFD) of its path is that path's file. Where both forms are
/// there, the composed one is; it is listed as conflicted, and the other one is among its `conflictVersions`. Names
/// that differ in case are two files where the file system says so, and one where it does not: then a write keeps the
/// name that is there.
public final class FolderProvider: WorkspaceProvider {
    /// The folder, as it was named, in absolute form.
    public let rootURL: URL

    /// Open so that no other folder gets its identity.
    private let root: OpenFolder
    private let watcher: FolderWatcher
    let now: @Sendable () -> Date
    /// What happens between a look at a file and the exchange of names that follows, for tests.
    let beforeExchange: @Sendable () -> Void

    /// Opens a folder, which is made if it is missing.
    /// - Throws: `invalidArgument` for a URL that is none of a file; `foreignStore` where something else is in the way;
    ///   what a disk throws.
    public convenience init(root: URL) throws {
        try self.init(root: root, now: { Date() })
    }

    init(root url: URL, now: @escaping @Sendable () -> Date, beforeExchange: @escaping @Sendable () -> Void = {}) throws
    {
        guard url.isFileURL else {
            throw RecollectError(.invalidArgument, "\(url) is no folder on this device: give a file URL")
        }
        rootURL = url.absoluteURL.standardizedFileURL
        let path = rootURL.path
        root = try explaining("open", path) { try OpenFolder.make(path: path) }
        watcher = FolderWatcher(path: path)
        self.now = now
        self.beforeExchange = beforeExchange
    }

    /// What lies in a folder, one level, in no order; under the names of paths, whatever their form on the disk.
    /// - Throws: `notFound`, `unavailable`, `foreignStore` for a file or a link.
    public func items(in folder: WorkspacePath) throws -> [WorkspaceItem] {
        try explaining("list", path(of: folder)) {
            guard let opened = try self.folder(at: folder) else { throw notFound(folder) }
            return try Listing(opened, at: folder).items()
        }
    }

    /// The names of what is left out of a folder's list, links and devices too; those that are not UTF-8 as far as they can be shown.
    /// - Throws: `notFound`, `unavailable`, `foreignStore` for a file or a link.
    public func unlistedNames(in folder: WorkspacePath) throws -> [String] {
        try explaining("list", path(of: folder)) {
            guard let opened = try self.folder(at: folder) else { throw notFound(folder) }
            return try Listing(opened, at: folder).unlistedNames()
        }
    }

    /// One file or folder; `nil` where there is none, and for links and devices.
    /// - Throws: `unavailable`, `foreignStore` where a folder above is a file or a link.
    public func item(at path: WorkspacePath) throws -> WorkspaceItem? {
        try explaining("look at", self.path(of: path)) {
            guard let parent = path.parent else {
                _ = try openRoot()
                return WorkspaceItem(path: .root, isFolder: true)
            }
            guard let folder = try folder(at: parent) else { return nil }
            return try Listing(folder, at: parent).item(at: path)
        }
    }

    /// The path under which a file or folder lies, on a file system that ignores case; elsewhere the path itself.
    /// - Throws: `unavailable`.
    public func spelling(of path: WorkspacePath) throws -> WorkspacePath {
        try explaining("look at", self.path(of: path)) {
            var folder: OpenFolder? = try openRoot()
            var names: [String] = []
            for name in path.names {
                guard let parent = folder, let found = try FoundFile.name(name, in: parent) else {
                    names.append(name)
                    folder = nil
                    continue
                }
                names.append(try FoundFile.spelling(of: found, in: parent))
                // Below a file there is nothing, and whoever wants to read or write it is told so.
                folder = try? parent.folder(found)
            }
            return (try? WorkspacePath(names.joined(separator: "/"))) ?? path
        }
    }

    /// The bytes of a file; never starts a download. A program that writes into the file meanwhile may be read
    /// half-way.
    /// - Throws: `notFound`, `notLocal`, `tooLarge` above `limit` bytes, `unavailable`, `foreignStore`.
    public func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
        try explaining("read", self.path(of: path)) {
            guard let parent = path.parent else { throw notFound(path) }
            guard let folder = try folder(at: parent),
                let bytes = try FoundFile(path, in: folder)?.read(limit: limit)
            else { throw notFound(path) }
            return bytes
        }
    }

    /// Asks the system for a file's content where it can fetch one; elsewhere a sync service brings it when it does.
    /// - Throws: `unavailable`, and what the system says.
    public func requestDownload(of path: WorkspacePath) throws {
        guard try item(at: path)?.state == .notLocal else { return }
        try Placeholder.requestDownload(of: rootURL.appendingPathComponent(path.description, isDirectory: false))
    }

    /// The contents of files that differ from the path's file in the form of their names alone (NFD beside NFC).
    /// - Throws: `unavailable`, and what a disk throws.
    public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        try explaining("read", self.path(of: path)) {
            guard let parent = path.parent, !path.name.isASCII,
                let folder = try folder(at: parent)
            else { return [] }
            return try FoundFile.otherForms(of: path, in: folder).map { name in
                ConflictVersion(id: name, bytes: try FoundFile.read(name, in: folder))
            }
        }
    }

    /// Removes versions that still hold what they did.
    /// - Throws: `ContentMismatch` for one that was changed since; it stays, and so do those behind it.
    public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        guard let parent = path.parent,
            let folder = try explaining("open", self.path(of: path), { try folder(at: parent) })
        else { return }
        for version in versions {
            try explaining("remove", folder.path(of: version.id)) {
                guard
                    try FoundFile.otherForms(of: path, in: folder).contains(where: { $0.hasSameBytes(as: version.id) })
                else { return }
                try remove(version.id, in: folder, at: parent, holding: ContentHash(of: version.bytes))
            }
        }
    }

    /// Wakes when something in the folder may have changed, whoever changed it: by the kernel's word on Linux,
    /// elsewhere by a look at all files each second. Ends when the task that iterates it is cancelled; while nobody
    /// iterates, nothing is watched.
    public func wakes() -> AsyncStream<Void> { watcher.wakes() }
}

// MARK: - Finding

extension FolderProvider {
    /// The root, if it is still the folder that this was made for.
    func openRoot() throws -> OpenFolder {
        let path = rootURL.path
        do {
            let opened = try OpenFolder(path: path)
            if try opened.isSame(as: root) { return opened }
        } catch let failure as POSIXFailure where [ENOENT, ENOTDIR, ELOOP, ESTALE, ENODEV].contains(failure.number) {
            throw RecollectError(.unavailable, "\(path) is gone; bring it back and open it again", cause: failure)
        }
        throw RecollectError(.unavailable, "\(path) is another folder than the one that was opened; open it again")
    }

    /// Opens a folder; `nil` where there is none.
    func folder(at path: WorkspacePath) throws -> OpenFolder? {
        var folder = try openRoot()
        for name in path.names {
            guard let found = try FoundFile.name(name, in: folder), let next = try ifThere({ try folder.folder(found) })
            else { return nil }
            folder = next
        }
        return folder
    }

    /// Opens a folder, made with those above it where they are missing.
    func madeFolder(at path: WorkspacePath) throws -> OpenFolder {
        var folder = try openRoot()
        for name in path.names {
            if let found = try FoundFile.name(name, in: folder), let next = try ifThere({ try folder.folder(found) }) {
                folder = next
            } else {
                try folder.makeFolder(name)
                folder = try folder.folder(name)
            }
        }
        return folder
    }

    /// Where a path is on the disk, for messages.
    func path(of path: WorkspacePath) -> String {
        path.names.reduce(rootURL.path) { $0 + "/" + $1 }
    }

    func notFound(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notFound, "there is nothing at \(self.path(of: path))")
    }
}
