import Foundation
import RecollectCore

/// A line of Recollect's JSON Lines format, version 1.
///
/// The first line is the header: `{"recollect":"history","version":1,"session":{"id",…}}` with the session's
/// title, working directory, Git branch, metadata, tags, creation date, first message, and whether it is pinned or
/// archived (`isPinned`, `isArchived`). Every other line is a message: its JSON with `agentId` added. Fields of
/// the message itself with a name of this format are moved into `unknownFields`, to avoid confusion. Attachments
/// are in the lines, in base64. Several exports in sequence are one valid file.
enum HistoryLine {
    /// The session of the following lines.
    case header(sessionId: String, SessionDetails)
    /// A message and its agent.
    case message(ConversationMessage, agentId: String)

    /// The key present only in a header.
    static let mark = "recollect"
    /// The longest line, in bytes, including attachments in base64.
    static let maxBytes = 1 << 30
    private static let format: JSONValue = "history"
    private static let version: Int64 = 1
    private static let agentId = "agentId"
    private static let nested = "unknownFields"

    /// Creates a line from its JSON.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        var members = try JSONParser.read(bytes) { try $0.object() }
        if members[Self.mark] == Self.format {
            self = try Self.header(members)
            return
        }
        guard let agentId = members.removeValue(forKey: Self.agentId)?.stringValue else {
            throw RecollectError(.unreadable, "not a line of an export: it has no agent ID")
        }
        let nested = members.removeValue(forKey: Self.nested)?.objectValue
        var message = try ConversationMessage(json: .object(members))
        if let nested { message.unknownFields.merge(nested) { _, new in new } }
        self = .message(message, agentId: agentId)
    }

    private static func header(_ members: [String: JSONValue]) throws -> HistoryLine {
        guard members["version"]?.integerValue == version else {
            throw RecollectError(
                .unreadable, "the export has an unknown version; update this program")
        }
        guard let fields = members["session"]?.objectValue, let id = fields["id"]?.stringValue else {
            throw RecollectError(.unreadable, "the export's header has no session ID")
        }
        let details = SessionDetails(
            title: fields["title"]?.stringValue, workingDirectory: fields["workingDirectory"]?.stringValue,
            branchName: fields["gitBranch"]?.stringValue, metadata: fields["metadata"]?.objectValue ?? [:],
            isPinned: fields["isPinned"]?.boolValue, isArchived: fields["isArchived"]?.boolValue,
            addedTags: fields["tags"]?.arrayValue?.compactMap(\.stringValue) ?? [],
            firstMessage: fields["firstMessage"]?.stringValue,
            createdAt: fields["createdAt"]?.integerValue.map { Date(millisecondsSince1970: $0) })
        return .header(sessionId: id, details)
    }

    /// Returns the header of a session.
    static func header(of session: Session) -> [UInt8] {
        var fields: [String: JSONValue] = ["id": .string(session.id.sessionId)]
        fields["title"] = session.title.map { .string($0) }
        fields["workingDirectory"] = session.workingDirectory.map { .string($0) }
        fields["gitBranch"] = session.branchName.map { .string($0) }
        if session.isPinned { fields["isPinned"] = true }
        if session.isArchived { fields["isArchived"] = true }
        if !session.tags.isEmpty { fields["tags"] = .array(session.tags.map { .string($0) }) }
        fields["createdAt"] = .integer(session.createdAt.millisecondsSince1970)
        fields["firstMessage"] = session.firstMessage.map { .string($0) }
        if !session.metadata.isEmpty { fields["metadata"] = .object(session.metadata) }
        var writer = JSONWriter()
        writer.object { header in
            header.member(mark) { $0.write(format) }
            header.member("version") { $0.write(version) }
            header.member("session") { $0.write(fields) }
        }
        return writer.bytes + [0x0A]
    }

    /// Returns the line of a message.
    static func line(of message: ConversationMessage, agentId: String) -> [UInt8] {
        var message = message
        let own = message.unknownFields.filter { $0.key == Self.agentId || $0.key == nested || $0.key == mark }
        own.keys.forEach { message.unknownFields[$0] = nil }
        var writer = JSONWriter()
        writer.object { line in
            line.members(of: message)
            line.member(Self.agentId) { $0.write(agentId) }
            if !own.isEmpty { line.member(nested) { $0.write(own) } }
        }
        return writer.bytes + [0x0A]
    }
}
