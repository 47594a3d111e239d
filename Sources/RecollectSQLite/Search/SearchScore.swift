import GRDB
import GRDBSQLite
import RecollectCore

/// How well a message fits, as a function in SQL: `recollect_score(message_search, n)`, where the first `n` phrases of the
/// expression count.
///
/// The score is between 0 and 1. Four fifths are how often each phrase is there, ever less for each time more, and less in a
/// long message; a fifth is how close the phrases follow one another. It depends on the message alone: unlike bm25, which
/// weighs words by how many messages hold them and so must walk every hit before it gives the first, and whose order shifts
/// with every message that is saved.
enum SearchScore {
    /// Registers the function on a connection.
    /// - Throws: `cannotOpen` where SQLite lacks FTS5.
    static func install(on db: Database) throws {
        let api = try api(of: db)
        guard let create = api.pointee.xCreateFunction,
            create(api, "recollect_score", nil, score, nil) == SQLITE_OK
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
        RecollectError(.cannotOpen, "this SQLite was built without FTS5, which the history's search needs")
    }

    private static let score: fts5_extension_function = { api, row, context, count, values in
        guard let api, let row, count == 1, let values, let length = api.pointee.xColumnSize,
            let phraseSize = api.pointee.xPhraseSize
        else {
            sqlite3_result_error(context, "recollect_score takes a table and a number of phrases", -1)
            return
        }
        var tokens: Int32 = 0
        let code = length(row, 0, &tokens)
        guard code == SQLITE_OK else {
            sqlite3_result_error_code(context, code)
            return
        }
        let phraseCount = sqlite3_value_int(values[0])
        let saturation = 0.3 + 0.9 * Double(tokens) / ordinaryLength
        var frequency = 0.0
        var closeness = 0.0
        for phrase in 0..<phraseCount {
            let times = Double(Places(api, row, phrase).count)
            frequency += times / (times + saturation)
            if phrase > 0 {
                closeness += SearchScore.closeness(
                    of: Places(api, row, phrase), behind: Places(api, row, phrase - 1),
                    of: Int(phraseSize(row, phrase - 1)))
            }
        }
        let total = max(1, Double(phraseCount))
        sqlite3_result_double(context, 0.8 * frequency / total + (total > 1 ? 0.2 * closeness / (total - 1) : 0))
    }

    /// In tokens; a message of this length is neither long nor short.
    private static let ordinaryLength = 200.0

    /// 1 where a phrase once follows right behind the other, less the more there is between, 0 where it never does.
    private static func closeness(of phrase: Places, behind other: Places, of size: Int) -> Double {
        var (phrase, other) = (phrase, other)
        var nearest = Int.max
        while let place = phrase.current, let before = other.current {
            if place < before + size {
                phrase.advance()
            } else {
                nearest = min(nearest, place - before - size)
                other.advance()
            }
        }
        return nearest == .max ? 0 : 1 / (1 + Double(nearest))
    }

    /// The places of a phrase in the row that is being looked at.
    private struct Places {
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

        /// How many places are left.
        var count: Int {
            var places = self
            var count = 0
            while places.current != nil {
                count += 1
                places.advance()
            }
            return count
        }
    }
}
