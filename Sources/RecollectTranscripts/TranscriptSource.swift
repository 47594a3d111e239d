import Foundation
import RecollectCore

/// Records of an import, saved together.
struct TranscriptBatch: Sendable {
    /// The messages of each session in order, in runs of one agent each.
    var sessions: [[(scope: Scope, messages: [ConversationMessage])]] {
        sessionOrder.map { runs[$0] ?? [] }
    }

    private(set) var messageCount = 0
    private(set) var others: [String] = []
    private(set) var unreadable: [ImportReport.Unreadable] = []
    private(set) var unfinished = 0
    /// Titles, each with the ID of the last message in its session, and with the session of the file it is in.
    private(set) var titles: [(title: String, lastMessageId: String, session: SessionKey)] = []
    /// Titles of sessions, and whether they are by users.
    private(set) var sessionTitles: [(title: String, isByUser: Bool, session: SessionKey)] = []
    private(set) var details: [(SessionKey, SessionDetails)] = []
    /// The files with lines about the progress of sub-agents.
    var nested: [(path: String, agents: [NestedAgent: String?])] = []
    var bytesRead: Int64 = 0
    var bytesTotal: Int64 = 0

    private var sessionOrder: [SessionKey] = []
    private var runs: [SessionKey: [(scope: Scope, messages: [ConversationMessage])]] = [:]

    /// Adds a record of a file.
    mutating func add(_ record: TranscriptRecord, file: String, userId: String) {
        let session = SessionKey(userId: record.userId ?? userId, sessionId: record.sessionId)
        do {
            try record.content.checkSavable()
        } catch {
            // A history would refuse it, together with the whole batch.
            return addUnreadable(file: file, line: record.line, error.message)
        }
        switch record.content {
        case .message(let message): add(message, session.scope(agentId: record.agentId))
        case .title(let title, let id):
            titles.append((title, id, session))
            others.append("summary")
        case .sessionTitle(let title, let isByUser):
            sessionTitles.append((title, isByUser, session))
            others.append(isByUser ? "custom-title" : "ai-title")
        case .details(let details): self.details.append((session, details))
        case .other(let kind): others.append(kind)
        case .unreadable(let reason): addUnreadable(file: file, line: record.line, reason)
        case .unfinished: unfinished += 1
        }
    }

    /// Adds an unreadable line, or with line 0 an unreadable file.
    mutating func addUnreadable(file: String, line: Int, _ reason: String) {
        unreadable.append(ImportReport.Unreadable(file: file, line: line, reason: reason))
    }

    private mutating func add(_ message: ConversationMessage, _ scope: Scope) {
        messageCount += 1
        let id = scope.session
        if runs[id] == nil { sessionOrder.append(id) }
        if let last = runs[id]?.indices.last, runs[id]?[last].scope == scope {
            runs[id]?[last].messages.append(message)
        } else {
            runs[id, default: []].append((scope, [message]))
        }
    }
}

/// Reads all files of an import in batches.
///
/// `@unchecked Sendable`: its state is only accessed on its own serial queue. The blocking reads run there, too.
final class TranscriptSource: @unchecked Sendable {
    private let queue = DispatchQueue(label: "recollect.import.read", qos: .userInitiated)
    private let paths: [String]
    private let formats: [any TranscriptFormat]
    private let userId: String
    private let batchSize: Int
    private var files: [TranscriptFile]?
    private var nextFile = 0
    private var reader: (any TranscriptReading)?
    private var bytesOfFilesRead: Int64 = 0
    private var bytesTotal: Int64 = 0

    /// The size of a batch in bytes and in lines. A batch ends at the first limit reached, or at `batchSize`
    /// messages.
    private static let (batchBytes, batchLines) = (4 << 20, 50_000)

    init(paths: [String], formats: [any TranscriptFormat], userId: String, batchSize: Int) {
        self.paths = paths
        self.formats = formats
        self.userId = userId
        self.batchSize = max(1, batchSize)
    }

    /// Creates a source of files already found.
    convenience init(files: [TranscriptFile], userId: String, batchSize: Int) {
        self.init(paths: [], formats: [], userId: userId, batchSize: batchSize)
        self.files = files
    }

    /// Returns the next batch; `nil` after the last.
    func next() async throws -> TranscriptBatch? {
        try await queue.run { try self.readBatch() }
    }

    private func readBatch() throws -> TranscriptBatch? {
        var batch = TranscriptBatch()
        let files = try found(&batch)
        guard reader != nil || nextFile < files.count || !batch.unreadable.isEmpty else { return nil }
        let start = bytesRead
        var lines = 0
        while batch.messageCount < batchSize, lines < Self.batchLines, bytesRead - start < Self.batchBytes {
            guard let reader = try reader ?? openNext(files, &batch) else { break }
            lines += 1
            do {
                if let record = try reader.next() {
                    batch.add(record, file: reader.path, userId: userId)
                    continue
                }
            } catch let error as RecollectError {
                batch.addUnreadable(file: reader.path, line: 0, error.message)
            }
            bytesOfFilesRead += reader.bytesRead
            if let agents = (reader as? TranscriptReader)?.nestedAgents, !agents.isEmpty {
                batch.nested.append((reader.path, agents))
            }
            self.reader = nil
        }
        batch.bytesRead = bytesRead
        batch.bytesTotal = max(bytesTotal, bytesRead)
        return batch
    }

    private var bytesRead: Int64 { bytesOfFilesRead + (reader?.bytesRead ?? 0) }

    /// Finds the files of the import, with the first batch.
    private func found(_ batch: inout TranscriptBatch) throws -> [TranscriptFile] {
        if let files { return files }
        let found = try TranscriptFiles.find(in: paths, formats: formats)
        found.unreadable.forEach { batch.addUnreadable(file: $0.file, line: $0.line, $0.reason) }
        bytesTotal = found.files.reduce(0) { $0 + $1.byteCount }
        files = found.files
        return found.files
    }

    /// Opens the next file, skipping files with an error; `nil` after the last.
    private func openNext(
        _ files: [TranscriptFile], _ batch: inout TranscriptBatch
    ) throws -> (any TranscriptReading)? {
        while nextFile < files.count {
            defer { nextFile += 1 }
            do {
                reader = try files[nextFile].open()
                return reader
            } catch let error as RecollectError {
                batch.addUnreadable(file: files[nextFile].path, line: 0, error.message)
            }
        }
        return nil
    }
}

extension TranscriptRecord.Content {
    /// Throws for content no history accepts.
    fileprivate func checkSavable() throws(RecollectError) {
        switch self {
        case .message(let message): try message.checkSavable()
        case .details(let details): try details.checkSavable()
        default: break
        }
    }
}
