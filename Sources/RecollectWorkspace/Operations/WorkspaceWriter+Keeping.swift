import Foundation
import RecollectCore

extension WorkspaceWriter {
    /// Writes content beside its file as a kept copy with the file's metadata, and returns the path.
    /// - Throws: `notLocal` if the file at the path is not local; its download is requested. `FileChangedError` if
    ///   each possible name has other content.
    func keep(
        _ bytes: [UInt8], beside path: WorkspacePath, by author: WorkspaceAuthor = .recollect,
        as kind: WorkspaceVersion.Kind = .merged
    ) throws -> WorkspacePath {
        let hash = ContentHash(of: bytes)
        var taken = FileChangedError(path: path, current: nil)
        for copyPath in KeptCopyName.paths(for: hash, beside: path) {
            let there: WorkspaceFile?
            do {
                there = try scanner.fileIfPresent(at: copyPath)
            } catch let error as RecollectError where error.code == .notLocal {
                try provider.requestDownload(of: copyPath)
                throw error
            }
            guard let there else {
                let parents = kind == .merged ? [hash] : []
                let copy = try put(bytes, to: copyPath, replacing: nil, by: author, as: kind, parents: parents)
                copyDetails(of: path, to: copy)
                return copy.path
            }
            // The content is the same if another device resolved this conflict, and different if the kept copy was
            // edited.
            if there.version == hash {
                // The lineage of this device names the unmerged versions, too.
                if kind == .merged {
                    try archive.recordMerge(copyPath, into: hash, parents: [hash], now: configuration.now())
                }
                return copyPath
            }
            taken = FileChangedError(path: copyPath, current: there)
        }
        throw taken
    }

    /// Archives the versions of a file at its provider before they are resolved, or removed with their file.
    func keep(_ versions: [ConflictVersion], of main: WorkspaceFile?) throws {
        guard let main, !versions.isEmpty else { return }
        for bytes in versions.map(\.bytes) + [main.bytes] {
            let found = ObservedContent(path: main.path, hash: ContentHash(of: bytes), bytes: bytes, isConflicted: true)
            try archive.found([found], since: archive.snapshot().position, now: configuration.now())
        }
    }
}
