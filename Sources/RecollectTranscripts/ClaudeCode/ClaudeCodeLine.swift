import Foundation
import RecollectCore

/// Turns one line of a Claude Code transcript into a record.
///
/// A `user`, `assistant` or `system` line becomes one message with the line's `uuid` as id. A user line whose blocks are all
/// tool results has the role `tool`, as the calls' other half; every other line keeps its type as role. The message's
/// metadata holds, under the names of `Name`, what is known of it; everything else that the line carries stands under
/// `claudeCode` with its own name, what the API message carries under `claudeCode.message`. Members that are `null` and those
/// that the message's place tells (`sessionId`, `agentId`) are left out.
///
/// The line is read in two steps: where its members stand, without building any; then those of a message. Lines that are
/// not conversation, the larger part of a transcript, end after the first.
struct ClaudeCodeLine {
    /// Names in a message's metadata.
    enum Name {
        static let model = "model"
        static let usage = "usage"
        static let workingDirectory = "workingDirectory"
        static let branch = "branch"
        static let version = "version"
        static let parentId = "parentId"
        static let isSidechain = "isSidechain"
        static let requestId = "requestId"
        static let apiMessageId = "apiMessageId"
        static let stopReason = "stopReason"
        static let partFields = "partFields"
        static let others = "claudeCode"
    }

    private let bytes: UnsafeRawBufferPointer
    private var places: [String: Range<Int>] = [:]

    /// Finds the members of a line.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        self.bytes = bytes
        var places: [String: Range<Int>] = [:]
        try JSONParser.read(bytes, replacesLoneSurrogates: true) { parser in
            try parser.forEachMember { key, parser in
                let isRepeated = places.updateValue(try parser.skip(), forKey: key) != nil
                if isRepeated, !places.keys.contains(where: key.hasSameBytes) {
                    throw Self.unreadable("two members' names differ in bytes alone")
                }
            }
        }
        self.places = places
    }

    /// What the line is, with the usage that it adds to its API message's earlier lines.
    func record(usage: inout UsageCounter) throws -> TranscriptRecord.Content {
        guard let type = try text("type") else { throw Self.unreadable("it has no type") }
        switch type {
        case "user", "assistant", "system": return .message(try message(type: type, usage: &usage))
        case "summary":
            guard let title = try text("summary"), let leafId = try text("leafUuid") else { return .other(kind: type) }
            return .title(title, lastMessageId: leafId)
        default: return .other(kind: type)
        }
    }

    /// A member that should be a string, `nil` where it is absent or something else.
    func text(_ name: String) throws -> String? {
        guard let place = places[name], bytes[place.lowerBound] == UInt8(ascii: "\"") else { return nil }
        return try value(at: place).stringValue
    }

    /// Whether a member is `true`.
    func isTrue(_ name: String) throws -> Bool {
        try places[name].map { try value(at: $0) == true } ?? false
    }

    private func value(at place: Range<Int>) throws -> JSONValue {
        let member = UnsafeRawBufferPointer(rebasing: bytes[place])
        return try JSONParser.read(member, replacesLoneSurrogates: true) { try $0.value() }
    }

    private static func unreadable(_ reason: String) -> RecollectError {
        RecollectError(.unreadable, "not a line of a transcript: \(reason)")
    }

    // MARK: Messages

    private func message(type: String, usage: inout UsageCounter) throws -> ConversationMessage {
        guard let id = try text("uuid") else { throw Self.unreadable("a message without uuid") }
        guard let timestamp = try text("timestamp").flatMap(ISO8601.date) else {
            throw Self.unreadable("a message without a timestamp that can be read")
        }
        var others: [String: JSONValue] = [:]
        for (name, place) in places where !Self.placed.contains(name) {
            let value = try value(at: place)
            if value != .null { others[name] = value }
        }
        var metadata: [String: JSONValue] = [:]
        for (name, key) in Self.renamed {
            guard let value = others.removeValue(forKey: name) else { continue }
            metadata[key] = value
        }
        if try isTrue("isSidechain") { metadata[Name.isSidechain] = true }

        var content = type == "system" ? others.removeValue(forKey: "content") ?? .null : .null
        if case .object(var inner) = others.removeValue(forKey: "message") {
            content = inner.removeValue(forKey: "content") ?? content
            metadata.merge(Self.metadata(of: &inner, type: type, usage: &usage)) { _, new in new }
            if !inner.isEmpty { others["message"] = .object(inner) }
        } else if type != "system" {
            throw Self.unreadable("a message without content")
        }
        let blocks = ClaudeCodeBlocks(content: content)
        if !blocks.fields.isEmpty { metadata[Name.partFields] = .object(blocks.fields) }
        if let result = others["toolUseResult"] {
            others["toolUseResult"] = blocks.withoutRepeatedAttachments(result)
        }
        if !others.isEmpty { metadata[Name.others] = .object(others) }
        let role = type == "user" && blocks.areToolResults ? .tool : Role(rawValue: type)
        return ConversationMessage(
            id: id, role: role, parts: blocks.parts, timestamp: timestamp, metadata: metadata
        ).fromOutside
    }

    /// Takes what has a name of its own out of the API message.
    private static func metadata(
        of inner: inout [String: JSONValue], type: String, usage: inout UsageCounter
    ) -> [String: JSONValue] {
        inner = inner.filter { $0.value != .null }
        if inner["role"]?.stringValue == type { inner["role"] = nil }
        if inner["type"] == "message" { inner["type"] = nil }
        var metadata: [String: JSONValue] = [:]
        for (name, key) in [("model", Name.model), ("id", Name.apiMessageId), ("stop_reason", Name.stopReason)] {
            metadata[key] = inner.removeValue(forKey: name)
        }
        if let line = inner.removeValue(forKey: "usage") {
            metadata[Name.usage] = usage.increase(line, of: metadata[Name.apiMessageId]?.stringValue)
        }
        return metadata
    }

    /// Members that become something other than metadata.
    private static let placed: Set<String> = ["type", "uuid", "timestamp", "sessionId", "agentId", "isSidechain"]
    /// Members that have another name in metadata.
    private static let renamed = [
        "cwd": Name.workingDirectory, "gitBranch": Name.branch, "version": Name.version, "parentUuid": Name.parentId,
        "requestId": Name.requestId,
    ]
}
