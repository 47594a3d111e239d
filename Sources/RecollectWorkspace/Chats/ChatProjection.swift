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
/// {"id":"1","role":"user","timestamp":1763719200000,"parts":[{"type":"text","text":"Call me."}],"agent":"historian"},
/// {"id":"2","role":"assistant",…,"agent":"historian","after":"1"}
/// ],"heads":["2"],"sha256":"…"}
/// ```
public struct ChatProjection: Equatable, Sendable {
    /// A message and its position in the session.
    struct Entry: Equatable, Sendable {
        /// The agent with the message in its scope.
        var agentId: String
        /// The ID of the preceding message; `nil` for the first.
        var after: String?
        var message: ConversationMessage

        init(agentId: String, after: String? = nil, message: ConversationMessage) {
            self.agentId = agentId
            self.after = after
            self.message = message
        }
    }

    /// The session's ID.
    public let session: String
    /// The session's title; `nil` if it has none.
    public internal(set) var title: String?
    /// The messages with their agents, each below its preceding message. Messages with the same preceding message are
    /// sorted by timestamp, then by the bytes of their IDs.
    public var messages: [AgentMessage] { entries.map(\.agentMessage) }
    /// The messages and their positions, in the order of `messages`.
    let entries: [Entry]
    /// The IDs of deleted messages, in byte order. Another device's file cannot bring these messages back.
    let deleted: [String]
    /// Unknown members of the file: preserved unchanged, and never imported into the history.
    let others: [String: JSONValue]
    /// Whether the projection was read from canonical bytes, as Recollect writes them. An edited file is not intact.
    let isIntact: Bool
    /// Whether the file had content missing here: a message with a repeated ID, a message listed as deleted, or a
    /// title, an agent or an ID of another type than a string.
    let hasOtherContent: Bool

    /// Creates a projection. Of entries with the same ID, the first is kept. Entries listed in `deleted` are
    /// dropped.
    init(
        session: String, title: String? = nil, entries: [Entry], deleted: [String] = [],
        others: [String: JSONValue] = [:]
    ) {
        self.init(
            session: session, title: title, entries: entries, deleted: deleted, others: others,
            isIntact: true, hasOtherContent: false)
    }

    private init(
        session: String, title: String?, entries: [Entry], deleted: [String], others: [String: JSONValue],
        isIntact: Bool, hasOtherContent: Bool
    ) {
        let gone = Set(deleted.map { ByteString($0) })
        self.session = session
        self.title = title
        self.entries = Self.ordered(entries.filter { !gone.contains(ByteString($0.message.id)) })
        self.deleted = gone.sorted().map(\.string)
        self.others = others.filter { !Self.members.contains($0.key) }
        self.isIntact = isIntact
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
    private static let members: Set = ["format", "session", "title", "messages", "deleted", "heads", "sha256"]

    /// The file's bytes.
    var bytes: [UInt8] {
        var head = JSONWriter()
        head.object { object in
            object.member("format") { $0.write(Self.format) }
            object.member("session") { $0.write(session) }
            if let title { object.member("title") { $0.write(title) } }
        }
        let lines = entries.map { entry in
            var line = JSONWriter()
            line.write(entry)
            return line.text
        }
        let deleted = self.deleted.isEmpty ? "" : ",\"deleted\":\(Self.list(self.deleted))"
        var others = JSONWriter()
        others.write(self.others)
        let rest = self.others.isEmpty ? "" : ",\(others.text.dropFirst().dropLast())"
        let body =
            "\(head.text.dropLast()),\"messages\":[\n\(lines.joined(separator: ",\n"))\n]\(deleted),\"heads\":\(Self.list(heads))\(rest)"
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
        let fields = try bytes.withUnsafeBytes { try JSONValue.parse(object: $0) }
        guard let format = fields["format"]?.stringValue, format.hasPrefix("recollect.chat/") else {
            throw RecollectError(.unreadable, "the file is not a chat that Recollect wrote")
        }
        guard format == Self.format else {
            throw RecollectError(.newerSchema, "the chat has the format \(format); use a newer version of Recollect")
        }
        guard let session = fields["session"]?.stringValue, let messages = fields["messages"]?.arrayValue
        else { throw RecollectError(.unreadable, "the chat has no session or no messages") }
        let entries = try messages.map { try Entry(json: $0) }
        let listed = fields["deleted"]?.arrayValue
        let deleted = listed?.compactMap(\.stringValue) ?? []
        let strings: [JSONValue?] = messages.flatMap { message in
            [message.objectValue?["agent"], message.objectValue?["after"]]
        }
        let optional: [JSONValue] = (strings + [fields["title"]]).compactMap { $0 } + (listed ?? [])
        let isListUnread = listed == nil && fields["deleted"] != nil
        let read = ChatProjection(
            session: session, title: fields["title"]?.stringValue, entries: entries, deleted: deleted,
            others: fields)
        self.init(
            session: read.session, title: read.title, entries: read.entries, deleted: read.deleted,
            others: read.others, isIntact: read.bytes == bytes,
            hasOtherContent: read.entries.count < entries.count || isListUnread
                || optional.contains { $0.stringValue == nil && $0 != .null })
    }
}

extension ChatProjection.Entry {
    var agentMessage: AgentMessage { AgentMessage(agentId: agentId, message: message) }

    fileprivate init(json: JSONValue) throws {
        guard var fields = json.objectValue else { throw RecollectError(.unreadable, "a message is no object") }
        let agentId = fields.removeValue(forKey: "agent")?.stringValue ?? ""
        let after = fields.removeValue(forKey: "after")?.stringValue
        self.init(agentId: agentId, after: after, message: try ConversationMessage(json: .object(fields)))
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ entry: ChatProjection.Entry) {
        object { object in
            object.members(of: entry.message)
            if !entry.agentId.isEmpty { object.member("agent") { $0.write(entry.agentId) } }
            if let after = entry.after { object.member("after") { $0.write(after) } }
        }
    }
}
