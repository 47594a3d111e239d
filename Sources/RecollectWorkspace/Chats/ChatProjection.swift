import Foundation
import RecollectCore

/// A session as a file for people and other programs: `Chats/{sessionId}.json`.
///
/// The file is canonical: devices with the same messages write the same bytes, each message on its own line. The
/// history is the source of truth, and the file follows it. A checksum detects edits by people; their changes are
/// imported into the history.
///
/// ```json
/// {"format":"recollect.chat/1","session":"moby-dick","title":"Whales","messages":[
/// {"id":"1","role":"user","timestamp":1763719200000,"parts":[{"text":{"_0":"Call me."}}],"agent":"historian"},
/// {"id":"2","role":"assistant",…,"agent":"historian","after":"1","revision":1}
/// ],"deleted":[{"id":"3","states":["0.0.6f1c…"]}],"heads":["2"],"sha256":"…"}
/// ```
///
/// `deleted` has the messages no longer in the session. One deleted by a user has `states`: its last state, and those replaced
/// by it. Other devices delete no other text. One moved into a branch or to another session, and an expired one, has none.
///
/// `revision` counts the edits of a message, and `restores` its returns after a deletion. The state of a message with
/// the greater numbers is the later one, whichever device has it: an older file brings back neither a replaced text nor
/// a deleted message. `replaced` has the states replaced by a message, each as its numbers and the hash of its content.
/// A state that is not among them was made at the same time. The title has `titleRevision` and `titleReplaced`.
public struct ChatProjection: Equatable, Sendable {
    /// The entries by the bytes of their message IDs.
    var entriesByID: [ByteString: Entry] {
        Dictionary(entries.map { (ByteString($0.message.id), $0) }) { first, _ in first }
    }

    /// A message and its position in the session.
    struct Entry: Equatable, Sendable {
        /// The agents with the message in their scopes, in byte order; at least one.
        let agents: [String]
        /// The ID of the preceding message; `nil` for the first.
        var after: String?
        private(set) var message: ConversationMessage
        /// The canonical JSON text of the message, and its numbers. The text is made once, because contents are compared
        /// many times.
        private(set) var revision: ChatRevision

        /// Creates an entry. An empty agent ID is dropped if there are others: the message was assigned since.
        /// - Parameter revision: The numbers of the message's content.
        init(agents: [String], after: String?, message: ConversationMessage, revision: ChatRevision) {
            let all = Set(agents.map { ByteString($0) })
            let assigned = all.subtracting([ByteString("")])
            self.agents = assigned.isEmpty ? [""] : assigned.sorted().map(\.string)
            self.after = after
            self.message = message
            self.revision = revision
        }

        /// Creates an entry.
        /// - Parameter number: The number of edits.
        init(
            agents: [String], after: String? = nil, message: ConversationMessage, number: Int = 0, restores: Int = 0,
            replaced: Set<String> = []
        ) {
            self.init(
                agents: agents, after: after, message: message,
                revision: ChatRevision(
                    content: message.json, number: number, restores: restores, replaced: replaced))
        }

        /// The entry of other agents.
        func of(_ agents: [String]) -> Entry {
            Entry(agents: agents, after: after, message: message, revision: revision)
        }

        /// Whether another entry has the same agents.
        func hasAgents(of other: Entry) -> Bool {
            agents.elementsEqual(other.agents) { $0.hasSameBytes(as: $1) }
        }

        /// Whether the message may be that of some agents. An agent may have adopted a message without an agent.
        func concerns(_ others: [String]) -> Bool {
            agents.contains { agent in agent.isEmpty || others.contains { $0.isEmpty || $0.hasSameBytes(as: agent) } }
        }

        /// Whether this and another entry of the same ID are versions of one message: an agent has both, or one follows
        /// the other. After a deletion, another agent's message may have the ID.
        func isVersion(of other: Entry) -> Bool {
            concerns(other.agents)
                || revision.restores == other.revision.restores
                    && (revision.follows(other.revision) || other.revision.follows(revision))
        }

        /// Replaces the message, as the next edit.
        /// - Parameter isKnown: Whether the writer had the message replaced.
        mutating func replace(with message: ConversationMessage, isKnown: Bool = true) {
            revision.replace(with: message.json, isKnown: isKnown)
            self.message = message
        }

        /// Takes the numbers of a later revision with the same content.
        mutating func join(_ other: ChatRevision) { revision.join(other) }

