import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

// Writers of ours, in all processes, take turns by a lock on the folder. Foreign programs know nothing of it: so what
// stands at a name is taken out by one exchange of names, looked at, and only then removed. A moment is left: who has
// the old file open and writes into it after that look, writes into nothing; and on file systems that cannot exchange
// (FAT), what is written between the second look and the renaming is overwritten. Callers keep what they replace.
extension FolderProvider {
    /// Gives a file new content, on the disk when this returns; folders above are made.
    ///
    /// The file is the old one or the new one at any moment, a power cut too, and nothing is left of a write that
    /// failed. It keeps its rights, its owner where this process may give it to them, and, where the file system can, the extended
    /// attributes that users and programs gave it.
    /// - Throws: `ContentMismatch` where something else is there, which then stays, or its folder was moved away meanwhile; `notLocal`, `foreignStore`,
    ///   `unavailable`, `busy` where another writer of ours hangs, and what a disk throws (`diskFull`, `readOnly`,
    ///   `permissionDenied`).
    public func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        try explaining("write", self.path(of: path)) {
            guard let parent = path.parent else {
                throw RecollectError(.invalidArgument, "the workspace's folder itself holds no text; name a file in it")
            }
            guard let (folder, names) = try takeTurn(at: parent, making: expected == nil) else {
                throw ContentMismatch(current: nil)
            }
            let found = try FoundFile(path, in: folder)
            let old = try found?.open()
            let current = try old.map { try FoundFile.read($0) }
            guard current.map({ ContentHash(of: $0) }) == expected else { throw ContentMismatch(current: current) }
            let staged = try stage(bytes, in: folder, like: old, for: found?.name ?? path.name)
            let mine = try folder.entry(staged)?.stamp
            do {
                beforeExchange()
                if let found, let expected {
                    let name = names.spelling(of: found.name)
                    try replace(name, in: folder, at: parent, holding: expected, by: staged, mine)
                } else {
                    try folder.renameExclusively(staged, to: path.name)
                }
            } catch {
                // What is left of it goes with the leftovers; what is not mine under that name is somebody's file.
                if (try? folder.entry(staged))?.stamp == mine { try? folder.remove(staged) }
                guard let failure = error as? POSIXFailure,
                    failure.number == EEXIST || (failure.number == ENOENT && found != nil)
                else { throw error }
                throw ContentMismatch(current: try FoundFile(path, in: folder)?.read())
            }
            try folder.synchronizePath()
            // Somebody may have moved the folder away, and the file with it.
            guard try isStillThere(folder, at: parent) else {
                let current = try self.folder(at: parent).flatMap { try FoundFile(path, in: $0)?.read() }
                throw ContentMismatch(current: current)
            }
        }
    }

    /// Whether a path still leads to an open folder.
    private func isStillThere(_ folder: OpenFolder, at path: WorkspacePath) throws -> Bool {
        try self.folder(at: path).map { try $0.isSame(as: folder) } ?? false
    }

    /// Removes a file that still has some content; folders that become empty stay.
    /// - Throws: `ContentMismatch`, `notLocal`, and what `write` throws.
    public func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        try explaining("remove", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent) else {
                throw ContentMismatch(current: nil)
            }
            guard let found = try FoundFile(path, in: folder) else { throw ContentMismatch(current: nil) }
            guard !found.entry.isDataless else { throw FoundFile.notLocal(folder.path(of: found.name)) }
            try remove(found.name, in: folder, at: parent, holding: expected)
        }
    }

    /// Removes a file of some name on the disk, if it still has some content.
    func remove(
        _ name: String, in folder: OpenFolder, at parent: WorkspacePath, holding expected: ContentHash
    ) throws {
        guard try takeTurn(in: folder) != nil else { throw ContentMismatch(current: nil) }
        let current = try ifThere { try FoundFile.read(name, in: folder) }
        guard let current, ContentHash(of: current) == expected else { throw ContentMismatch(current: current) }
        beforeExchange()
        let aside = TemporaryName.aside(for: name)
        guard try ifThere({ try folder.renameExclusively(name, to: aside) }) != nil else {
            throw ContentMismatch(current: nil)
        }
        let holds = Result { try content(of: aside, in: folder) == expected }
        if case .success(true) = holds {
            // The file is gone from its name. What stays under the other one is settled with the leftovers.
            try? folder.remove(aside)
            return try folder.synchronize()
        }
        try putBack(aside, to: name, in: folder, at: parent)
        _ = try holds.get()
        throw ContentMismatch(current: try ifThere { try FoundFile.read(name, in: folder) })
    }

    /// Removes a folder in which nothing is left; one with anything in it stays, and so does one that is not there.
    /// Writers of ours who are about to make a file in it make it anew.
    /// - Returns: Whether it was removed.
    @discardableResult
    public func removeFolder(_ path: WorkspacePath) throws -> Bool {
        try explaining("remove", self.path(of: path)) {
            guard let parent = path.parent, let folder = try folder(at: parent),
                let name = try FoundFile.name(path.name, in: folder), try folder.entry(name)?.kind == .folder,
                let emptied = try ifThere({ try folder.folder(name) })
            else { return false }
            return try withExtendedLifetime(emptied) {
                guard try takeTurn(in: emptied) != nil else { return false }
                guard unlinkat(folder.descriptor, name, AT_REMOVEDIR) == 0 else {
                    if [ENOTEMPTY, EEXIST, ENOENT].contains(errno) { return false }
                    throw POSIXFailure.last
                }
                try folder.synchronize()
                return true
            }
        }
    }

    /// Gives a name what is staged, if it still holds some content; the old file is gone then.
    private func replace(
        _ name: String, in folder: OpenFolder, at parent: WorkspacePath, holding expected: ContentHash,
        by staged: String, _ mine: FileStamp?
    ) throws {
        guard try folder.exchange(staged, name) else {
            guard try content(of: name, in: folder) == expected else { throw POSIXFailure(EEXIST) }
            return try folder.rename(staged, to: name)
        }
        let holds = Result { try content(of: staged, in: folder) == expected }
        if case .success(true) = holds {
            // The file is written. What stays under the other name is settled with the leftovers.
            try? folder.remove(staged)
            return
        }
        // Somebody was quicker: theirs goes back, also where it cannot be read, and what comes out is mine, unless they have
        // written once more.
        beforeExchange()
        if try ifThere({ try folder.exchange(staged, name) }) == nil || folder.entry(staged)?.stamp != mine {
            try putBack(staged, to: name, in: folder, at: parent)
        }
        _ = try holds.get()
        throw POSIXFailure(EEXIST)
    }

    /// Gives somebody else's file its name again, or one that says what it is where that is taken.
    private func putBack(_ aside: String, to name: String, in folder: OpenFolder, at parent: WorkspacePath) throws {
        // One that cannot be read is put back unread.
        let hash = try? content(of: aside, in: folder)
        let kept = Self.keptNames(for: name, holding: hash, aside, at: parent)
        _ = try giveName(to: aside, of: hash, in: folder, among: [name] + kept)
    }

    /// The names that the file of a temporary name may get beside another file, the first one first.
    static func keptNames(
        for name: String, holding hash: ContentHash?, _ aside: String, at parent: WorkspacePath
    ) -> [String] {
        // What cannot be read gets a name of chance, and so does what would take names that somebody has given other files.
        let chance = ContentHash(of: aside.utf8)
        let names =
            (hash.map { hash in
                KeptName.lengths.compactMap { KeptName.name(for: name, holding: hash, digits: $0, in: parent) }
            } ?? [])
            + [KeptName.name(for: name, holding: chance, digits: KeptName.lengths[0], in: parent)]
            .compactMap { $0 }
        // Where each path is too long the file is there, and told as left out.
        return names.isEmpty ? [KeptName.name(for: name, holding: chance)] : names
    }

    /// Gives the file of a temporary name the first name that is free; where one has the same content already, that is enough.
    func giveName(
        to aside: String, of hash: ContentHash?, in folder: OpenFolder, among names: [String]
    ) throws -> String {
        for name in names {
            do {
                try folder.renameExclusively(aside, to: name)
                try folder.synchronize()
                return name
            } catch let failure as POSIXFailure where failure.number == EEXIST {
                // What cannot be read there is another file.
                guard let hash, (try? content(of: name, in: folder)) == hash else { continue }
                try folder.remove(aside)
                return name
            }
        }
        throw POSIXFailure(EEXIST)
    }

    /// The hash of what a regular file holds; `nil` where there is none.
    func content(of name: String, in folder: OpenFolder) throws -> ContentHash? {
        guard try folder.entry(name)?.kind == .file else { return nil }
        return try ifThere { ContentHash(of: try FoundFile.read(name, in: folder)) }
    }

    /// Writes a file under a name that no sync service passes on, on the disk when this returns.
    /// - Parameters:
    ///   - old: The file that it takes the place of.
    ///   - name: The name that it is to have.
    private func stage(
        _ bytes: [UInt8], in folder: OpenFolder, like old: OpenFile?, for name: String
    ) throws -> String {
        let draft = TemporaryName.draft()
        let file = try folder.makeFile(draft)
        do {
            try file.write(bytes, at: 0)
            if let old { try Self.copyDetails(of: old, to: file) }
            try file.synchronize()
            // From here on it may come to hold what somebody else wrote.
            let staged = TemporaryName.aside(for: name)
            try folder.rename(draft, to: staged)
            return staged
        } catch {
            // What cannot be removed goes with the leftovers.
            try? folder.remove(draft)
            throw error
        }
    }

    /// Opens a folder and waits for its other writers.
    /// - Parameter isMade: Whether it is made where it is missing, again where it is removed as empty while this waits.
    /// - Returns: The folder and the names in it; `nil` where there is none.
    private func takeTurn(
        at path: WorkspacePath, making isMade: Bool
    ) throws -> (folder: OpenFolder, names: [String])? {
        for _ in 0..<100 {
            let opened = try ifThere { try isMade ? madeFolder(at: path) : folder(at: path) } ?? nil
            if let opened, let names = try takeTurn(in: opened) { return (opened, names) }
            if opened == nil, !isMade { return nil }
        }
        throw POSIXFailure(ENOENT)
    }

    /// Waits for the folder's other writers, and removes the drafts that killed ones left more than an hour ago.
    /// - Returns: The names in the folder; `nil` where it was removed or moved away meanwhile.
    private func takeTurn(in folder: OpenFolder) throws -> [String]? {
        try folder.lockAgainstWriters()
        guard try folder.isStillThere() else { return nil }
        let names = try folder.names()
        try removeLeftovers(in: folder, named: names.filter(TemporaryName.isDraft))
        return names
    }
}
