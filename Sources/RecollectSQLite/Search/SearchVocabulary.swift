import GRDB

/// The words in the index.
struct SearchVocabulary {
    /// The maximum number of listed words. Each one takes a search of the index.
    static let maxCount = 64
    /// The minimum length of a listed beginning in bytes. Many words begin with a shorter one.
    private static let minLength = 3

    private let db: Database

    /// Creates the vocabulary, and on first use a temporary table of the connection for it.
    init(_ db: Database) throws {
        self.db = db
        try db.run(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_vocabulary USING fts5vocab (main, message_search, instance)"
        )
    }

    /// Returns the words that begin with a term, without the term itself, or `nil` if they are many. The words of messages
    /// of all users are among them.
    func words(longerThan term: [UInt8]) throws -> [[UInt8]]? {
        guard term.count >= Self.minLength else { return nil }
        var words: [[UInt8]] = []
        var last = String(decoding: term, as: UTF8.self)
        // The table has a row for each occurrence of a word. A search for each next word skips them.
        let row = try db.sql("SELECT term FROM temp.search_vocabulary WHERE term >= ? LIMIT 1")
        while true {
            // No term has a character of control.
            try row.bind(last + "\u{1}", at: 1)
            defer { row.reset() }
            guard try row.step() else { return words }
            last = row.text(0)
            guard last.utf8.starts(with: term) else { return words }
            guard words.count < Self.maxCount else { return nil }
            words.append(Array(last.utf8))
        }
    }
}
