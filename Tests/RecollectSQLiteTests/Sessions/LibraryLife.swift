import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A library and its model, changed by the same random operations.
struct LibraryLife {
    private var random: SeededGenerator
    private let folder: TemporaryFolder
    var history: SQLiteHistoryStore
    private var views: [SQLiteSessionStorage]
    /// The entries that each view has shown or saved, by session.
    private var known: [[String: [ChatMessage]]] = [[:], [:]]
    /// The owners of entries that are not identified by their IDs.
    private var owners: [[String: [UUID: Transcript.Owner]]] = [[:], [:]]
    var model = LibraryModel()
    var replica = LibraryReplica()
    var latest = ChangeCursor.beginning
    private var time: Int64 = 1_700_000_000_000
    private var count = 0
    /// A description of the current operation.
    private(set) var last = ""

    let user = "u"
    private static let names = ["s", "S", "s\u{0}t", "é"]
    static let words = ["apple", "berry", "cherry", "damson"]

    init(folder: TemporaryFolder, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        self.folder = folder
        history = folder.history(durability: .relaxed)
        views = []
        makeViews()
    }

    private mutating func makeViews() {
        views = (0..<2).map { SQLiteSessionStorage(history: history, userId: user, agentId: $0 == 0 ? "ui" : "a") }
        known = [[:], [:]]
        owners = [[:], [:]]
    }

    // MARK: Random values

    private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func name() -> String { Self.names.randomElement(using: &random) ?? "" }

    func id(_ session: String) -> SessionKey { SessionKey(userId: user, sessionId: session) }

    private mutating func uuid() -> UUID {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        return bytes.withUnsafeBytes { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    private mutating func text() -> String {
        count += 1
        return "\(Self.words.randomElement(using: &random) ?? "") \(count)"
    }

    /// Returns a date after all others: the model appends at the end.
    private mutating func date() -> Date {
        time += Int64.random(in: 1...100_000, using: &random)
        return Date(millisecondsSince1970: time)
    }

    private mutating func newMessage() -> ConversationMessage {
        let role: Role = one(in: 3) ? .user : .assistant
        var parts: [ContentPart] = [.text(text())]
        if one(in: 5) { parts.insert(.thinking(text(), signature: nil), at: 0) }
        if one(in: 5) {
            let bytes = Data([UInt8.random(in: 0..<3, using: &random)])
            parts.append(.attachment(Attachment(mediaType: "a/b", content: .inline(bytes))))
        }
        let id =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: uuid().uuidString
            case 1: uuid().uuidString.lowercased()
            default: "m\(Int.random(in: 0..<30, using: &random))"
            }
        let metadata: [String: JSONValue] = one(in: 3) ? ["usage": ["input_tokens": .integer(Int64(count))]] : [:]
        return ConversationMessage(id: id, role: role, parts: parts, timestamp: date(), metadata: metadata)
    }

    private mutating func newEntry() -> ChatMessage {
        ChatMessage(id: uuid(), role: one(in: 2) ? .user : .assistant, content: text(), timestamp: date())
    }

    // MARK: Steps

    /// Applies one operation to the library and to the model. Returns its description.
    mutating func step() async throws -> String {
        latest = try await history.latestChangeCursor()
        let session = name()
        let messages = model.sessions[session]?.messages ?? []
        let index = messages.isEmpty ? nil : Int.random(in: messages.indices, using: &random)
        switch Int.random(in: 0..<32, using: &random) {
        case 0..<8: try await append(to: session)
        case 8..<16: try await save(session)
        case 16: try await edit(session, messages)
        case 17 where index != nil: try await deleteMessages(session, messages)
        case 18:
            last = "delete \(session)"
            try await history.deleteSession(id(session))
            model.delete(session)
        case 19 where one(in: 4):
            last = "delete user"
            try await history.deleteUser(user)
            model.sessions = [:]
        case 20: try await fork(session, messages)
        case 21, 22: try await branch(session, at: index)
        case 23, 24: try await restoreBranch()
        case 25, 26:
            let new =
                one(in: 4)
                ? (model.sessions.filter { $0.value.origin != nil }.keys.sorted().randomElement(using: &random)
                    ?? name()) : name()
            last = "move \(session) to \(new)"
            try await history.moveSession(id(session), to: new)
            model.move(session, to: new)
        case 27: try await discardOrRestore(session)
        case 28: try await describe(session)
        case 29:
            last = "index"
            try await history.indexEverything()
        case 30:
            last = "reopen"
            await history.close()
            history = folder.history(durability: .relaxed)
            makeViews()
        default: try await reply(in: session)
        }
        return last
    }

    private mutating func append(to session: String) async throws {
        let agent = ["", "a", "b"].randomElement(using: &random) ?? ""
        let messages = (0..<Int.random(in: 1...3, using: &random)).map { _ in newMessage() }
        let budget = one(in: 4) ? 2 * Int.random(in: 0...3, using: &random) : nil
        last = "append \(messages.map(\.id)) to \(session) as \(agent)"
        let adopts = count.isMultiple(of: 2)
        try await history.append(
            messages, to: id(session).scope(agentId: agent),
            options: AppendOptions(maxMessages: budget, claimsUnassigned: adopts))
        let adopted = model.append(messages, to: session, as: agent, adopting: adopts)
        if !adopted.isEmpty { try await checkOrder(of: session, adopted) }
    }

    /// Each agent's messages are in the order of saving, and only adopted messages move. Their position among the
    /// messages of other agents is the engine's choice, which is copied to the model.
    private mutating func checkOrder(of session: String, _ adopted: Set<String>) async throws {
        let held = try await messages(of: session)
        let wanted = model.sessions[session]?.messages ?? []
        for agent in Set(wanted.map(\.agent)) {
            guard held.filter({ $0.agent == agent }) == wanted.filter({ $0.agent == agent }) else {
                throw Fault("the messages of \(agent) are not in the order of saving")
            }
        }
        let others = wanted.filter { !adopted.contains($0.message.id) }
        guard held.filter({ !adopted.contains($0.message.id) }) == others else {
            throw Fault("other messages moved with the adopted ones")
        }
        model.sessions[session]?.messages = held
    }

    private mutating func save(_ session: String) async throws {
        let view = Int.random(in: 0..<2, using: &random)
        if one(in: 2) {
            let shown = try await views[view].getSession(id: session)
            // A view that was shown no session removes nothing when it saves one with that ID.
            known[view][session] = shown?.messages
            owners[view][session] = Transcript(agentMessages(model.sessions[session]?.messages ?? [])).owners
        }
        let before = known[view][session] ?? []
        var transcript = before
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let position = transcript.isEmpty ? 0 : Int.random(in: 0..<transcript.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: transcript.insert(newEntry(), at: position)
            case 2 where !transcript.isEmpty: transcript.remove(at: position)
            case 3, 4:
                if !transcript.isEmpty { transcript[position].content = text() }
            case 5 where !transcript.isEmpty && one(in: 2): transcript.append(transcript.remove(at: position))
            default: transcript.append(newEntry())
            }
        }
        last = "save \(transcript.map(\.id)) to \(session) by view \(view)"
        let old = try await messages(of: session)
        try await views[view].updateSessionMessages(id: session, messages: transcript)
        known[view][session] = transcript
        model.save(
            transcript, known: before, owners: owners[view][session] ?? [:], to: session, as: views[view].agentId)
        try await checkOrder(of: session, old, before, transcript)
    }

