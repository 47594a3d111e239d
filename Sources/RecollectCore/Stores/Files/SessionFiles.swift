import Foundation
import RecollectFileSystem

/// The files of one session, one for each agent, with their cached state. Confined to one queue.
///
/// Every operation holds the lock of the session's folder, shared for reading and exclusive for writing, and
/// releases it at its end. So a batch is applied to a consistent session, and a reader never sees a partial save.
final class SessionFiles {
    private let events: StoreEvents
    private let isDurable: Bool
    private var sessionFolder: SessionFolder
    /// The cached state of the files, by name.
    private var known: [String: ScopeFile] = [:]
    /// The files with a failed save. Their content on the disk is uncertain, so the next save rewrites them.
    private var doubtful: Set<String> = []
    /// The files with names made durable by this instance, including the names of the folders above. Another
    /// process may have created a file and ended before its name was durable.
    private var durableNames: Set<String> = []
    private var hasReportedForeign = false
    /// The files with an unknown ID, already reported by an event.
    private var lost: Set<String> = []

    init(_ sessionFolder: SessionFolder, durability: Durability, events: StoreEvents) {
        self.sessionFolder = sessionFolder
        isDurable = durability == .full
        self.events = events
    }

    /// The longest wait for the session's lock in the next operation.
    var lockWait: Duration {
        get { sessionFolder.maxWait }
        set { sessionFolder.maxWait = newValue }
    }

    // MARK: Reading

    /// Returns the last messages of an agent; all of them for `nil`.
    func messages(of agentId: String, last count: Int?) throws -> [ConversationMessage] {
        try read { folder, salvages in
            guard let name = try names(in: folder).existing(for: agentId) else { return [] }
            return try messages(of: agentId, in: name, folder, last: count ?? .max, salvages: salvages)
        }
    }

    /// Returns all messages of all agents. Foreign files are left out.
    func allMessages() throws -> [AgentMessages] {
        try read { folder, salvages in
            try agents(in: folder, names(in: folder)).compactMap { agentId, name in
                try ifOurs {
                    AgentMessages(
                        agentId: agentId,
                        messages: try messages(
                            of: agentId, in: name, folder, last: .max, salvages: salvages, wasAskedFor: false))
                }
            }
        }
    }

    /// Returns an identifier of the files' state. See `FileChatStorage.version`.
    func version() throws -> ChatVersion {
        do {
            return try versionOfFiles()
        } catch let error as RecollectError where error.code == .foreignStore {
            return ChatVersion(rawValue: UUID.random().uuidString)
        }
    }

    private func versionOfFiles() throws -> ChatVersion {
        guard let folder = try sessionFolder.open(exclusively: false) else { return ChatVersion(rawValue: "none") }
        return try withFileErrors("read", folder.path) {
            let stamps = try folder.names().filter { $0.hasSuffix(".json") }.sorted().map { name in
                (name, try folder.stamp(of: name))
            }
            let isResting = stamps.allSatisfy { $0.1.isResting(at: Date()) }
            guard isResting else { return ChatVersion(rawValue: UUID.random().uuidString) }
            return ChatVersion(rawValue: stamps.map { "\($0.0) \($0.1)" }.joined(separator: "\n"))
        }
    }

    /// Reads under the shared lock, and again under the exclusive one if damage must be repaired.
    ///
    /// A foreign file or folder in place of a chat reads as empty; a save throws `foreignStore`. The first such
    /// read posts a `foreignFile` event.
    private func read<Item>(_ body: (OpenFolder, _ salvages: Bool) throws -> [Item]) throws -> [Item] {
        do {
            do {
                return try sessionFolder.open(exclusively: false).map { try body($0, false) } ?? []
            } catch is Damage {
                return try sessionFolder.open(exclusively: true).map { try body($0, true) } ?? []
            }
        } catch let error as RecollectError where error.code == .foreignStore {
            if !hasReportedForeign {
                hasReportedForeign = true
                let scope = sessionFolder.session.scope(agentId: "")
                events.post(StoreEvent(kind: .foreignFile, scope: scope, failure: error))
            }
            return []
        }
    }

    private func messages(
        of agentId: String, in name: String, _ folder: OpenFolder, last count: Int, salvages: Bool,
        wasAskedFor: Bool = true
    ) throws -> [ConversationMessage] {
        do {
            return try messages(in: name, folder, last: count)
        } catch let damage as Damage where salvages {
            do {
                try repair(agentId, name, damage, in: folder, wasAskedFor: wasAskedFor)
            } catch let error as RecollectError where error.code != .foreignStore {
                // The readable messages are returned even without the repair, for example from a full disk. Nothing
                // has changed, and the next read or save tries again.
            }
            return damage.messages.suffix(count)
        }
    }

