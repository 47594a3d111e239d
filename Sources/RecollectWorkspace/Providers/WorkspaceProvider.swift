import Foundation
import RecollectCore

/// The file system of a workspace: a plain folder, a cloud folder, or a simulation.
///
/// A provider handles files regardless of their meaning. It reads, replaces and removes single files, each
/// atomically, and only if the file still has the expected version. All calls block. They run outside the
/// cooperative thread pool, on several threads at once. Paths never leave the root, even if symbolic links are
/// created during a call. Errors are `RecollectError`s: `unavailable` while the root is missing; `notFound`;
/// `notLocal`; `tooLarge`; `foreignStore` if the path is taken by something other than a regular file or a folder;
/// and disk errors. To test an implementation, use `WorkspaceProviderSuite` in `RecollectTesting`.
public protocol WorkspaceProvider: Sendable {
    /// The root folder, for display and for code with file URLs.
    var rootURL: URL { get }

    /// Returns the items in a folder, one level deep, in no particular order. Names not allowed in a workspace are
    /// left out: temporary files of the sync service, `.DS_Store`, names with invalid UTF-8, symbolic links. A
    /// file that is not local has its own name in the list.
    /// - Throws: `notFound` for a missing folder. The root of an available provider may be missing: it is empty
    ///   then.
    func items(in folder: WorkspacePath) throws -> [WorkspaceItem]

    /// Returns the names left out by `items(in:)`, for display: files, folders and links with no other way to be
    /// noticed. Hidden names and temporary files, private to programs, are skipped.
    /// - Throws: `notFound` for a missing folder.
    func unlistedNames(in folder: WorkspacePath) throws -> [String]

    /// Returns a file or folder; `nil` if there is none.
    func item(at path: WorkspacePath) throws -> WorkspaceItem?

    /// Returns the actual path of a file or folder, if the provider accepts several spellings (`Notes.md`,
    /// `notes.md`). Missing items keep the given spelling, below the actual spelling of existing folders.
    func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath

    /// Returns the bytes of a file. Never starts a download.
    /// - Throws: `notFound`, `notLocal`, `tooLarge` above `limit` bytes.
    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8]

    /// Replaces the content of a file, or creates a file, with its parent folders. Durable on return.
    /// - Parameters:
    ///   - bytes: The whole new content.
    ///   - path: The file's path.
    ///   - expected: The hash of the expected version; `nil` if the file must not exist.
    /// - Throws: `ContentMismatchError` if the file has other content, which is left unchanged; `notLocal` if the
    ///   file exists but its content is not on this device.
    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws

    /// Removes a file with an expected version. Its folder stays, even if it is empty.
    /// - Throws: `ContentMismatchError`, `notLocal`.
    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws

    /// Removes an empty folder. A folder with any content stays, and a missing folder is ignored.
    /// - Returns: Whether the folder was removed.
    @discardableResult
    func removeFolder(_ path: WorkspacePath) throws -> Bool

    /// Copies a file's metadata (permissions, owner, extended attributes, modification date) to an empty file
    /// elsewhere on this device, as far as possible. `applyMetadata` applies it to another file.
    func saveMetadata(of path: WorkspacePath, to url: URL) throws

    /// Applies the metadata copied by `saveMetadata` to a file with an expected version.
    /// - Parameters:
    ///   - url: The file written by `saveMetadata`.
    ///   - path: The path of the file to change.
    ///   - expected: The version of this file.
    ///   - setsModificationDate: Whether to set the modification date, too.
    func applyMetadata(from url: URL, to path: WorkspacePath, holding expected: ContentHash, setsModificationDate: Bool)
        throws

    /// Removes or renames the temporary files of killed writers in a folder.
    ///
    /// Files written only by Recollect are removed. Others may have the only copy of content saved by another
    /// program. Such a file is removed if it has the content of the killed write, and `isArchived` returns true. Otherwise it
    /// becomes a kept copy beside the original file, as `name (kept …)`. Nothing happens if a writer is or may be active.
    /// - Parameters:
    ///   - folder: The folder. Its subfolders are not included.
    ///   - includingRecent: Whether to include recent files, if certainly no writer is active.
    ///   - isArchived: Whether content is saved elsewhere.
    func resolveLeftovers(
        in folder: WorkspacePath, includingRecent: Bool, isArchived: (ContentHash) throws -> Bool
    ) throws -> LeftoverReport

    /// Requests the download of a file that is not local, and returns immediately. Does nothing for a local file.
    func requestDownload(of path: WorkspacePath) throws

    /// Returns the losing versions of a conflict, if the provider itself stores them (`NSFileVersion`).
    func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion]

    /// Marks versions as resolved, after their contents were saved elsewhere.
    func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws

    /// Returns the files in the lineage folder (`LineageFile.folderName` in the root) and in its copies made by a
    /// sync service (`.recollect 2`). Leaves out files larger than `LineageFile.maxSize`, and files that are not
    /// local; requests the download of the latter.
    func lineageFiles() throws -> [LineageFile]

    /// Returns one of the files in the lineage folder; `nil` if `lineageFiles()` leaves it out.
    func lineageFile(named name: String) throws -> LineageFile?

    /// Replaces or removes a file in the lineage folder, atomically. The content need not be durable on return.
    /// - Parameters:
    ///   - name: The file's name, one of the caller's own.
    ///   - bytes: The whole new content; `nil` removes the file.
    func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws

    /// Returns a stream with an element for possible changes in the root, by any program. It ends when the
    /// iterating task is canceled.
    func changeSignals() -> AsyncStream<Void>
}

extension WorkspaceProvider {
    /// Returns no names: the provider cannot find them.
    public func unlistedNames(in folder: WorkspacePath) throws -> [String] { [] }

    /// Returns the path itself: each spelling is a different file.
    public func canonicalPath(of path: WorkspacePath) throws -> WorkspacePath { path }

    /// Does nothing: files have no metadata.
    public func saveMetadata(of path: WorkspacePath, to url: URL) throws {}

    /// Does nothing.
    public func applyMetadata(
        from url: URL, to path: WorkspacePath, holding expected: ContentHash, setsModificationDate: Bool
    ) throws {}

    /// Does nothing: killed writers leave no files.
    public func resolveLeftovers(
        in folder: WorkspacePath, includingRecent: Bool, isArchived: (ContentHash) throws -> Bool
    ) throws -> LeftoverReport { LeftoverReport() }

    /// Returns no files: devices do not share lineage through the provider, and conflicts are merged without a
    /// base.
    public func lineageFiles() throws -> [LineageFile] { [] }

    /// Searches the result of `lineageFiles()`.
    public func lineageFile(named name: String) throws -> LineageFile? { try lineageFiles().first { $0.name == name } }

    /// Does nothing.
    public func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {}

    /// Returns no versions: the provider stores conflicts as files, or has none.
    public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] { [] }

    /// Does nothing.
    public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {}
}
