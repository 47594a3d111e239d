import Foundation
import RecollectCore

/// Converts one line of a Claude Code transcript into a record.
///
/// A `user`, `assistant` or `system` line becomes one message with the line's `uuid` as ID. A user line with only
/// tool results has the role `tool`; every other line has its type as role. The message's metadata has the keys in
/// `Name`. Remaining fields of the line are in `claudeCode` under their own names, those of the API message in
/// `claudeCode.message`. Fields with `null`, and those given by the scope (`sessionId`, `agentId`), are omitted.
///
/// The line is parsed in two steps: first the byte ranges of its fields, without building values; then the fields
/// of a message. Lines other than messages, the larger part of a transcript, need only the first step.
struct ClaudeCodeLine {
    /// Keys in a message's metadata.
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
        static let isProgress = "isProgress"
        static let taskCallId = "taskCallId"
        static let others = "claudeCode"
    }

    private let bytes: UnsafeRawBufferPointer
    private var ranges: [String: Range<Int>] = [:]

    /// Creates a line with the byte ranges of its fields.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        self.bytes = bytes
        var ranges: [String: Range<Int>] = [:]
        try JSONParser.read(bytes, replacesLoneSurrogates: true) { parser in
            try parser.forEachMember { key, parser in
                let isRepeated = ranges.updateValue(try parser.skip(), forKey: key) != nil
                if isRepeated, !ranges.keys.contains(where: key.hasSameBytes) {
                    throw Self.unreadable("two keys differ only in Unicode normalization")
                }
            }
        }
        self.ranges = ranges
    }

    /// Returns the content of the line, with only the increase in usage over earlier lines of its API message.
    func record(usage: inout UsageCounter) throws -> TranscriptRecord.Content {
        guard let type = try text("type") else { throw Self.unreadable("it has no type") }
        switch type {
        case "user", "assistant", "system": return .message(try message(type: type, usage: &usage))
        case "summary":
            guard let title = try text("summary"), let leafId = try text("leafUuid") else { return .other(kind: type) }
            return .title(title, lastMessageId: leafId)
        case "custom-title": return try sessionTitle("customTitle", type, isByUser: true)
        case "ai-title": return try sessionTitle("aiTitle", type, isByUser: false)
        default: return .other(kind: type)
        }
    }

    private func sessionTitle(_ field: String, _ type: String, isByUser: Bool) throws -> TranscriptRecord.Content {
        guard let title = try text(field), title.contains(where: { !$0.isWhitespace }) else {
            return .other(kind: type)
        }
        return .sessionTitle(title, isByUser: isByUser)
    }

    /// Returns a string field; `nil` if it is absent or not a string.
    func text(_ name: String) throws -> String? {
        guard let range = ranges[name], bytes[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
        return try value(at: range).stringValue
    }

    /// Whether a field is `true`.
    func isTrue(_ name: String) throws -> Bool {
        try ranges[name].map { try value(at: $0) == true } ?? false
    }

    private func value(at range: Range<Int>) throws -> JSONValue {
        let member = UnsafeRawBufferPointer(rebasing: bytes[range])
        return try JSONParser.read(member, replacesLoneSurrogates: true) { try $0.value() }
    }

    private static func unreadable(_ reason: String) -> RecollectError {
        RecollectError(.unreadable, "not a line of a transcript: \(reason)")
    }

    // MARK: Sub-agents

    /// Returns the ID of the sub-agent in a line about its progress, and that of the call that started it; `nil` for other
    /// lines.
    func nestedAgent() throws -> (id: String, call: String?)? {
        guard let agentId = try nestedLine()?.agentId else { return nil }
        return (agentId, try text("parentToolUseID"))
    }

    /// Returns the message of a sub-agent in a line about its progress; `nil` for other lines.
    ///
    /// Its metadata has `isProgress`, and in `taskCallId` the ID of the call that started the sub-agent. Fields of the
    /// surrounding line that every line has are taken from it.
    func nestedMessage(usage: inout UsageCounter) throws -> ConversationMessage? {
        guard let (line, _) = try nestedLine(), let type = try line.text("type"), ["user", "assistant"].contains(type)
        else { return nil }
        var message = try line.message(type: type, usage: &usage)
        message.metadata[Name.isSidechain] = true
        message.metadata[Name.isProgress] = true
        for (name, key) in [
            ("cwd", Name.workingDirectory), ("gitBranch", Name.branch), ("version", Name.version),
            ("parentToolUseID", Name.taskCallId),
        ] {
            if let value = try text(name) { message.metadata[key] = .string(value) }
        }
        return message
    }

    private func nestedLine() throws -> (line: ClaudeCodeLine, agentId: String)? {
        guard try text("type") == "progress", let data = try line(at: "data"),
            try data.text("type") == "agent_progress", let agentId = try data.text("agentId"),
            !["", TranscriptReader.mainAgentId].contains(agentId), let line = try data.line(at: "message"),
            try line.text("uuid") != nil, try line.text("timestamp") != nil
        else { return nil }
        return (line, agentId)
    }

    /// Returns a field with an object as a line; `nil` for other fields.
    private func line(at name: String) throws -> ClaudeCodeLine? {
        guard let range = ranges[name], bytes[range.lowerBound] == UInt8(ascii: "{") else { return nil }
        return try ClaudeCodeLine(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    // MARK: Messages

    private func message(type: String, usage: inout UsageCounter) throws -> ConversationMessage {
        guard let id = try text("uuid") else { throw Self.unreadable("a message without a uuid") }
        guard let timestamp = try text("timestamp").flatMap(ISO8601.date) else {
            throw Self.unreadable("a message without a valid timestamp")
        }
        var others: [String: JSONValue] = [:]
        for (name, range) in ranges where !Self.placed.contains(name) {
            let value = try value(at: range)
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

    /// Moves the fields with a metadata key of their own out of the API message.
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

    /// Fields that do not become metadata by their own names.
    private static let placed: Set<String> = ["type", "uuid", "timestamp", "sessionId", "agentId", "isSidechain"]
    /// Fields with another name in metadata.
    private static let renamed = [
        "cwd": Name.workingDirectory, "gitBranch": Name.branch, "version": Name.version, "parentUuid": Name.parentId,
        "requestId": Name.requestId,
    ]
}
