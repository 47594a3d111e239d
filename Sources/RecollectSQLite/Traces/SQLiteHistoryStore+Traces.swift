import Foundation
import GRDB
import RecollectCore

extension SQLiteHistoryStore {
    /// Searches for a word in all content of the history: rows, the pages of the search index, and the bytes of the
    /// database, its log, attachments, files set aside and files left by interrupted work. An empty result means
    /// the word is in none of them.
    ///
    /// The case of ASCII letters does not matter. Bytes are compared as stored: a word in a compressed attachment
    /// is not found. Reads the whole history and changes nothing. Content saved meanwhile may be found or not.
    ///
    /// - Parameter word: A word of at least three bytes.
    /// - Returns: The occurrences of the word: rows first, each with its session.
    /// - Throws: `invalidArgument` for a shorter word.
    public func traces(of word: String) async throws -> [WordTrace] {
        let pattern = try WordPattern(word)
        let database = connection.files.map { URL(fileURLWithPath: $0.database).lastPathComponent } ?? ""
        let rows = LiveWords(pattern: pattern, file: database)
        var traces = try await pages { try rows.messages(after: $0, $1) }
        traces += try await pages { try rows.streamingReplies(after: $0, $1) }
        traces += try await pages { try rows.compactions(after: $0, $1) }
        traces += try await pages { try rows.sessions(after: $0, $1) }
        traces += try await pages { try rows.changes(after: $0, $1) }
        let isLive = traces.contains(where: \.isLive)
        traces += try await indexTraces(pattern, database)
        guard let files = connection.files else { return traces }
        let bytes = RawBytes(pattern: pattern)
        let inDatabase = try await read { db in
            // The connection opens its file with its first read.
            _ = try db.integer("SELECT 1 FROM derived_data")
            return try bytes.positions(in: db)
        }
        if let first = inDatabase.first {
            traces.append(
                WordTrace(
                    kind: .bytes, file: database, offset: first, count: inDatabase.count, isLive: isLive))
        }
        let used = try await read { db in
            var used: Set<String> = []
            try db.sql("SELECT DISTINCT sha256 FROM attachment_use").forEachRow { used.insert($0.text(0)) }
            return used
        }
        return traces
            + (try await blocking {
                try files.contents().compactMap { name, path in
                    let positions: RawBytes.Positions
                    do {
                        positions = try bytes.positions(inFile: path)
                    } catch {
                        // A file removed meanwhile counts as a file without the word.
                        guard FileManager.default.fileExists(atPath: path) else { return nil }
                        throw RecollectError(.inputOutput, "\(path) cannot be read", cause: error)
                    }
                    guard let first = positions.first else { return nil }
                    let isOwn =
                        name.hasSuffix("-wal") && path == files.resolved.writeAheadLog
                        ? isLive : used.contains(URL(fileURLWithPath: path).lastPathComponent)
                    return WordTrace(
                        kind: .bytes, file: name, offset: first, count: positions.count, isLive: isOwn)
                }
            })
    }

    private func pages(
        _ body: @escaping @Sendable (Int64, Database) throws -> LiveWords.Found
    ) async throws -> [WordTrace] {
        var traces: [WordTrace] = []
        var next: Int64? = .min
        while let first = next {
            let found = try await read { try body(first, $0) }
            traces += found.traces
            next = found.next
        }
        return traces
    }

    private func indexTraces(_ pattern: WordPattern, _ file: String) async throws -> [WordTrace] {
        guard !pattern.terms.isEmpty else { return [] }
        var traces: [WordTrace] = []
        var next: Int64? = 0
        while let first = next {
            let (found, following) = try await read { db -> ([WordTrace], Int64?) in
                let pages = try IndexPages.pages(holding: pattern.terms, after: first, limit: 1000, db)
                let traces = try pages.found.map { page in
                    WordTrace(
                        kind: .index, file: file, page: Int(page.id), isLive: try Self.isFound(page.term, db))
                }
                return (traces, pages.next)
            }
            traces += found
            next = following
        }
        return traces
    }

    /// Whether an undeleted message has a term.
    private static func isFound(_ term: [UInt8], _ db: Database) throws -> Bool {
        let term = String(decoding: term, as: UTF8.self)
        return try db.integer(
            """
            SELECT 1 FROM message_search JOIN message ON sequence = message_search.rowid
            JOIN session ON session.id = message.session_row_id WHERE message_search MATCH ? LIMIT 1
            """, "\"\(term)\"") != nil
    }
}

extension HistoryFiles {
    /// Returns all files with content of the history except the database: names and paths, by name.
    fileprivate func contents() throws -> [(name: String, path: String)] {
        let manager = FileManager.default
        let files = resolved
        var names = try files.remains().map { ($0, files.folder + "/" + $0) }
        if files.ownDirectory {
            // The input history of `recall chat`.
            names += try manager.contentsOfDirectory(atPath: files.folder).filter { $0.hasPrefix("chat-history") }
                .map { ($0, files.folder + "/" + $0) }
        }
        if manager.fileExists(atPath: files.writeAheadLog) {
            names.append((files.databaseName + "-wal", files.writeAheadLog))
        }
        if manager.fileExists(atPath: attachments.path) {
            names += try manager.subpathsOfDirectory(atPath: attachments.path)
                .map { (attachments.lastPathComponent + "/" + $0, attachments.path + "/" + $0) }
                .filter { _, path in manager.fileExists(atPath: path) && !Self.isFolder(path) }
        }
        return names.sorted { $0.0 < $1.0 }
    }
}
