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

// Recollect writers in all processes take turns, by a lock on the folder. Other programs ignore this lock. So the
// file at a name is taken out by one exchange of names, checked, and only then removed. Two gaps are left. A
// program with the old file open may write into it after the check, and the write is lost. On file systems without
// an exchange (FAT), content written between the second check and the rename is overwritten. Callers archive the
// content they replace.
extension FolderProvider {
    /// Replaces the content of a file, or creates a file, with its parent folders. Durable on return.
    ///
    /// Atomic: at any time, also after a power loss, the file is the old one or the new one. A failed write leaves
    /// nothing behind. The file keeps its permissions, its owner if this process may set it, and, if the file
    /// system supports them, the extended attributes set by users and programs.
    /// - Throws: `ContentMismatchError` if the file has other content, which is left unchanged, or if its folder was
    ///   moved away during the write; `notLocal`; `foreignStore`; `unavailable`; `busy` if another Recollect
    ///   writer hangs; and disk errors (`diskFull`, `readOnly`, `permissionDenied`).
    public func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        try withFileErrors("write", self.path(of: path)) {
            guard let parent = path.parent else {
                throw RecollectError(.invalidArgument, "the workspace folder is not a file; specify a file in it")
            }
            guard let (folder, names) = try lockFolder(at: parent, making: expected == nil) else {
                throw ContentMismatchError(current: nil)
            }
            let found = try FoundFile(path, in: folder)
            let old = try found?.open()
            let current = try old.map { try FoundFile.read($0) }
            guard current.map({ ContentHash(of: $0) }) == expected else { throw ContentMismatchError(current: current) }
            let staged = try stage(bytes, in: folder, like: old, for: found?.name ?? path.name, expecting: expected)
            let mine = try folder.entry(staged)?.stamp
            let name = found.map { names.spelling(of: $0.name) } ?? path.name
            do {
                beforeExchange()
                if let expected {
                    try replace(name, in: folder, at: parent, holding: expected, by: staged, mine, bytes)
                } else {
                    try folder.renameExclusively(staged, to: name)
                }
            } catch {
                // If this fails, the file is removed with the leftovers. With another stamp, it is a foreign file.
                if (try? folder.entry(staged))?.stamp == mine { try? folder.remove(staged) }
                guard let failure = error as? POSIXFailure,
                    failure.number == EEXIST || (failure.number == ENOENT && found != nil)
                else { throw error }
                throw ContentMismatchError(current: try content(at: path, in: parent))
            }
            let synchronized = Result { try folder.synchronizePath() }
            // Another program may have moved the folder away, with the file in it, and put a link in its place.
            let isThere = Result { try stillExists(folder, at: parent) }
            guard case .success(true) = isThere else {
                beforeExchange()
                try takeBack(name, for: staged, mine, bytes, in: folder, at: parent, isNew: expected == nil)
                _ = try isThere.get()
                throw ContentMismatchError(current: try content(at: path, in: parent))
            }
            // The file is written. If this fails, the leftovers are settled later.
            if expected != nil { try? folder.remove(staged) }
            try synchronized.get()
        }
    }

    /// Returns the current content at a path; `nil` without a file.
    private func content(at path: WorkspacePath, in parent: WorkspacePath) throws -> [UInt8]? {
        try folder(at: parent).flatMap { try FoundFile(path, in: $0)?.read() }
    }

    /// Whether a path still leads to an open folder.
    private func stillExists(_ folder: OpenFolder, at path: WorkspacePath) throws -> Bool {
        try self.folder(at: path).map { try $0.isSame(as: folder) } ?? false
    }

    /// Removes a file with an expected content. Its folder stays, even if it is empty.
    /// - Throws: `ContentMismatchError`, `notLocal`, and the errors of `write`.
    public func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        try withFileErrors("remove", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent) else {
                throw ContentMismatchError(current: nil)
            }
            guard let found = try FoundFile(path, in: folder) else { throw ContentMismatchError(current: nil) }
            guard !found.entry.isDataless else { throw FoundFile.notLocal(folder.path(of: found.name)) }
            try remove(found.name, in: folder, at: parent, holding: expected)
        }
    }

    /// Removes the file with a name on disk, if it has an expected content.
    func remove(
        _ name: String, in folder: OpenFolder, at parent: WorkspacePath, holding expected: ContentHash
    ) throws {
        guard try lockFolder(in: folder) != nil else { throw ContentMismatchError(current: nil) }
        let current = try nilIfMissing { try FoundFile.read(name, in: folder) }
        guard let current, ContentHash(of: current) == expected else { throw ContentMismatchError(current: current) }
        beforeExchange()
        let aside = TemporaryName.aside(for: name, from: expected, to: expected)
        // No other file has this name. A hard link, the substitute of an exclusive rename, would be made before another
        // program's save, and the save removed.
        guard try nilIfMissing({ try folder.rename(name, to: aside) }) != nil else {
            throw ContentMismatchError(current: nil)
        }
        let holds = Result { try content(of: aside, in: folder) == expected }
        if case .success(true) = holds {
            // The file no longer has its name. If this fails, the leftovers are settled later.
            try? folder.remove(aside)
            return try folder.synchronize()
        }
        try putBack(aside, to: name, in: folder, at: parent)
        _ = try holds.get()
        throw ContentMismatchError(current: try nilIfMissing { try FoundFile.read(name, in: folder) })
    }

    /// Removes an empty folder. A folder with any content stays, and a missing folder is ignored. Recollect
    /// writers about to create a file in the folder create the folder again.
    /// - Returns: Whether the folder was removed.
    @discardableResult
    public func removeFolder(_ path: WorkspacePath) throws -> Bool {
        try withFileErrors("remove", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent),
                let name = try FoundFile.name(path.name, in: folder), try folder.entry(name)?.kind == .folder,
                let emptied = try nilIfMissing({ try folder.folder(name) })
            else { return false }
            return try withExtendedLifetime(emptied) {
                guard try lockFolder(in: emptied) != nil else { return false }
                guard unlinkat(folder.descriptor, name, AT_REMOVEDIR) == 0 else {
                    if [ENOTEMPTY, EEXIST, ENOENT].contains(errno) { return false }
                    throw POSIXFailure.last
                }
                try folder.synchronize()
                return true
            }
        }
    }

    /// Exchanges a file with a staged one, if it still has an expected content. The old file then has the temporary name.
    private func replace(
        _ name: String, in folder: OpenFolder, at parent: WorkspacePath, holding expected: ContentHash,
        by staged: String, _ mine: FileStamp?, _ bytes: [UInt8]
    ) throws {
        guard try folder.exchange(staged, name) else {
            guard try content(of: name, in: folder) == expected else { throw POSIXFailure(EEXIST) }
            return try folder.rename(staged, to: name)
        }
        let holds = Result { try content(of: staged, in: folder) == expected }
        if case .success(true) = holds { return }
        // Another program wrote in the meantime. Its file goes back, even if it cannot be read.
        beforeExchange()
        try takeBack(name, for: staged, mine, bytes, in: folder, at: parent, isNew: false)
        _ = try holds.get()
        throw POSIXFailure(EEXIST)
    }

    /// Takes a refused write back. A replaced file gets its name again. If another program has written again, its file keeps
    /// the name.
    private func takeBack(
        _ name: String, for staged: String, _ mine: FileStamp?, _ bytes: [UInt8], in folder: OpenFolder,
        at parent: WorkspacePath, isNew: Bool
    ) throws {
        if isNew {
            guard try nilIfMissing({ try folder.rename(name, to: staged) }) != nil else { return }
        } else {
            // Without an exchange, the replaced file is gone.
            guard try folder.entry(staged) != nil else { return }
            guard try nilIfMissing({ try folder.exchange(staged, name) }) != nil else {
                return try putBack(staged, to: name, in: folder, at: parent)
            }
        }
        // On a file system with coarse times, the stamp may be that of a later save.
        guard try folder.entry(staged)?.stamp == mine, try content(of: staged, in: folder) == ContentHash(of: bytes)
        else {
            return try putBack(staged, to: name, in: folder, at: parent)
        }
        try folder.remove(staged)
    }

    /// Gives a foreign file its name again, or the name of a kept copy if that is taken.
    private func putBack(_ aside: String, to name: String, in folder: OpenFolder, at parent: WorkspacePath) throws {
        // Files that cannot be read are put back unread.
        let hash = try? content(of: aside, in: folder)
        let kept = Self.keptNames(for: name, holding: hash, aside, at: parent)
        _ = try renameToFirstFreeName(to: aside, of: hash, in: folder, among: [name] + kept)
    }

    /// Returns the possible names for a temporary file as a kept copy of another file, in order of preference.
    static func keptNames(
        for name: String, holding hash: ContentHash?, _ aside: String, at parent: WorkspacePath
    ) -> [String] {
        // A random name, for files that cannot be read, and in case all other names are taken by other files.
        let chance = ContentHash(of: aside.utf8)
        let names =
            (hash.map { hash in
                KeptCopyName.lengths.compactMap { KeptCopyName.name(for: name, holding: hash, digits: $0, in: parent) }
            } ?? [])
            + [KeptCopyName.name(for: name, holding: chance, digits: KeptCopyName.lengths[0], in: parent)]
            .compactMap { $0 }
        // If all paths would be too long, the file gets a name anyway. It has no valid path then; `unlistedNames`
        // returns the name.
        return names.isEmpty ? [KeptCopyName.name(for: name, holding: chance)] : names
    }

    /// Renames a temporary file to the first free name. If a file with one of the names has the same content,
    /// removes the temporary file instead.
    /// - Returns: The name of the file with the content.
    func renameToFirstFreeName(
        to aside: String, of hash: ContentHash?, in folder: OpenFolder, among names: [String]
    ) throws -> String {
        for name in names {
            do {
                try folder.renameExclusively(aside, to: name)
                try folder.synchronize()
                return name
            } catch let failure as POSIXFailure where failure.number == EEXIST {
                // A file that cannot be read counts as different.
                guard let hash, (try? content(of: name, in: folder)) == hash else { continue }
                try folder.remove(aside)
                return name
            }
        }
        throw POSIXFailure(EEXIST)
    }

    /// Returns the hash of a regular file's content; `nil` without such a file.
    func content(of name: String, in folder: OpenFolder) throws -> ContentHash? {
        guard try folder.entry(name)?.kind == .file else { return nil }
        return try nilIfMissing { ContentHash(of: try FoundFile.read(name, in: folder)) }
    }

    /// Writes a file under a name ignored by sync services. Durable on return.
    /// - Parameters:
    ///   - old: The file to be replaced.
    ///   - name: The final name.
    ///   - expected: The hash of the content to be replaced; `nil` without one.
    private func stage(
        _ bytes: [UInt8], in folder: OpenFolder, like old: OpenFile?, for name: String, expecting expected: ContentHash?
    ) throws -> String {
        let draft = TemporaryName.draft()
        let file = try folder.makeFile(draft)
        do {
            try file.write(bytes, at: 0)
            if let old { try Self.copyDetails(of: old, to: file) }
            try file.synchronize()
            // From now on, the file may receive the content of another program.
            let hash = ContentHash(of: bytes)
            let staged = TemporaryName.aside(for: name, from: expected ?? hash, to: hash)
            try folder.rename(draft, to: staged)
            return staged
        } catch {
            // If this fails, the file is removed with the leftovers.
            try? folder.remove(draft)
            throw error
        }
    }

    /// Opens a folder and waits for its other writers.
    /// - Parameter isMade: Whether to create a missing folder, also if it is removed as empty during the wait.
    /// - Returns: The folder and the names in it; `nil` if it is missing.
    private func lockFolder(
        at path: WorkspacePath, making isMade: Bool
    ) throws -> (folder: OpenFolder, names: [String])? {
        for _ in 0..<100 {
            let opened = try nilIfMissing { try isMade ? madeFolder(at: path) : folder(at: path) } ?? nil
            if let opened, let names = try lockFolder(in: opened) { return (opened, names) }
            if opened == nil, !isMade { return nil }
        }
        throw POSIXFailure(ENOENT)
    }

    /// Waits for the folder's other writers. Then removes the drafts older than an hour, left by killed writers.
    /// - Returns: The names in the folder; `nil` if it was removed or moved away in the meantime.
    private func lockFolder(in folder: OpenFolder) throws -> [String]? {
        try folder.lockAgainstWriters()
        guard try folder.stillExists() else { return nil }
        let names = try folder.names()
        try removeLeftovers(in: folder, named: names.filter(TemporaryName.isDraft))
        return names
    }
}