    private func messages(in name: String, _ folder: OpenFolder, last count: Int) throws -> [ConversationMessage] {
        let file = try open(name, in: folder)
        let state = try state(of: name, file)
        return try withFileErrors("read", file.path) {
            let bytes = try state.bytes(ofLast: count, from: file)
            if let messages = EncodedMessage.messages(in: bytes) { return messages }
            // The file was complete at its first reading, and is damaged now.
            known[name] = nil
            throw Damage(bytes: try file.readAll())
        }
    }

    // MARK: Writing

    /// Saves a batch for an agent, and trims to `window` messages.
    /// - Returns: The accepted and the dropped messages of the batch.
    func save(
        _ batch: [ConversationMessage], for agentId: String, window: Int?, sameRole: SameRolePolicy
    ) throws -> BatchFilter {
        let folder = try sessionFolder.make()
        let names = try names(in: folder)
        try withFileErrors("tidy", folder.path) { try folder.removeLeftovers(among: names.all) }
        let existing = names.existing(for: agentId)
        let name = existing ?? names.new(for: agentId)
        var state = try existing.map { try repairedState(of: agentId, $0, in: folder, retrying: batch) } ?? ScopeFile()
        let admission = BatchFilter(
            of: batch, sameRole: sameRole, lastRole: state.lastRole, isKnown: state.ids.contains)
        if isDurable, existing != nil, admission.accepted.count + admission.dropped.count < batch.count {
            try makeDurable(name, in: folder)
        }
        let messages = admission.accepted.map { EncodedMessage($0) }
        let isDone = messages.isEmpty && state.trim(to: window ?? .max) == .nothing && !doubtful.contains(name)
        if isDone { return admission }

        // The state of the file is unknown until all of this has succeeded.
        known[name] = nil
        try withFileErrors("save to", folder.path(of: name)) {
            do {
                try names.save(agentId, of: name, in: folder)
            } catch is POSIXFailure where existing != nil {
                // The file is found by the agent's ID even so. A read of all agents reports the unknown ID.
            }
            var file = try existing.map { try folder.file($0, forWriting: true) } ?? folder.makeFile(name)
            if doubtful.contains(name) { file = try move(&state, last: .max, from: file, name, in: folder) }
            try append(messages, to: file, &state, name, in: folder)
            do {
                try trim(&state, to: window ?? .max, file, name, in: folder)
                known[name] = state
            } catch is POSIXFailure {
                // The batch is saved even so. The next save reads the file again, and trims it. Its name may not be
                // durable.
                durableNames.remove(name)
            }
        }
        doubtful.remove(name)
        return admission
    }

    private func trim(
        _ state: inout ScopeFile, to window: Int, _ file: OpenFile, _ name: String, in folder: OpenFolder
    ) throws {
        switch state.trim(to: window) {
        case .nothing: break
        case .blank: try state.blank(to: window, in: file)
        case .move: _ = try move(&state, last: window, from: file, name, in: folder)
        }
    }

    /// Makes a repeated batch durable: the process of the first save may have ended before its sync.
    private func makeDurable(_ name: String, in folder: OpenFolder) throws {
        do {
            try withFileErrors("save to", folder.path(of: name)) {
                try folder.file(name, forWriting: false).synchronize()
                try folder.synchronizePath()
            }
        } catch {
            doubtful.insert(name)
            throw error
        }
    }

    private func append(
        _ messages: [EncodedMessage], to file: OpenFile, _ state: inout ScopeFile, _ name: String, in folder: OpenFolder
    ) throws {
        let end = state.end
        do {
            try state.begin(file)
            try state.append(messages, to: file, isDurable: isDurable)
            if isDurable, !durableNames.contains(name) { try folder.synchronizePath() }
            durableNames.insert(name)
        } catch {
            doubtful.insert(name)
            // On another descriptor: after a failed sync, the old one reports success for lost data. If this fails
            // too, the caller still gets the first error, and the next save rewrites the file.
            try? end.restore(folder.file(name, forWriting: true))
            throw error
        }
    }

    /// Moves the last messages to a new file, and replaces the old file with it.
    private func move(
        _ state: inout ScopeFile, last count: Int, from file: OpenFile, _ name: String, in folder: OpenFolder
    ) throws -> OpenFile {
        try folder.replace(name) { newFile in
            if try file.size() > 0 { try state.move(last: count, from: file, to: newFile) }
        }
    }

