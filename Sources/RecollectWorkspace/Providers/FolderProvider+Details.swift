import CFiles
import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension FolderProvider {
    /// Copies what a file has beside its content to an empty file elsewhere, which is made anew: its owner, its rights, the extended
    /// attributes that users and programs gave it, and when it was last changed. What cannot be copied is left out.
    /// - Throws: `notFound`, `notLocal`, and what a disk throws.
    public func saveDetails(of path: WorkspacePath, to url: URL) throws {
        try explaining("look at", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent),
                let file = try FoundFile(path, in: folder)?.open()
            else { throw notFound(path) }
            let place = try OpenFolder.make(path: url.deletingLastPathComponent().path)
            let name = url.lastPathComponent
            _ = try ifThere { try place.remove(name) }
            let copy = try place.makeFile(name)
            try Self.copyDetails(of: file, to: copy)
            try Self.copyDate(of: file, to: copy)
        }
    }

    /// Gives a file that has some content what `saveDetails` copied; one that has another content stays as it is.
    /// - Parameter isDated: Whether it gets the date of the last change, too.
    /// - Throws: `notFound`, `notLocal`, and what a disk throws.
    public func applyDetails(
        from url: URL, to path: WorkspacePath, holding expected: ContentHash, isDated: Bool
    ) throws {
        try explaining("change", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent),
                let file = try FoundFile(path, in: folder)?.open(),
                let copy = try ifThere({
                    try OpenFolder(path: url.deletingLastPathComponent().path)
                        .file(url.lastPathComponent, forWriting: false)
                })
            else { throw notFound(path) }
            guard ContentHash(of: try FoundFile.read(file)) == expected else { return }
            try Self.copyDetails(of: copy, to: file)
            if isDated { try Self.copyDate(of: copy, to: file) }
        }
    }

    /// Gives a file the extended attributes, the owner and the rights of another one.
    static func copyDetails(of old: OpenFile, to new: OpenFile) throws {
        // In this order: into a file that nobody may write nobody writes attributes either.
        recollect_copy_extended_attributes(old.descriptor, new.descriptor)
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
        // Best effort: only its owner may date a file.
        _ = futimens(new.descriptor, [date, date])
    }
}
