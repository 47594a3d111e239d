import Foundation
import RecollectFileSystem

/// A read-only view of a file store's folder, written by Recollect or Agent Squad. Damage is reported, not
/// repaired.
///
/// All calls block, and throw `RecollectError`.
package struct ChatFolder: Sendable {
    /// The readable content of one agent's file.
    package struct Chat {
        package let agentId: String
        package let path: String
        package let messages: [ConversationMessage]
        /// Whether the file is not a single complete array of messages, so that some may be missing.
        package let isDamaged: Bool
    }

    private let base: String

    /// Creates a view of the folder at a path. The folder is not opened yet.
    package init(path: String) {
        base = path
    }

    /// Returns all scopes with a file, in the order of the bytes of their IDs.
    /// - Parameters:
    ///   - userId: The user; `nil` for all users.
    ///   - report: Called with the error for each file or folder with an unknown ID. Such files and folders are left
    ///     out.
    package func scopes(
        of userId: String? = nil, report: (RecollectError) -> Void = { _ in }
    ) throws -> [Scope] {
        guard let root = try withFileErrors("open", base, { try nilIfMissing { try OpenFolder(path: base) } }) else {
            return []
        }
        var scopes: [Scope] = []
        try forEachFolder(in: root, report) { user, sessions in
            guard userId.map(user.hasSameBytes) ?? true else { return }
            try forEachFolder(in: sessions, report) { session, folder in
                scopes += try agents(in: folder, report).map {
                    Scope(userId: user, sessionId: session, agentId: $0.agentId)
                }
            }
        }
        return scopes.sorted {
            [$0.userId, $0.sessionId, $0.agentId].map(ByteString.init)
                .lexicographicallyPrecedes([$1.userId, $1.sessionId, $1.agentId].map(ByteString.init))
        }
    }

    /// Returns the chats of a session, one for each agent, in the order of the bytes of their agent IDs.
    /// - Throws: `tooLarge` if a file is larger than `maxBytes`.
    package func chats(of session: SessionKey, maxBytes: Int) throws -> [Chat] {
        var sessionFolder = SessionFolder(session, base: base)
        guard let folder = try sessionFolder.open(exclusively: false) else { return [] }
        return try agents(in: folder).sorted { ByteString($0.agentId) < ByteString($1.agentId) }.map { agentId, name in
            try withFileErrors("read", folder.path(of: name)) {
                let file = try folder.file(name, forWriting: false)
                let size = try file.size()
                guard size <= maxBytes else {
                    throw RecollectError(.tooLarge, "\(file.path) is larger than \(maxBytes >> 20) MB")
                }
                let bytes = try file.read(at: 0, count: size)
                if let messages = bytes.isEmpty ? [] : EncodedMessage.messages(in: bytes) {
                    return Chat(agentId: agentId, path: file.path, messages: messages, isDamaged: false)
                }
                return Chat(agentId: agentId, path: file.path, messages: Damage(bytes: bytes).messages, isDamaged: true)
            }
        }
    }

    /// Returns the total size of a session's files in bytes, and whether any of them begins like a chat.
    package func summary(of session: SessionKey) throws -> (byteCount: Int64, isChat: Bool) {
        var sessionFolder = SessionFolder(session, base: base)
        guard let folder = try sessionFolder.open(exclusively: false) else { return (0, false) }
        return try agents(in: folder).reduce(into: (0, false)) { result, agent in
            try withFileErrors("read", folder.path) {
                let file = try folder.file(agent.name, forWriting: false)
                let first = try file.read(at: 0, count: 64).first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
                result.byteCount += Int64(try file.size())
                result.isChat = result.isChat || first == Byte.openingBracket
            }
        }
    }

    private func agents(
        in folder: OpenFolder, _ report: (RecollectError) -> Void = { _ in }
    ) throws -> [(agentId: String, name: String)] {
        try withFileErrors("list", folder.path) {
            let names = FolderNames(try folder.names(), suffix: ".json")
            return try names.all.compactMap { name in
                guard let id = try id(of: name, names, in: folder, report) else { return nil }
                return try exists { _ = try folder.file(name, forWriting: false) } ? (id, name) : nil
            }
        }
    }

    /// Calls `body` for each subfolder with the name of an ID. Only one is open at a time.
    private func forEachFolder(
        in parent: OpenFolder, _ report: (RecollectError) -> Void, _ body: (String, OpenFolder) throws -> Void
    ) throws {
        let names = FolderNames(try withFileErrors("list", parent.path) { try parent.names() })
        for name in names.all {
            guard let id = try withFileErrors("read", parent.path, { try id(of: name, names, in: parent, report) })
            else {
                continue
            }
            var folder: OpenFolder?
            let isFolder = try withFileErrors("open", parent.path(of: name)) {
                try exists { folder = try parent.folder(name) }
            }
            if isFolder, let folder { try body(id, folder) }
        }
    }

    /// Returns the ID of a name; `nil` for a foreign name. If the ID is lost, calls `report` and returns `nil`.
    private func id(
        of name: String, _ names: FolderNames, in folder: OpenFolder, _ report: (RecollectError) -> Void
    ) throws -> String? {
        do {
            return try names.id(of: name, in: folder)
        } catch let error as RecollectError where error.code == .damaged {
            report(error)
            return nil
        }
    }

    /// Whether a name refers to the kind to open. `false` for a missing name, a link, or a file in place of a
    /// folder.
    private func exists(_ open: () throws -> Void) throws -> Bool {
        do {
            try open()
            return true
        } catch let failure as POSIXFailure where [ENOENT, ENOTDIR, ELOOP, EISDIR, ENXIO].contains(failure.number) {
            return false
        }
    }
}

extension FileChatStorage {
    /// Returns the scopes with a file in the store, of all users or of one, in the order of the bytes of their
    /// IDs.
    ///
    /// Reads names, no messages. Runs on a global dispatch queue: the calling task waits without holding a thread,
    /// and is not canceled. A file or folder with an unknown ID is left out, and a `missingFile` event is posted
    /// for it.
    /// - Throws: `permissionDenied`, `inputOutput` or `foreignStore` if the folder cannot be listed.
    public func scopes(of userId: String? = nil) async throws -> [Scope] {
        let (folder, events) = (ChatFolder(path: baseURL.path), events)
        return try await DispatchQueue.global().run {
            try folder.scopes(of: userId) { events.post(StoreEvent(kind: .missingFile, failure: $0)) }
        }
    }
}
