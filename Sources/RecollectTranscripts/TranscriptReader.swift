import Foundation
import RecollectCore

/// Reads a transcript record by record: a Claude Code transcript, or an export of a history.
///
/// Memory is bounded by the longest line, whatever the file's size. A longer line than `maxLineBytes`, or than 1 GB in an
/// export of a history, is reported as unreadable and passed over. Bad lines are records too, never errors, so nothing stops the rest. Calls block on the file: make them off
/// Swift's cooperative threads. Not for concurrent use.
///
/// In a Claude Code transcript a line belongs to the session that it names, else to the one that the file is named after. It
/// belongs to the agent that it names (`agentId`), else to the sub-agent whose file this is (`agent-….jsonl`), else to
/// `sidechainAgentId` where it stands aside, else to `mainAgentId`.
///
/// A message's metadata holds `model`, `usage`, `workingDirectory`, `branch`, `version`, `parentId`, `requestId`,
/// `apiMessageId`, `stopReason`, `isSidechain` where it is true, and under `partFields`, by the index of a part, what else its
/// block carried (`is_error`, for instance). All else that the line carried stands under `claudeCode` as it came. `usage` is
/// what the line adds to the usage that earlier lines of the same API message told, so adding up messages counts every
/// token once. A line of tool results alone has the role `tool`.
public final class TranscriptReader: TranscriptReading {
    /// The agent that speaks in a Claude Code session itself.
    public static let mainAgentId = "claude"
    /// The agent of side-chain lines that name none, as old versions wrote them into the session's own file.
    public static let sidechainAgentId = "sidechain"
    /// The longest readable line of a Claude Code transcript, in bytes.
    public static let maxLineBytes = 64 << 20

    /// The file.
    public let path: String
    /// The bytes read so far.
    public var bytesRead: Int64 { lines.bytesRead }

    private let lines: LineReader
    private let format: TranscriptFormat
    private let maxLineBytes: Int
    private let namedAgentId: String?
    private var sessionId: String
    private var usage = UsageCounter()

    /// Opens a transcript; symbolic links are not followed.
    /// - Throws: `unreadable` where nobody wrote the file whom this package knows; `permissionDenied`, `cannotOpen`,
    ///   `invalidArgument` where it is not a file that can be read.
    public convenience init(path: String) throws {
        try self.init(path: path, maxLineBytes: nil)
    }

    init(path: String, maxLineBytes limit: Int?) throws {
        self.path = path
        format = try TranscriptFormat.required(path: path)
        maxLineBytes = limit ?? format.maxLineBytes
        lines = try LineReader(path: path, maxLineBytes: maxLineBytes)
        let folders = path.split(separator: "/").map(String.init)
        let name = folders.last.map { $0.hasSuffix(".jsonl") ? String($0.dropLast(".jsonl".count)) : $0 } ?? ""
        let isAgent = name.hasPrefix("agent-")
        namedAgentId = isAgent ? String(name.dropFirst("agent-".count)) : nil
        // {session}/subagents/agent-….jsonl
        sessionId = isAgent && folders.dropLast().last == "subagents" ? folders.dropLast(2).last ?? name : name
    }

    /// The next record; `nil` at the end of the file.
    /// - Throws: `inputOutput` where the file cannot be read on.
    public func next() throws -> TranscriptRecord? {
        try lines.next { line in
            switch line {
            case .whole(let bytes): record(bytes)
            case .unended(let bytes):
                // Whole after all, or half a line that comes with the next import.
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
        let content = try line.record(usage: &usage)
        guard case .message = content else { return record(content) }
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

extension TranscriptRecord {
    fileprivate var isUnreadable: Bool {
        if case .unreadable = content { return true }
        return false
    }
}
