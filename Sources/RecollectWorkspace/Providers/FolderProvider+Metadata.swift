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

extension FolderProvider {
    /// Copies a file's metadata to a new, empty file elsewhere: its owner, its permissions, the extended
    /// attributes set by users and programs, and its modification date. Replaces an existing file. Metadata that
    /// cannot be copied is left out.
    /// - Throws: `notFound`, `notLocal`, and disk errors.
    public func saveMetadata(of path: WorkspacePath, to url: URL) throws {
        try withFileErrors("read", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent),
                let file = try FoundFile(path, in: folder)?.open()
            else { throw notFound(path) }
            let detailsFolder = try OpenFolder.make(path: url.deletingLastPathComponent().path)
            let name = url.lastPathComponent
            _ = try nilIfMissing { try detailsFolder.remove(name) }
            let copy = try detailsFolder.makeFile(name)
            try Self.copyDetails(of: file, to: copy)
            try Self.copyDate(of: file, to: copy)
        }
    }

    /// Applies the metadata copied by `saveMetadata` to a file with an expected content. A file with other content
    /// stays unchanged.
    /// - Parameters:
    ///   - url: The file written by `saveMetadata`.
    ///   - path: The path of the file to change.
    ///   - expected: The version of this file.
    ///   - setsModificationDate: Whether to set the modification date, too.
    /// - Throws: `notFound`, also if the copied metadata is missing; `notLocal`; and disk errors.
    public func applyMetadata(
        from url: URL, to path: WorkspacePath, holding expected: ContentHash, setsModificationDate: Bool
    ) throws {
        try withFileErrors("change", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent),
                let file = try FoundFile(path, in: folder)?.open(),
                let copy = try nilIfMissing({
                    try OpenFolder(path: url.deletingLastPathComponent().path)
                        .file(url.lastPathComponent, forWriting: false)
                })
            else { throw notFound(path) }
            guard ContentHash(of: try FoundFile.read(file)) == expected else { return }
            try Self.copyDetails(of: copy, to: file)
            if setsModificationDate { try Self.copyDate(of: copy, to: file) }
        }
    }

    /// Copies the extended attributes, the owner and the permissions of a file to another file.
    static func copyDetails(of old: OpenFile, to new: OpenFile) throws {
        // In this order: attributes cannot be written to a read-only file.
        new.takeExtendedAttributes(of: old)
        try new.takeRights(of: old)
    }

    private static func copyDate(of old: OpenFile, to new: OpenFile) throws {
        var status = stat()
        guard fstat(old.descriptor, &status) == 0 else { throw POSIXFailure.last }
        #if canImport(Darwin)
            let date = status.st_mtimespec
        #else
            let date = status.st_mtim
        #endif
        // Best effort: only the owner of a file may set its dates.
        _ = futimens(new.descriptor, [date, date])
    }
}
