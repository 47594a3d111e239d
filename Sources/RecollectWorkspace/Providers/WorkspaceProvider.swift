import Foundation
import RecollectCore

/// Where the files of a workspace lie: a plain folder, a cloud's folder, a simulation of one.
///
/// A provider knows files, not their meaning: it reads, replaces and removes single files, each atomically and only when they
/// still hold what the caller knows of them. All calls block, and are made off the cooperative pool, from several threads at
/// once. Paths are resolved inside the root whatever symbolic links are made meanwhile. Failures are `RecollectError`s:
/// `unavailable` while the root itself is gone, `notFound`, `notLocal`, `tooLarge`, `foreignStore` for something else than a
/// regular file or a folder in the way, and those of a disk. Whoever writes one proves it with `WorkspaceProviderSuite` in
/// `RecollectTesting`.
public protocol WorkspaceProvider: Sendable {
    /// The folder, for showing it and for code that names files by URLs.
    var rootURL: URL { get }

    /// What lies in a folder, one level, in no order; names that are no workspace's (temporary files of the sync, `.DS_Store`,
    /// names that are not UTF-8, symbolic links) left out. A file that is not local is listed under its own name.
    /// - Throws: `notFound` where there is no such folder, except for the root of a provider that is available: that is empty.
    func items(in folder: WorkspacePath) throws -> [WorkspaceItem]

    /// The names of what lies in a folder and `items(in:)` leaves out, for telling them: each names a file, a folder or a link of which
    /// nobody hears otherwise. Hidden names and temporary files, which programs keep for themselves, are passed over.
    /// - Throws: `notFound` where there is no such folder.
    func unlistedNames(in folder: WorkspacePath) throws -> [String]

    /// One file or folder; `nil` where there is none.
    func item(at path: WorkspacePath) throws -> WorkspaceItem?

    /// The path under which a file or folder lies, where the provider takes several spellings for one (`Notes.md`, `notes.md`). What is
    /// not there is spelled as it is asked for, in the folders that are.
    func spelling(of path: WorkspacePath) throws -> WorkspacePath

    /// The bytes of a file. Never starts a download.
    /// - Throws: `notFound`, `notLocal`, `tooLarge` above `limit` bytes.
    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8]

    /// Gives a file new content, on the disk when this returns; folders above are made.
    /// - Parameters:
    ///   - bytes: The whole new content.
    ///   - path: Which file.
    ///   - expected: The hash of the content that it replaces; `nil` where there is to be no file yet.
    /// - Throws: `ContentMismatch` where something else is there, which then stays untouched; `notLocal` where the file is there but its
    ///   content is not.
    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws

    /// Removes a file that still has some content; folders that become empty stay.
    /// - Throws: `ContentMismatch`, `notLocal`.
    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws

    /// Removes a folder in which nothing is left; one with anything in it stays, and so does one that is not there.
    /// - Returns: Whether it was removed.
    @discardableResult
    func removeFolder(_ path: WorkspacePath) throws -> Bool

    /// Copies what a file has beside its content (rights, owner, extended attributes, the date of its last change) to an empty file
    /// elsewhere on this device, as far as that can be done. `applyDetails` gives it to another file.
    func saveDetails(of path: WorkspacePath, to url: URL) throws

    /// Gives a file what `saveDetails` copied, if it has some content.
    /// - Parameter isDated: Whether it gets the date of the last change, too.
    func applyDetails(from url: URL, to path: WorkspacePath, holding expected: ContentHash, isDated: Bool) throws

    /// Settles what writers that were killed left in a folder: what only they wrote goes; what may be the only copy of what somebody else
    /// saved goes if it is known, and becomes a file beside the one that it came from (`name (kept …)`) if it is not. Nothing happens
    /// where a writer is at work, or may be.
    /// - Parameters:
    ///   - folder: Which folder, without those in it.
    ///   - includingRecent: Whether also what was left only now is settled, where it is certain that no writer is at work.
    ///   - isKnown: Whether a content of a file is kept elsewhere; of any file where the path is `nil`.
    func settleLeftovers(
        in folder: WorkspacePath, includingRecent: Bool, isKnown: (ContentHash, _ path: WorkspacePath?) throws -> Bool
    ) throws -> SettledLeftovers

    /// Asks for the content of a file that is not local, and returns at once; nothing happens for one that is.
    func requestDownload(of path: WorkspacePath) throws

    /// The contents that lost against the file in a conflict that the provider itself keeps apart (`NSFileVersion`).
    func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion]

    /// Marks versions as resolved, after their contents were kept elsewhere.
    func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws

    /// The files in the lineage folder, `LineageFile.folderName` in the root, and in copies that a service made of it (`.recollect 2`); those left out
    /// that are not local, which are asked for, or larger than `LineageFile.largest`.
    func lineageFiles() throws -> [LineageFile]

    /// One of the files in the lineage folder; `nil` if `lineageFiles()` does not return it.
    func lineageFile(_ name: String) throws -> LineageFile?

    /// Gives a file of the lineage folder new content, atomically, or removes it. The content need not be on the disk when this returns.
    /// - Parameters:
    ///   - name: Which file, one of the caller's own.
    ///   - bytes: The whole new content; `nil` removes the file.
    func writeLineageFile(_ name: String, _ bytes: [UInt8]?) throws

    /// Wakes when something in the root may have changed, whoever changed it; ends when the task that iterates it is cancelled.
    func wakes() -> AsyncStream<Void>
}

extension WorkspaceProvider {
    /// No names: the provider cannot tell.
    public func unlistedNames(in folder: WorkspacePath) throws -> [String] { [] }

    /// The path itself: each spelling is a file of its own.
    public func spelling(of path: WorkspacePath) throws -> WorkspacePath { path }

    /// Nothing to do: files have nothing beside their contents.
    public func saveDetails(of path: WorkspacePath, to url: URL) throws {}

    /// Nothing to do.
    public func applyDetails(
        from url: URL, to path: WorkspacePath, holding expected: ContentHash, isDated: Bool
    ) throws {}

    /// Nothing to do: killed writers leave nothing.
    public func settleLeftovers(
        in folder: WorkspacePath, includingRecent: Bool, isKnown: (ContentHash, _ path: WorkspacePath?) throws -> Bool
    ) throws -> SettledLeftovers { SettledLeftovers() }

    /// No files: devices tell each other nothing through the provider, and conflicts are merged without a base.
    public func lineageFiles() throws -> [LineageFile] { [] }

    /// Looks through all files.
    public func lineageFile(_ name: String) throws -> LineageFile? { try lineageFiles().first { $0.name == name } }

    /// Nothing to do.
    public func writeLineageFile(_ name: String, _ bytes: [UInt8]?) throws {}

    /// No versions: the provider keeps conflicts as files, or has none.
    public func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] { [] }

    /// Nothing to do.
    public func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {}
}

/// A version of a file that a provider keeps beside it because two devices changed it.
public struct ConflictVersion: Hashable, Sendable {
    /// Names the version for the provider.
    public let id: String
    /// Its content.
    public let bytes: [UInt8]

    /// Makes a version.
    public init(id: String, bytes: [UInt8]) {
        self.id = id
        self.bytes = bytes
    }
}

/// What a provider throws instead of overwriting something that its caller has not seen.
public struct ContentMismatch: Error, Sendable, CustomStringConvertible {
    /// What is there now; `nil` where there is no file.
    public let current: [UInt8]?

    /// Makes the error.
    public init(current: [UInt8]?) {
        self.current = current
    }

    /// What happened; never holds any of the content.
    public var description: String {
        current == nil ? "the file is not there" : "the file has another content than its writer expects"
    }
}
