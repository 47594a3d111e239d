import Foundation
import RecollectCore

/// The JSON printed by the command line and by `export --format json`: stable keys, `null` for unknown values,
/// dates in milliseconds since 1970.
extension Session {
    /// `id`, `title` (as given), `displayTitle`, `createdAt`, `lastActivityAt`, `lastAccessedAt`, `messageCount`,
    /// `agents`, `workingDirectory`, `branch`, `preview`, `metadata`, `tags`, `isPinned`, `isArchived`,
    /// `isUnread`, `usage` (`input`, `output`, `cacheCreation`, `cacheRead`), `discardedAt`, and for a branch
    /// `branchPoint` (`sessionId`, `messageId`).
    package var listed: JSONValue {
        [
            "id": .string(id.sessionId), "title": JSONValue(title), "displayTitle": .string(displayTitle),
            "createdAt": .integer(createdAt.millisecondsSince1970),
            "lastActivityAt": .integer(lastActivityAt.millisecondsSince1970),
            "messageCount": .integer(Int64(messageCount)), "agents": .array(agentIds.map { .string($0) }),
            "workingDirectory": JSONValue(workingDirectory), "gitBranch": JSONValue(branchName),
            "preview": .string(preview), "metadata": .object(metadata),
            "lastAccessedAt": .integer(lastAccessedAt.millisecondsSince1970),
            "tags": .array(tags.map { .string($0) }), "isPinned": .bool(isPinned), "isArchived": .bool(isArchived),
            "isUnread": .bool(isUnread),
            "usage": [
                "input": .integer(Int64(usage.input)), "output": .integer(Int64(usage.output)),
                "cacheCreation": .integer(Int64(usage.cacheCreation)), "cacheRead": .integer(Int64(usage.cacheRead)),
            ],
            "discardedAt": discardedAt.map { .integer($0.millisecondsSince1970) } ?? .null,
            "branchPoint": branchPoint.map {
                ["sessionId": .string($0.sessionId), "messageId": JSONValue($0.messageId)]
            }
                ?? .null,
        ]
    }
}

extension StoredMessage {
    /// Writes `id`, `role`, `agentId`, `timestamp`, `text`, `parts`, `metadata`, and fields of newer versions.
    package func writeListed(to writer: inout JSONWriter) {
        var message = message
        let text = message.text
        let metadata = message.metadata
        message.metadata = [:]
        for name in ["agentId", "text", "metadata"] { message.unknownFields[name] = nil }
        writer.object { object in
            object.members(of: message)
            object.member("agentId") { $0.write(agentId) }
            object.member("text") { $0.write(text) }
            object.member("metadata") { $0.write(metadata) }
        }
    }
}

extension JSONValue {
    /// Creates a string, or `null` for `nil`.
    package init(_ text: String?) {
        self = text.map { .string($0) } ?? .null
    }

    /// The text of a tool result for readers: text unchanged, text blocks joined, other values as JSON.
    package var readable: String {
        switch self {
        case .string(let text): return text
        case .null: return ""
        case .array(let blocks):
            let texts = blocks.map { $0["type"] == "text" ? $0["text"]?.stringValue ?? $0.jsonString : $0.jsonString }
            return texts.joined(separator: "\n")
        default: return jsonString
        }
    }
}
