import Foundation
import RecollectCore
import RecollectFileSystem

extension FolderProvider {
    /// Returns the files in the lineage folder and in its copies made by a sync service (`.recollect 2`), sorted
    /// by folder and name.
    ///
    /// Files larger than `LineageFile.maxSize` are left out. So are files not on this device; their download is
    /// requested if the system can download files.
    /// - Throws: `unavailable`, and disk errors.
    public func lineageFiles() throws -> [LineageFile] {
        try withFileErrors("read", rootURL.path) {
            let root = try openRoot()
            var files: [LineageFile] = []
            for name in try root.names().sorted() where name.hasPrefix(LineageFile.folderName) {
                guard try root.entry(name)?.kind == .folder, let folder = try nilIfMissing({ try root.folder(name) })
                else {
                    continue
                }
                for file in try folder.names().sorted() {
                    if let original = Placeholder.original(of: file) {
                        try Placeholder.requestDownload(of: Self.url(of: original, in: folder))
                    } else if let bytes = try read(file, in: folder) {
                        files.append(LineageFile(name: file, bytes: bytes))
                    }
                }
            }
            return files
        }
    }

    /// Returns a file in the lineage folder itself; `nil` if it is missing, too large, or not on this device.
    /// - Throws: `unavailable`, and disk errors.
    public func lineageFile(named name: String) throws -> LineageFile? {
        try withFileErrors("read", rootURL.path) {
            let root = try openRoot()
            guard let folder = try nilIfMissing({ try root.folder(LineageFile.folderName) }),
                let bytes = try read(name, in: folder)
            else { return nil }
            return LineageFile(name: name, bytes: bytes)
        }
    }

    private func read(_ name: String, in folder: OpenFolder) throws -> [UInt8]? {
        guard !TemporaryName.isOne(name), let entry = try folder.entry(name), entry.kind == .file,
            entry.size <= LineageFile.maxSize
        else { return nil }
        guard !entry.isDataless else {
            try Placeholder.requestDownload(of: Self.url(of: name, in: folder))
            return nil
        }
        return try nilIfMissing { try FoundFile.read(name, in: folder, limit: LineageFile.maxSize) }
    }

    private static func url(of name: String, in folder: OpenFolder) -> URL {
        URL(fileURLWithPath: folder.path(of: name), isDirectory: false)
    }

    /// Replaces or removes a file in the lineage folder. Creates the folder if needed.
    ///
    /// Atomic but not durable: a power loss may leave the old content, or an incomplete file, ignored by readers.
    /// - Throws: `unavailable`; `foreignStore` if the folder's name is taken by something other than a folder; and
    ///   disk errors.
    public func writeLineageFile(named name: String, _ bytes: [UInt8]?) throws {
        try withFileErrors("write", rootURL.path + "/" + LineageFile.folderName) {
            let root = try openRoot()
            try root.makeFolder(LineageFile.folderName)
            let folder = try root.folder(LineageFile.folderName)
            guard let bytes else {
                _ = try nilIfMissing { try folder.remove(name) }
                return
            }
            let temporary = TemporaryName.draft()
            do {
                try folder.makeFile(temporary).write(bytes, at: 0)
                try folder.rename(temporary, to: name)
            } catch {
                // If this fails, the file is removed with the leftovers.
                try? folder.remove(temporary)
                throw error
            }
            // All temporary files are drafts, because writes in this folder do not exchange names.
            try removeLeftovers(in: folder, named: folder.names().filter(TemporaryName.isOne))
        }
    }
}