        /// The content of the message.
        var content: ByteString { revision.content }

        /// The message for each of its agents.
        var agentMessages: [AgentMessage] { agents.map { AgentMessage(agentId: $0, message: message) } }
    }

    /// The deletion of a message.
    struct Deletion: Equatable, Sendable {
        /// The restores of the message before.
        var restores: Int
        /// The states of the message deleted by a user: the last one, and those replaced by it. A message moved into a branch
        /// or to another session, and an expired one, has none.
        var states: Set<String> = []

        /// Takes the states of another deletion of the message, or is replaced by a later one.
        mutating func join(_ other: Deletion) {
            if restores == other.restores { states.formUnion(other.states) }
            if restores < other.restores { self = other }
        }

        /// Returns both deletions of a message as one.
        static func joined(_ one: Deletion, _ other: Deletion) -> Deletion {
            var joined = one
            joined.join(other)
            return joined
        }
    }

    /// The session's ID.
    public let session: String
    /// The session's title; `nil` if it has none.
    public var title: String? { titleRevision.content.string.isEmpty ? nil : titleRevision.content.string }
    /// The title with the number of its changes.
    var titleRevision: ChatRevision
    /// The messages with their agents, each below its preceding message. Messages with the same preceding message are
    /// sorted by timestamp, then by the bytes of their IDs. A message of several agents is listed once for each.
    public var messages: [AgentMessage] { entries.flatMap(\.agentMessages) }
    /// The messages and their positions, in the order of `messages`.
    let entries: [Entry]
    /// The deleted messages by ID. Another device's file cannot bring these messages back, unless it has a later restore.
    let deletions: [ByteString: Deletion]
    /// Unknown members of the file: preserved unchanged, and never imported into the history.
    let others: [String: JSONValue]
    /// Whether the projection was read from canonical bytes, as Recollect writes them. An edited file is not intact.
    let isIntact: Bool
    /// Whether the content differs from the hash in the file, after an edit of more than the format.
    let isEdited: Bool
    /// Whether the file had content missing here: a message with a repeated ID, a message listed as deleted, or a
    /// title, an agent, an ID or a number of another type.
    let hasOtherContent: Bool

    /// Creates a projection. Of entries with the same ID, the first is kept. Entries without a restore after their
    /// deletion are dropped, and so are deletions before a restore.
    init(
        session: String, title: ChatRevision = ChatRevision(content: ByteString("")), entries: [Entry],
        deletions: [ByteString: Deletion] = [:], others: [String: JSONValue] = [:]
    ) {
        self.init(
            session: session, title: title, entries: entries, deletions: deletions, others: others, isIntact: true,
            isEdited: false, hasOtherContent: false)
    }

    init(
        session: String, title: ChatRevision, entries: [Entry], deletions: [ByteString: Deletion],
        others: [String: JSONValue], isIntact: Bool, isEdited: Bool, hasOtherContent: Bool
    ) {
        let present = entries.filter { entry in
            deletions[ByteString(entry.message.id)].map { entry.revision.restores > $0.restores } ?? true
        }
        let restored = Set(present.map { ByteString($0.message.id) })
        self.session = session
        titleRevision = title
        self.entries = Self.ordered(present)
        self.deletions = deletions.filter { !restored.contains($0.key) }
        self.others = others.filter { !Self.members.contains($0.key) }
        self.isIntact = isIntact
        self.isEdited = isEdited
        self.hasOtherContent = hasOtherContent
    }

    // MARK: - Order

    private static func ordered(_ entries: [Entry]) -> [Entry] {
        var known: Set<ByteString> = []
        let all = entries.filter { known.insert(ByteString($0.message.id)).inserted }.sorted(by: isBefore)
        let followers = Dictionary(grouping: all) { $0.after.map { ByteString($0) } }
        var ordered: [Entry] = []
        var placed: Set<ByteString> = []
        // A message after an unknown one begins a thread. So does the first message of a cycle.
        let roots = all.filter { entry in entry.after.map { !known.contains(ByteString($0)) } ?? true }
        for root in roots + all where !placed.contains(ByteString(root.message.id)) {
            var waiting = [root]
            while let entry = waiting.popLast() {
                let id = ByteString(entry.message.id)
                guard placed.insert(id).inserted else { continue }
                ordered.append(entry)
                waiting += (followers[id] ?? []).reversed()
            }
        }
        return ordered
    }

