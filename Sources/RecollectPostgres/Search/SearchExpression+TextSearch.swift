#if Postgres
    import RecollectSearch

    extension SearchExpression {
        /// An expression of PostgreSQL's text search, true for all messages that fulfill this one. `nil` for `everything`.
        ///
        /// Terms contain no ASCII except letters and digits, and marks of our own, so typed text cannot end a quotation.
        var tsquery: String? {
            switch self {
            case .phrase(let terms): Self.joined(terms.map(Self.quoted), by: " & ")
            case .beginning(let terms):
                Self.joined(terms.map(Self.quoted), by: " & ").map { $0.dropLast() + ":*)" }
            case .any(let parts):
                // One part that is always true makes the whole so.
                parts.map(\.tsquery).contains(nil) ? nil : Self.joined(parts.compactMap(\.tsquery), by: " | ")
            case .all(let parts), .rarestFirst(let parts): Self.joined(parts.compactMap(\.tsquery), by: " & ")
            case .excluding(let part, let excluded):
                Self.joined(
                    [part.tsquery, excluded.isExact ? excluded.tsquery.map { "!" + $0 } : nil].compactMap { $0 },
                    by: " & ")
            }
        }

        /// Whether `tsquery` is true for no other messages: the index has no positions.
        var isExact: Bool {
            switch self {
            case .phrase(let terms), .beginning(let terms): terms.count == 1
            case .any(let parts), .all(let parts), .rarestFirst(let parts): parts.allSatisfy(\.isExact)
            // The index lacks the last words of a very long text.
            case .excluding: false
            }
        }

        private static func joined(_ parts: [String], by separator: String) -> String? {
            parts.isEmpty ? nil : "(" + parts.joined(separator: separator) + ")"
        }

        private static func quoted(_ term: [UInt8]) -> String { "'\(String(decoding: term, as: UTF8.self))'" }
    }
#endif
