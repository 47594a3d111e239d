import Foundation
import RecollectCore

/// Reads a transcript record by record: a Claude Code transcript, or an export of a history.
///
/// Memory is bounded by the longest line, for any file size. A line longer than `maxLineBytes`, or than 1 GiB in
/// an export of a history, is reported as unreadable and skipped. Bad lines are records, never errors, so the rest
/// is still read. Calls block on the file: make them off Swift's cooperative threads. Not for concurrent use.
///
/// A line of a Claude Code transcript belongs to the session it names, else to the session in the file name. It
/// belongs to the agent it names (`agentId`), else to the sub-agent in the file name (`agent-….jsonl`), else to
/// `sidechainAgentId` if it is a side-chain line, else to `mainAgentId`.
///
/// A message's metadata has `model`, `usage`, `workingDirectory`, `branch`, `version`, `parentId`, `requestId`,
/// `apiMessageId`, `stopReason`, `isSidechain` if true, and in `partFields`, by part index, the remaining fields
/// of a part's block, such as `is_error`. Remaining fields of the line are in `claudeCode`, unchanged. `usage` is
/// the increase over earlier lines of the same API message, so the sum over all messages counts every token once.
/// A line with only tool results has the role `tool`.
public final class TranscriptReader: TranscriptReading {
    /// The agent ID of a Claude Code session's main agent.
    public static let mainAgentId = "claude"
    /// The agent ID of side-chain lines without an agent. Old versions wrote such lines into the session's own file.
    public static let sidechainAgentId = "sidechain"
    /// The longest readable line of a Claude Code transcript, in bytes.
    public static let maxLineBytes = 64 << 20

    /// The path of the file.
    public let path: String
    /// The bytes read so far.
    public var bytesRead: Int64 { lines.bytesRead }

    private let lines: LineReader
    private let format: JSONLinesFormat
    private let maxLineBytes: Int
    private let namedAgentId: String?
    private var sessionId: String
    private var usage = UsageCounter()
    /// The sub-agents to read from lines about their progress. With them, nothing else is read.
    private let nested: Set<NestedAgent>?
    /// The sub-agents in lines about their progress so far, with the IDs of the calls that started them.
    private(set) var nestedAgents: [NestedAgent: String?] = [:]

    /// Opens a transcript. Symbolic links are not followed.
    ///
    /// - Throws: `unreadable` for a file of unknown format; `permissionDenied`, `cannotOpen` or `invalidArgument`
    ///   for a path without a readable regular file.
    public convenience init(path: String) throws {
        try self.init(path: path, maxLineBytes: nil)
    }

    init(path: String, maxLineBytes limit: Int? = nil, nested: Set<NestedAgent>? = nil) throws {
        self.path = path
        self.nested = nested
        format = try JSONLinesFormat.required(path: path)
        maxLineBytes = limit ?? format.maxLineBytes
        lines = try LineReader(path: path, maxLineBytes: maxLineBytes)
        let folders = path.split(separator: "/").map(String.init)
        let name = folders.last.map { $0.hasSuffix(".jsonl") ? String($0.dropLast(".jsonl".count)) : $0 } ?? ""
        let isAgent = name.hasPrefix("agent-")
        namedAgentId = isAgent ? String(name.dropFirst("agent-".count)) : nil
        // The path is {session}/subagents/agent-….jsonl.
        sessionId = isAgent && folders.dropLast().last == "subagents" ? folders.dropLast(2).last ?? name : name
    }

    /// Returns the next record; `nil` at the end of the file.
    ///
    /// - Throws: `inputOutput` if reading the file fails.
    public func next() throws -> TranscriptRecord? {
        while let record = try nextRecord() {
            guard nested != nil else { return record }
            // The lines without such a message were read before, and their errors reported.
            if case .message = record.content { return record }
        }
        return nil
    }

    private func nextRecord() throws -> TranscriptRecord? {
        try lines.next { line in
            switch line {
            case .whole(let bytes): record(bytes)
            case .unended(let bytes):
                // Either a whole line without its line end, or half a line, to be completed before the next import.
                if case let whole = record(bytes), !whole.isUnreadable { whole } else { record(.unfinished) }
            case .tooLong:
                record(.unreadable(reason: "the line is longer than \(maxLineBytes >> 20) MB"))
            }
        }
    }

    private func record(_ content: TranscriptRecord.Content, agentId: String = mainAgentId) -> TranscriptRecord {
        TranscriptRecord(sessionId: sessionId, agentId: agentId, line: lines.number, content: content)
    }

    private func record(_ bytes: UnsafeRawBufferPointer) -> TranscriptRecord {
        do {
            switch format {
            case .claudeCode: return try claudeCodeRecord(bytes)
            case .history: return try historyRecord(bytes)
            }
        } catch let error as RecollectError {
            return record(.unreadable(reason: error.message))
        } catch {
            return record(.unreadable(reason: "\(error)"))
        }
    }

    private func claudeCodeRecord(_ bytes: UnsafeRawBufferPointer) throws -> TranscriptRecord {
        let line = try ClaudeCodeLine(bytes)
        if let (agentId, call) = try line.nestedAgent() {
            let agent = NestedAgent(sessionId: try line.text("sessionId") ?? sessionId, agentId: agentId)
            guard let nested else {
                if nestedAgents[agent] == nil { nestedAgents[agent] = call }
                return record(.other(kind: "progress"))
            }
            guard nested.contains(agent), let message = try line.nestedMessage(usage: &usage) else {
                return record(.other(kind: "progress"))
            }
            return TranscriptRecord(
                sessionId: agent.sessionId, agentId: agentId, line: lines.number, content: .message(message))
        }
        if nested != nil { return record(.other(kind: "")) }
        let content = try line.record(usage: &usage)
        switch content {
        case .message, .sessionTitle: break
        default: return record(content)
        }
        let aside = try line.isTrue("isSidechain") ? Self.sidechainAgentId : Self.mainAgentId
        var found = record(content, agentId: try line.text("agentId") ?? namedAgentId ?? aside)
        if let sessionId = try line.text("sessionId") { found.sessionId = sessionId }
        return found
    }

    private func historyRecord(_ bytes: UnsafeRawBufferPointer) throws -> TranscriptRecord {
        switch try HistoryLine(bytes) {
        case .header(let sessionId, let details):
            self.sessionId = sessionId
            return record(.details(details))
        case .message(let message, let agentId):
            return record(.message(message), agentId: agentId)
        }
    }
}

/// A sub-agent in lines about its progress.
struct NestedAgent: Hashable, Sendable {
    let sessionId: String
    let agentId: String
}

extension TranscriptRecord {
    fileprivate var isUnreadable: Bool {
        if case .unreadable = content { return true }
        return false
    }
}