    private static func isBefore(_ left: Entry, _ right: Entry) -> Bool {
        left.message.timestamp != right.message.timestamp
            ? left.message.timestamp < right.message.timestamp
            : ByteString(left.message.id) < ByteString(right.message.id)
    }
}

// MARK: - Bytes

extension ChatProjection {
    private static let format = "recollect.chat/1"
    private static let members: Set = [
        "format", "session", "title", "titleRevision", "titleReplaced", "messages", "deleted", "heads", "sha256",
    ]

    /// The file's bytes.
    var bytes: [UInt8] {
        var head = JSONWriter()
        head.object { object in
            object.member("format") { $0.write(Self.format) }
            object.member("session") { $0.write(session) }
            if let title { object.member("title") { $0.write(title) } }
            object.numbers(of: titleRevision, "titleRevision", "titleReplaced")
        }
        let lines = entries.map { entry in
            var line = JSONWriter()
            line.write(entry)
            return line.text
        }
        var deleted = JSONWriter()
        deleted.write(list: deletions.sorted { $0.key < $1.key }) {
            $0.write($1.value, of: $1.key.string)
        }
        let deletedMember = deletions.isEmpty ? "" : ",\"deleted\":\(deleted.text)"
        var others = JSONWriter()
        others.write(self.others)
        let rest = self.others.isEmpty ? "" : ",\(others.text.dropFirst().dropLast())"
        let body =
            "\(head.text.dropLast()),\"messages\":[\n\(lines.joined(separator: ",\n"))\n]\(deletedMember),\"heads\":\(Self.list(heads))\(rest)"
        return Array("\(body),\"sha256\":\"\(ContentHash(of: body.utf8).rawValue)\"}\n".utf8)
    }

    private static func list(_ ids: [String]) -> String {
        var writer = JSONWriter()
        writer.write(list: ids) { $0.write($1) }
        return writer.text
    }

    /// The IDs of the messages without a following message, in byte order.
    var heads: [String] {
        let followed = Set(entries.compactMap { $0.after.map { ByteString($0) } })
        return entries.map { ByteString($0.message.id) }.filter { !followed.contains($0) }.sorted().map(\.string)
    }

    /// Creates a projection from a file's bytes, edited or not.
    /// - Throws: `unreadable` if the bytes are not a projection; `newerSchema` for a newer format.
    init(bytes: [UInt8]) throws {
        // Editors on Windows begin a file with a byte order mark.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let fields = try text.withUnsafeBytes { try JSONValue.parse(object: $0) }
        guard let format = fields["format"]?.stringValue, format.hasPrefix("recollect.chat/") else {
            throw RecollectError(.unreadable, "the file is not a chat written by Recollect")
        }
        guard format == Self.format else {
            throw RecollectError(.newerSchema, "the chat has the format \(format); use a newer version of Recollect")
        }
        guard let session = fields["session"]?.stringValue, let messages = fields["messages"]?.arrayValue
        else { throw RecollectError(.unreadable, "the chat has no session or no messages") }
        var unread = JSONValues()
        let entries = try messages.map { try Entry(json: $0, &unread) }
        let listed = fields["deleted"]?.arrayValue
        let deletions = (listed ?? []).compactMap { Self.deletion(json: $0, &unread) }
        let strings: [JSONValue?] = messages.flatMap { message in
            [message.objectValue?["agent"], message.objectValue?["after"]]
        }
        let optional: [JSONValue] = (strings + [fields["title"]]).compactMap { $0 }
        let isListUnread = listed.map { $0.count != deletions.count } ?? (fields["deleted"] != nil)
        let title = ChatRevision(
            content: ByteString(fields["title"]?.stringValue ?? ""), number: unread.count(fields["titleRevision"]),
            replaced: Set(unread.strings(fields["titleReplaced"]) ?? []))
        let read = ChatProjection(
            session: session, title: title, entries: entries,
            deletions: Dictionary(deletions, uniquingKeysWith: Deletion.joined), others: fields)
        let canonical = read.bytes
        let end = "\"\(fields["sha256"]?.stringValue ?? "")\"}\n".utf8
        self.init(
            session: read.session, title: title, entries: read.entries, deletions: read.deletions,
            others: read.others, isIntact: canonical == bytes,
            isEdited: !canonical.suffix(end.count).elementsEqual(end),
            hasOtherContent: read.entries.count < entries.count || isListUnread || unread.areFound
                || optional.contains { $0.stringValue == nil && $0 != .null })
    }

