import RecollectSearch

/// Expressions in the language of FTS5.
extension SearchExpression {
    /// The expression in the language of FTS5; `nil` for `everything`. Terms contain no ASCII except letters and digits, and marks
    /// of our own, so typed text cannot end a quotation.
    var fts5: String? {
        switch self {
        case .phrase(let terms): return Self.quoted(terms)
        case .beginning(let terms): return Self.quoted(terms) + " *"
        case .any(let parts): return "(" + parts.compactMap(\.fts5).joined(separator: " OR ") + ")"
        case .all(let parts):
            let parts = parts.compactMap(\.fts5)
            return parts.isEmpty ? nil : "(" + parts.joined(separator: " AND ") + ")"
        case .rarestFirst(let parts):
            let parts = parts.compactMap(\.fts5)
            guard let first = parts.first else { return nil }
            // FTS5 looks up all words of an `AND` for each match of any of them. `NOT` a term of no message keeps it from joining
            // nested ones, so that each word is looked up only for the messages with all rarer ones.
            return parts.dropFirst().reduce(first) { rarer, word in "((\(rarer) AND \(word)) NOT \"_\")" }
        case .excluding(let part, let excluded):
            guard let part = part.fts5, let excluded = excluded.fts5 else { return nil }
            return "(\(part) NOT \(excluded))"
        }
    }

    /// Returns the expression in the language of FTS5, together with the filter's tokens.
    func fts5(_ filterTokens: String) -> String { fts5.map { "\($0) AND \(filterTokens)" } ?? filterTokens }

    private static func quoted(_ terms: [[UInt8]]) -> String {
        "\"" + terms.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") + "\""
    }
}