    // MARK: Cached state

    /// Returns the state of a file: the cached state with the changes of other processes, or else the state read
    /// from the whole file.
    private func state(of name: String, _ file: OpenFile) throws -> ScopeFile {
        try withFileErrors("read", file.path) {
            if var state = known.removeValue(forKey: name), try state.follow(file) {
                known[name] = state
                return state
            }
            let bytes = try file.readAll()
            // Created, but not written before its process ended: `append` writes the beginning.
            if bytes.isEmpty { return ScopeFile() }
            guard let state = ScopeFile(bytes) else { throw Damage(bytes: bytes) }
            known[name] = state
            return state
        }
    }

    /// Returns the state of a file after its repair.
    /// - Parameter batch: Messages to save. With a known one, the whole file is read again: a retry is acknowledged
    ///   only if the message can be read.
    private func repairedState(
        of agentId: String, _ name: String, in folder: OpenFolder, retrying batch: [ConversationMessage]
    ) throws -> ScopeFile {
        do {
            let file = try open(name, in: folder)
            let state = try state(of: name, file)
            guard batch.contains(where: { state.ids.contains(ByteString($0.id)) }) else { return state }
            // The file may have been damaged or replaced since it was read.
            known[name] = nil
            return try self.state(of: name, file)
        } catch let damage as Damage {
            try repair(agentId, name, damage, in: folder, wasAskedFor: true)
            // From the bytes just written, not from the cache.
            guard let state = ScopeFile(damage.salvaged) else {
                throw RecollectError(.unreadable, "\(folder.path(of: name)) cannot be repaired; move it away")
            }
            known[name] = state
            return state
        }
    }

    /// Sets a damaged file aside, and replaces it with a file of the readable messages. Requires the exclusive
    /// lock.
    private func repair(
        _ agentId: String, _ name: String, _ damage: Damage, in folder: OpenFolder, wasAskedFor: Bool
    ) throws {
        guard wasAskedFor || !damage.looksForeign else {
            throw RecollectError(
                .foreignStore, "\(folder.path(of: name)) does not contain a chat; it was left unchanged")
        }
        // Another copy of the same bytes is useless.
        guard damage.salvaged != damage.bytes else { return }
        let aside = "\(name.prefix(FolderNames.longest)).damaged-\(UUID.random().uuidString.prefix(8).lowercased())"
        try withFileErrors("repair", folder.path(of: name)) {
            _ = try folder.replace(name, keepingOldAs: aside) { try $0.write(damage.salvaged, at: 0) }
        }
        events.post(
            StoreEvent(
                kind: .salvaged, scope: sessionFolder.session.scope(agentId: agentId),
                setAsideURL: URL(fileURLWithPath: folder.path(of: aside)), recoveredMessages: damage.ranges.count))
    }

    // MARK: Finding

    /// Returns the names in a folder, and removes missing files from the cache.
    private func names(in folder: OpenFolder) throws -> FolderNames {
        let names = FolderNames(try withFileErrors("list", folder.path) { try folder.names() }, suffix: ".json")
        let gone = Set(known.keys).subtracting(names.all)
        gone.forEach { known[$0] = nil }
        durableNames.formIntersection(names.all)
        return names
    }

    /// Returns the agents with a file in a folder, each with the file's name.
    ///
    /// A file with an unknown ID is left out. The first time, a `missingFile` event is posted for it.
    private func agents(in folder: OpenFolder, _ names: FolderNames) throws -> [(agentId: String, name: String)] {
        try withFileErrors("read", folder.path) {
            try names.all.compactMap { name in
                do {
                    return try names.id(of: name, in: folder).map { ($0, name) }
                } catch let error as RecollectError where error.code == .damaged {
                    if lost.insert(name).inserted {
                        let scope = sessionFolder.session.scope(agentId: "")
                        events.post(StoreEvent(kind: .missingFile, scope: scope, failure: error))
                    }
                    return nil
                }
            }
        }
    }

    /// Returns the result of work on a listed file, not requested by its ID; `nil` if the file is foreign.
    private func ifOurs<Result>(_ work: () throws -> Result) throws -> Result? {
        do {
            return try work()
        } catch let error as RecollectError where error.code == .foreignStore {
            return nil
        }
    }

    private func open(_ name: String, in folder: OpenFolder) throws -> OpenFile {
        try withFileErrors("open", folder.path(of: name)) { try folder.file(name, forWriting: false) }
    }
}