    private static func deletion(json: JSONValue, _ unread: inout JSONValues) -> (ByteString, Deletion)? {
        if let id = json.stringValue { return (ByteString(id), Deletion(restores: 0)) }
        guard let fields = json.objectValue, let id = fields["id"]?.stringValue else { return nil }
        if !fields.keys.allSatisfy(["id", "restores", "states"].contains) { unread.areFound = true }
        let states = Set(unread.strings(fields["states"]) ?? [])
        return (ByteString(id), Deletion(restores: unread.count(fields["restores"]), states: states))
    }
}

/// Reads counts and lists of a file, and notes values of another type.
private struct JSONValues {
    /// Whether a value was of another type.
    var areFound = false

    /// Returns a count; 0 if it is missing or no count.
    mutating func count(_ value: JSONValue?) -> Int {
        guard let value, value != .null else { return 0 }
        guard case .integer(let number) = value, (0...Int64(ChatRevision.most)).contains(number) else {
            areFound = true
            return 0
        }
        return Int(number)
    }

    /// Returns the strings of a list; `nil` for other values.
    mutating func strings(_ value: JSONValue?) -> [String]? {
        guard let value, value != .null else { return nil }
        guard let list = value.arrayValue else {
            areFound = true
            return nil
        }
        let strings = list.compactMap(\.stringValue)
        if strings.count < list.count { areFound = true }
        return strings
    }
}

extension ChatProjection.Entry {
    /// The members of an entry beside those of its message. Fields of a message with these names are in `fields`.
    private static let members: Set = ["agent", "agents", "after", "revision", "restores", "replaced", "fields"]

    fileprivate init(json: JSONValue, _ unread: inout JSONValues) throws {
        guard var fields = json.objectValue else { throw RecollectError(.unreadable, "a message is not a JSON object") }
        let own = fields["fields"]?.objectValue.flatMap { own in own.keys.allSatisfy(Self.members.contains) ? own : nil
        }
        let agent = fields.removeValue(forKey: "agent")?.stringValue
        let agents = unread.strings(fields["agents"])
        if agents != nil { fields["agents"] = nil }
        let after = fields.removeValue(forKey: "after")?.stringValue
        let number = unread.count(fields.removeValue(forKey: "revision"))
        let restores = unread.count(fields.removeValue(forKey: "restores"))
        let replaced = unread.strings(fields["replaced"])
        if replaced != nil { fields["replaced"] = nil }
        if let own {
            fields["fields"] = nil
            fields.merge(own) { $1 }
        }
        self.init(
            agents: (agents ?? []) + [agent].compactMap { $0 }, after: after,
            message: try ConversationMessage(json: .object(fields)), number: number, restores: restores,
            replaced: Set(replaced ?? []))
    }

    fileprivate func write(to object: inout JSONWriter.Members) {
        var message = message
        let own = message.unknownFields.filter { Self.members.contains($0.key) }
        for name in own.keys { message.unknownFields[name] = nil }
        object.members(of: message)
        if !own.isEmpty { object.member("fields") { $0.write(own) } }
        if agents.count > 1 {
            object.member("agents") { $0.write(list: agents) { $0.write($1) } }
        } else if let agent = agents.first, !agent.isEmpty {
            object.member("agent") { $0.write(agent) }
        }
        if let after { object.member("after") { $0.write(after) } }
        object.numbers(of: revision, "revision", "replaced")
    }
}

extension JSONWriter.Members {
    fileprivate mutating func numbers(of revision: ChatRevision, _ number: String, _ replaced: String) {
        if revision.number > 0 { member(number) { $0.write(Int64(revision.number)) } }
        if revision.restores > 0 { member("restores") { $0.write(Int64(revision.restores)) } }
        if !revision.replaced.isEmpty {
            member(replaced) { $0.write(list: revision.replaced.sorted()) { $0.write($1) } }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ entry: ChatProjection.Entry) {
        object { entry.write(to: &$0) }
    }

    fileprivate mutating func write(_ deletion: ChatProjection.Deletion, of id: String) {
        guard deletion != ChatProjection.Deletion(restores: 0) else { return write(id) }
        object { object in
            object.member("id") { $0.write(id) }
            if deletion.restores > 0 { object.member("restores") { $0.write(Int64(deletion.restores)) } }
            if !deletion.states.isEmpty {
                object.member("states") { $0.write(list: deletion.states.sorted()) { $0.write($1) } }
            }
        }
    }
}