    /// The session has the transcript's order if the view was up to date. Entries unknown to the view keep their order.
    /// The position of new entries among them is the engine's choice, which is copied to the model.
    private mutating func checkOrder(
        of session: String, _ old: [LibraryModel.Message], _ before: [ChatMessage], _ transcript: [ChatMessage]
    ) async throws {
        let new = try await messages(of: session)
        let wanted = model.sessions[session]?.messages ?? []
        let order = Transcript(agentMessages(new)).entries.map(\.id)
        let held = Set(order)
        let oldOrder = Transcript(agentMessages(old)).entries.map(\.id)
        let knownIDs = Set(before.map(\.id))
        let isUpToDate = oldOrder.filter(knownIDs.contains) == before.map(\.id)
        let hasSplitMessage = new.contains { $0.message.chatMessages().count > 1 }
        let saved = transcript.map(\.id).filter(held.contains)
        if isUpToDate, !hasSplitMessage {
            let ids = Set(saved)
            guard order.filter(ids.contains) == saved else { throw Fault("the transcript's order is lost") }
        }
        // Missing entries belonged to messages that the transcript edited as a whole. The model covers these.
        let unseen = held.intersection(oldOrder).subtracting(knownIDs).subtracting(transcript.map(\.id))
        guard order.filter(unseen.contains) == oldOrder.filter(unseen.contains) else {
            throw Fault("entries unknown to the view changed their order")
        }
        let positions = Dictionary(new.enumerated().map { ($1.identity, $0) }, uniquingKeysWith: { first, _ in first })
        model.sessions[session]?.messages = wanted.sorted {
            (positions[$0.identity] ?? .max) < (positions[$1.identity] ?? .max)
        }
    }

