import Foundation
import RecollectCore

extension FolderProvider {
    /// The files in the lineage folder, and in what a service made of it (`.recollect 2`), in the order of their names.
    ///
    /// Left out are files that are larger than `LineageFile.largest`, and those that are not on this device: their download is asked for, where
    /// the system can fetch them.
    /// - Throws: `unavailable`, and what a disk throws.
    public func lineageFiles() throws -> [LineageFile] {
        try explaining("read", rootURL.path) {
            let root = try openRoot()
            var files: [LineageFile] = []
            for name in try root.names().sorted() where name.hasPrefix(LineageFile.folderName) {
                guard try root.entry(name)?.kind == .folder, let folder = try ifThere({ try root.folder(name) }) else {
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

    /// A file in the lineage folder itself; `nil` if there is none, it is too large, or it is not on this device.
    /// - Throws: `unavailable`, and what a disk throws.
    public func lineageFile(_ name: String) throws -> LineageFile? {
        try explaining("read", rootURL.path) {
            let root = try openRoot()
            guard let folder = try ifThere({ try root.folder(LineageFile.folderName) }),
                let bytes = try read(name, in: folder)
            else { return nil }
            return LineageFile(name: name, bytes: bytes)
        }
    }

    private func read(_ name: String, in folder: OpenFolder) throws -> [UInt8]? {
        guard !TemporaryName.isOne(name), let entry = try folder.entry(name), entry.kind == .file,
            entry.size <= LineageFile.largest
        else { return nil }
        guard !entry.isDataless else {
            try Placeholder.requestDownload(of: Self.url(of: name, in: folder))
            return nil
        }
        return try ifThere { try FoundFile.read(name, in: folder, limit: LineageFile.largest) }
    }

    private static func url(of name: String, in folder: OpenFolder) -> URL {
        URL(fileURLWithPath: folder.path(of: name), isDirectory: false)
    }

    /// Replaces a file of the lineage folder, which is made where it is missing, or removes it. Atomic, and not durable: a power cut may
    /// leave the old content, or a file that is not complete and tells nothing.
    /// - Throws: `unavailable`, `foreignStore` where something else than a folder has its name, and what a disk throws.
    public func writeLineageFile(_ name: String, _ bytes: [UInt8]?) throws {
        try explaining("write", rootURL.path + "/" + LineageFile.folderName) {
            let root = try openRoot()
            try root.makeFolder(LineageFile.folderName)
            let folder = try root.folder(LineageFile.folderName)
            guard let bytes else {
                _ = try ifThere { try folder.remove(name) }
                return
            }
            let temporary = TemporaryName.draft()
            do {
                try folder.makeFile(temporary).write(bytes, at: 0)
                try folder.rename(temporary, to: name)
            } catch {
                // What cannot be removed either goes with the leftovers.
                try? folder.remove(temporary)
                throw error
            }
            // Nobody exchanges names here, so each of them is a draft.
            try removeLeftovers(in: folder, named: folder.names().filter(TemporaryName.isOne))
        }
    }
}
