import GRDB
import GRDBSQLite
import RecollectCore
import RecollectSearch

/// The scores of the current row of a search in FTS5, as SQL functions.
///
/// `recollect_score(message_search, groups)` is its relevance (`SearchScore`). The groups are the numbers of phrases for each
/// word of the query, in the order of the expression (`argument`). `recollect_frequency(message_search, n)` is the frequency of
/// the first `n` phrases together, from 0 to 1.
enum FTS5Functions {
    /// Registers the functions on a connection.
    /// - Throws: `cannotOpen` if SQLite lacks FTS5.
    static func install(on db: Database) throws {
        let api = try api(of: db)
        guard let create = api.pointee.xCreateFunction,
            create(api, "recollect_score", nil, score, nil) == SQLITE_OK,
            create(api, "recollect_frequency", nil, frequency, nil) == SQLITE_OK
        else { throw missing }
    }

    private static func api(of db: Database) throws -> UnsafeMutablePointer<fts5_api> {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(db.sqliteConnection, "SELECT fts5(?1)", -1, &statement, nil) == SQLITE_OK
        else { throw missing }
        defer { sqlite3_finalize(statement) }
        var api: UnsafeMutablePointer<fts5_api>?
        sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nil)
        guard sqlite3_step(statement) == SQLITE_ROW, let api else { throw missing }
        return api
    }

    private static var missing: RecollectError {
        RecollectError(.cannotOpen, "this SQLite was built without FTS5, which search requires")
    }

    private static let score: fts5_extension_function = { api, row, context, count, values in
        guard let api, let row, let (groups, tokens) = arguments(api, row, context, count, values) else { return }
        var relevance = SearchScore(tokenCount: Int(tokens))
        var first: Int32 = 0
        /// The phrases of the word before that are in the row.
        var previous: [Int32] = []
        forEachGroup(of: groups) { phraseCount in
            let phrases = (first..<first + phraseCount).filter { Positions(api, row, $0).current != nil }
            relevance.add(
                count: phrases.reduce(0) { $0 + Positions(api, row, $1).count },
                distance: distance(from: previous, to: phrases, api, row))
            previous = phrases
            first += phraseCount
        }
        sqlite3_result_double(context, relevance.value)
    }

    /// Returns the argument for words with these numbers of phrases: `1 3 1`.
    static func argument(_ phraseCounts: [Int]) -> String { phraseCounts.map(String.init).joined(separator: " ") }

    private static func forEachGroup(of argument: OpaquePointer?, _ body: (Int32) -> Void) {
        let count = Int(sqlite3_value_bytes(argument))
        let text = UnsafeBufferPointer(start: sqlite3_value_text(argument), count: count)
        for number in text.split(separator: UInt8(ascii: " ")) {
            body(number.reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) })
        }
    }

    private static let frequency: fts5_extension_function = { api, row, context, count, values in
        // Reading the length takes longer than reading the match.
        guard values.map({ sqlite3_value_int($0[0]) > 0 }) ?? true else { return sqlite3_result_double(context, 0) }
        guard let api, let row, let (phraseCount, tokens) = arguments(api, row, context, count, values) else { return }
        var times = 0
        for phrase in 0..<sqlite3_value_int(phraseCount) { times += Positions(api, row, phrase).count }
        sqlite3_result_double(context, SearchScore.saturated(times, length: Int(tokens) - FilterTokens.count))
    }

    /// Returns the argument after the table and the number of tokens in the row, or reports an error.
    private static func arguments(
        _ api: UnsafePointer<Fts5ExtensionApi>, _ row: OpaquePointer, _ context: OpaquePointer?, _ count: Int32,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) -> (phrases: OpaquePointer?, tokens: Int32)? {
        guard count == 1, let values, let length = api.pointee.xColumnSize else {
            sqlite3_result_error(context, "the function takes a table and numbers of phrases", -1)
            return nil
        }
        var tokens: Int32 = 0
        let code = length(row, 0, &tokens)
        guard code == SQLITE_OK else {
            sqlite3_result_error_code(context, code)
            return nil
        }
        return (values[0], tokens)
    }

    /// Returns the smallest number of tokens between one of some phrases and one of others behind it; `nil` if none ever
    /// follows.
    private static func distance(
        from others: [Int32], to phrases: [Int32], _ api: UnsafePointer<Fts5ExtensionApi>, _ row: OpaquePointer
    ) -> Int? {
        var nearest = Int.max
        for other in others {
            let size = Int(api.pointee.xPhraseSize?(row, other) ?? 1)
            for phrase in phrases {
                nearest = min(
                    nearest, distance(from: Positions(api, row, other), of: size, to: Positions(api, row, phrase)))
            }
        }
        return nearest == .max ? nil : nearest
    }

    /// Returns the smallest number of tokens between a phrase and another one behind it; `Int.max` if it never follows.
    private static func distance(from other: Positions, of size: Int, to phrase: Positions) -> Int {
        var (phrase, other) = (phrase, other)
        var nearest = Int.max
        while let position = phrase.current, let before = other.current {
            if position < before + size {
                phrase.advance()
            } else {
                nearest = min(nearest, position - before - size)
                other.advance()
            }
        }
        return nearest
    }

    /// The positions of a phrase in the current row.
    private struct Positions {
        private typealias Next =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<Fts5PhraseIter>?, UnsafeMutablePointer<Int32>?,
                UnsafeMutablePointer<Int32>?
            ) -> Void

        private let next: Next?
        private let row: OpaquePointer
        private var iterator = Fts5PhraseIter()
        private var column: Int32 = -1
        private var offset: Int32 = -1

        init(_ api: UnsafePointer<Fts5ExtensionApi>, _ row: OpaquePointer, _ phrase: Int32) {
            next = api.pointee.xPhraseNext
            self.row = row
            if api.pointee.xPhraseFirst?(row, phrase, &iterator, &column, &offset) != SQLITE_OK { column = -1 }
        }

        var current: Int? { column < 0 ? nil : Int(offset) }

        mutating func advance() {
            next?(row, &iterator, &column, &offset)
        }

        /// The number of remaining positions.
        var count: Int {
            var positions = self
            var count = 0
            while positions.current != nil {
                count += 1
                positions.advance()
            }
            return count
        }
    }
}