    private func agentMessages(_ messages: [LibraryModel.Message]) -> [AgentMessage] {
        messages.map { AgentMessage(agentId: $0.agent, message: $0.message) }
    }

    private mutating func edit(_ session: String, _ messages: [LibraryModel.Message]) async throws {
        let edited = messages.filter { _ in one(in: 4) }.map { old in
            newMessage().under(id: old.message.id)
        }
        last = "edit \(edited.map(\.id)) in \(session)"
        try await history.edit(edited, in: id(session))
        for message in edited {
            let held = model.sessions[session]?.messages ?? []
            for position in held.indices where held[position].message.id.hasSameBytes(as: message.id) {
                model.sessions[session]?.messages[position].message = message
            }
        }
    }

    private mutating func deleteMessages(_ session: String, _ messages: [LibraryModel.Message]) async throws {
        let gone = messages.filter { _ in one(in: 3) }.map(\.message.id)
        last = "delete \(gone) in \(session)"
        try await history.deleteMessages(gone, in: id(session))
        model.sessions[session]?.messages.removeAll { gone.contains($0.message.id) }
    }

    private mutating func fork(_ session: String, _ messages: [LibraryModel.Message]) async throws {
        let new = name()
        guard let index = messages.indices.randomElement(using: &random), model.sessions[new]?.messages.isEmpty ?? true
        else { return }
        last = "fork \(session) at \(index) into \(new)"
        try await history.fork(
            id(session), at: messages[index].message.id, agentId: messages[index].agent, into: new)
        model.fork(session, at: index, into: new)
    }

    private mutating func branch(_ session: String, at index: Int?) async throws {
        guard let index, let message = model.sessions[session]?.messages[index] else { return }
        last = "branch \(session) from \(index)"
        let branch = try await history.branch(id(session), from: message.message.id, agentId: message.agent)
        model.cut(session, from: index, into: branch.sessionId)
    }

    private mutating func restoreBranch() async throws {
        let branches = model.sessions.filter { $0.value.origin != nil }.keys.sorted()
        guard let branch = branches.randomElement(using: &random), let origin = model.sessions[branch]?.origin,
            let position = model.position(of: branch, in: origin)
        else { return }
        last = "restore \(branch) in \(origin)"
        let before = Set(try await history.branches(of: id(origin)).map(\.id.sessionId))
        let stored = model.sessions[origin]?.messages[..<position].map(\.identity) ?? []
        let messages = model.sessions[branch]?.messages ?? []
        // A session and its branch may both have a message with one ID. Both are kept then, and the resulting IDs are
        // tested elsewhere.
        guard !messages.contains(where: { stored.contains($0.identity) }) else { return }
        try await history.restoreBranch(id(branch), in: id(origin))
        let inner = Set(model.sessions.filter { $0.value.origin == branch }.keys)
        let after = Set(try await history.branches(of: id(origin)).map(\.id.sessionId))
        let new = after.subtracting(before).subtracting(inner)
        guard new.count <= 1 else { throw Fault("restoring one branch made \(new.count) branches") }
        model.restore(branch, in: origin, cutInto: new.first)
    }

    private mutating func discardOrRestore(_ session: String) async throws {
        let restores = one(in: 2)
        last = "\(restores ? "restore" : "discard") \(session)"
        if restores {
            try await history.restoreSession(id(session))
        } else {
            try await history.discardSession(id(session))
        }
        model.sessions[session]?.isDiscarded = !restores
    }

    private mutating func describe(_ session: String) async throws {
        let tag = text()
        last = "describe \(session)"
        let details = SessionDetails(title: "title \(tag)", isPinned: one(in: 2), addedTags: [tag])
        try await history.update(id(session), with: details)
        model.sessions[session, default: .init()].title = details.title
        model.sessions[session]?.isPinned = details.isPinned == true
        model.sessions[session]?.tags.insert(tag)
    }

    private mutating func reply(in session: String) async throws {
        let message = ConversationMessage(id: uuid().uuidString, role: .assistant, text: text(), timestamp: date())
        last = "reply \(message.id) in \(session)"
        let reply = try await history.beginReply(message, in: id(session).scope(agentId: "b"))
        model.append([], to: session, as: "b")
        // During the streaming reply, its session may be moved.
        let new = one(in: 2) ? name() : session
        try await history.moveSession(id(session), to: new)
        model.move(session, to: new)
        if one(in: 2) { try await reply.finish() } else { try await reply.interrupt() }
        model.append([reply.message], to: new, as: "b")
    }
}

extension LibraryModel.Message {
    /// The identity of the message within its session.
    fileprivate var identity: [String] { [agent, message.id] }
}

/// A difference between the model and the library, thrown by a step.
struct Fault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
