import Foundation
import RecollectCore

/// Folders written by Agent Squad's file storage or by Recollect's: `{base}/{user}/{session}/{agent}.json`.
/// Read-only.
public struct AgentSquadFormat: TranscriptFormat {
    /// The only user to read sessions of; `nil` for all users.
    public let userId: String?

    /// The largest readable file, in bytes.
    public static let maxFileBytes = 512 << 20

    /// Creates the format for one user of a folder, or for all.
    public init(userId: String? = nil) {
        self.userId = userId
    }

    /// The name of the format in errors.
    public var name: String { "chats of Agent Squad's file storage ({user}/{session}/{agent}.json)" }

    /// Returns one transcript for each session with a file.
    public func transcripts(at path: String) throws -> [TranscriptFile] {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [] }
        let folder = ChatFolder(path: path)
        var sessions: [SessionKey] = []
        for scope in try folder.scopes(of: userId) where scope.session != sessions.last {
            sessions.append(scope.session)
        }
        let sizes = try sessions.map { try folder.summary(of: $0) }
        // Other programs use such file names, too. Without a single chat, it is not a folder of this format.
        guard sizes.contains(where: \.isChat) else { return [] }
        return zip(sessions, sizes).map { session, size in
            let name = [session.userId, session.sessionId].map(NameEscaping.escaped).joined(separator: "/")
            return TranscriptFile(path: path + "/" + name, byteCount: size.byteCount) {
                try AgentSquadReader(session, in: folder, path: path + "/" + name, byteCount: size.byteCount)
            }
        }
    }
}

/// Reads one session of such a folder: its agents' messages merged by time, each agent's in their own order.
///
/// The whole session is in memory.
final class AgentSquadReader: TranscriptReading {
    let path: String
    private(set) var bytesRead: Int64 = 0

    private let byteCount: Int64
    private let count: Int
    private var rest: ArraySlice<TranscriptRecord>

    init(_ session: SessionKey, in folder: ChatFolder, path: String, byteCount: Int64) throws {
        self.path = path
        self.byteCount = byteCount
        let chats = try folder.chats(of: session, maxBytes: AgentSquadFormat.maxFileBytes)
        let merged = MergedChats.interleave(chats.map { AgentMessages(agentId: $0.agentId, messages: $0.messages) })
        func record(_ content: TranscriptRecord.Content, agentId: String, line: Int) -> TranscriptRecord {
            TranscriptRecord(
                userId: session.userId, sessionId: session.sessionId, agentId: agentId, line: line,
                content: content)
        }
        let damaged = chats.filter(\.isDamaged).map { chat in
            let file = chat.path.split(separator: "/").last ?? ""
            let reason = "\(file) is an incomplete chat; \(chat.messages.count) messages could be read"
            return record(.unreadable(reason: reason), agentId: chat.agentId, line: 0)
        }
        let messages = merged.enumerated().map { record(.message($1.message), agentId: $1.agentId, line: $0 + 1) }
        count = damaged.count + messages.count
        rest = (damaged + messages)[...]
    }

    func next() -> TranscriptRecord? {
        let record = rest.popFirst()
        bytesRead = count == 0 ? byteCount : byteCount * Int64(count - rest.count) / Int64(count)
        return record
    }
}
