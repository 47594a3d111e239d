import Foundation

/// Finds, makes and locks the folder of a session, `base/user/session`.
package struct SessionPlace {
    package let conversation: ConversationID
    private let base: String
    /// The names of the user's and the session's folder, once found.
    private var found: (user: String, session: String)?

    package init(_ conversation: ConversationID, base: String) {
        self.conversation = conversation
        self.base = base
    }

    /// Opens the session's folder and takes its lock; `nil` where there is none.
    package mutating func open(exclusively: Bool) throws -> OpenFolder? {
        try open(making: false, exclusively: exclusively)
    }

    /// Opens the session's folder, made where there is none, and takes its exclusive lock.
    package mutating func make() throws -> OpenFolder {
        guard let folder = try open(making: true, exclusively: true) else {
            throw RecollectError(.storeReplaced, "\(base) was removed while a session was made in it; save again")
        }
        return folder
    }

    private mutating func open(making: Bool, exclusively: Bool) throws -> OpenFolder? {
        while true {
            let root = try explaining("open", base) {
                making ? try OpenFolder.make(path: base) : try ifThere { try OpenFolder(path: base) }
            }
            guard let root,
                let user = try folder(in: root, for: conversation.userId, known: found?.user, making: making),
                let session = try folder(
                    in: user.folder, for: conversation.sessionId, known: found?.session, making: making)
            else { return nil }
            try lock(session.folder, exclusively: exclusively)
            // Somebody may have removed the folder while this waited for its lock.
            if try session.folder.isStill(at: session.name, in: user.folder) {
                found = (user.name, session.name)
                return session.folder
            }
        }
    }

    private func lock(_ folder: OpenFolder, exclusively: Bool) throws {
        try explaining("lock", folder.path) {
            do {
                try folder.lock(exclusively: exclusively)
            } catch let failure as POSIXFailure where failure.number == EWOULDBLOCK {
                throw RecollectError(
                    .busy, "another process has held \(folder.path) for too long; end it if it hangs", cause: failure)
            }
        }
    }

    private func folder(
        in parent: OpenFolder, for id: String, known: String?, making: Bool
    ) throws -> (folder: OpenFolder, name: String)? {
        if let known,
            let folder = try explaining("open", parent.path(of: known), { try ifThere { try parent.folder(known) } })
        {
            return (folder, known)
        }
        let names = FolderNames(try explaining("list", parent.path) { try parent.names() })
        let name = names.existing(for: id) ?? names.new(for: id)
        return try explaining("open", parent.path(of: name)) {
            if making, names.existing(for: id) == nil {
                try names.keep(id, of: name, in: parent)
                try parent.makeFolder(name)
            }
            return try ifThere { (try parent.folder(name), name) }
        }
    }
}
