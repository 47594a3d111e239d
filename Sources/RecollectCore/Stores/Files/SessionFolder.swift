import Foundation
import RecollectFileSystem

/// Finds, creates and locks the folder of a session, `base/user/session`.
package struct SessionFolder {
    package let session: SessionKey
    private let base: String
    /// The longest wait for the lock.
    var maxWait: Duration
    private let knownNames: FolderNameCache
    /// The names of the user's and the session's folder, once found.
    private var found: (user: String, session: String)?

    package init(_ session: SessionKey, base: String) {
        self.init(session, base: base, maxWait: .seconds(30), knownNames: FolderNameCache())
    }

    init(_ session: SessionKey, base: String, maxWait: Duration, knownNames: FolderNameCache) {
        self.session = session
        self.base = base
        self.maxWait = maxWait
        self.knownNames = knownNames
    }

    /// Opens the session's folder and takes its lock; `nil` if there is no folder.
    package mutating func open(exclusively: Bool) throws -> OpenFolder? {
        try open(making: false, exclusively: exclusively)
    }

    /// Opens the session's folder, created if necessary, and takes its exclusive lock.
    /// - Throws: `storeReplaced` if the folder above was removed meanwhile.
    package mutating func make() throws -> OpenFolder {
        guard let folder = try open(making: true, exclusively: true) else {
            throw RecollectError(
                .storeReplaced, "\(base) was removed while a session was being created in it; save again")
        }
        return folder
    }

    private mutating func open(making: Bool, exclusively: Bool) throws -> OpenFolder? {
        while true {
            let root = try withFileErrors("open", base) {
                making ? try OpenFolder.make(path: base) : try nilIfMissing { try OpenFolder(path: base) }
            }
            guard let root,
                let user = try folder(in: root, for: session.userId, known: found?.user, making: making),
                let session = try folder(
                    in: user.folder, for: session.sessionId, known: found?.session, making: making)
            else { return nil }
            try withFileErrors("lock", session.folder.path) {
                try session.folder.lock(exclusively: exclusively, maxWait: maxWait)
            }
            // Another process may have removed the folder during the wait for its lock.
            let isStill = try withFileErrors("read", session.folder.path) {
                try session.folder.isStill(at: session.name, in: user.folder)
            }
            if isStill {
                found = (user.name, session.name)
                return session.folder
            }
        }
    }

    private func folder(
        in parent: OpenFolder, for id: String, known: String?, making: Bool
    ) throws -> (folder: OpenFolder, name: String)? {
        if let known,
            let folder = try withFileErrors(
                "open", parent.path(of: known), { try nilIfMissing { try parent.folder(known) } })
        {
            return (folder, known)
        }
        let existing = try withFileErrors("search", parent.path) { try FolderNames.existing(for: id, in: parent) }
        guard making || existing != nil else { return nil }
        let name = try existing ?? newName(for: id, in: parent)
        return try withFileErrors("open", parent.path(of: name)) {
            if existing == nil {
                try parent.makeFolder(name)
            } else if making {
                // Best effort: the folder is found by its ID even so, and a listing of all folders reports the
                // unknown ID.
                try? FolderNames([]).save(id, of: name, in: parent)
            }
            return try nilIfMissing { (try parent.folder(name), name) }
        }
    }

    /// Returns a new name for an ID, after saving the ID beside a hashed name.
    private func newName(for id: String, in parent: OpenFolder) throws -> String {
        let name = try withFileErrors("list", parent.path) {
            let name = try knownNames.foreign(in: parent).new(for: id)
            guard try parent.entry(name) != nil else { return name }
            // Another process may have created this name since for the same ID. Or it collides on this file system
            // with a newer name.
            let names = FolderNames(try parent.names())
            return names.existing(for: id) ?? names.new(for: id)
        }
        try withFileErrors("open", parent.path(of: name)) { try FolderNames([]).save(id, of: name, in: parent) }
        return name
    }
}

extension RecollectError {
    /// Whether the error means that another process holds a session's lock.
    var isOfHeldLock: Bool {
        code == .busy && (cause as? POSIXFailure)?.number == EWOULDBLOCK
    }
}

/// A cache of the names in folders that can collide with new names on some file systems.
///
/// Each folder is listed once, for any number of new sessions.
final class FolderNameCache: Sendable {
    private let folders = Locked<[String: FolderNames]>([:])

    /// The greatest number of cached folders. At this number, the cache is cleared, and folders are listed again.
    private static let capacity = 128

    /// Returns the names in a folder other than those from `NameEscaping.escaped`.
    func foreign(in folder: OpenFolder) throws -> FolderNames {
        if let known = folders.withLock({ $0[folder.path] }) { return known }
        let names = FolderNames(try folder.names().filter { NameEscaping.id(of: $0).map(NameEscaping.escaped) != $0 })
        folders.withLock { folders in
            if folders.count == Self.capacity { folders = [:] }
            folders[folder.path] = names
        }
        return names
    }
}
