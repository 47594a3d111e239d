#if Postgres
    import RecollectCore
    import RecollectSearch

    /// The terms of messages in the index: those of their documents (`SearchDocument`), and one of the user.
    enum SearchTerms {
        /// The terms of one message after another, each separated by spaces.
        static func values(of contents: [MessageColumns.Content], userId: String) -> PostgresValue {
            var document = SearchDocument()
            let stemmer = Stemmer()
            let user = FilterTokens.user(userId)
            return .texts(
                contents.map { content in
                    content.withSearchedText { document.make(text: $0, stemmer: stemmer) }
                    // A document begins with a space, unless it is empty.
                    return user + String(decoding: limited(document.bytes), as: UTF8.self)
                })
        }

        /// Returns the terms of a message in the index.
        static func set(of content: MessageColumns.Content, userId: String) -> Set<[UInt8]> {
            guard case .texts(let texts) = values(of: [content], userId: userId) else { return [] }
            return Set(texts[0].utf8.split(separator: UInt8(ascii: " ")).map { Array($0) })
        }

        /// Returns an SQL expression for the index entries of a column with terms.
        static func vector(_ terms: String) -> String { "array_to_tsvector(string_to_array(\(terms), ' '))" }

        /// The maximum length of terms in bytes. A `tsvector` has at most 1 MB.
        private static let maxLength = 900_000

        /// Returns the terms, without repetitions if they are many: as many as fit.
        private static func limited(_ terms: [UInt8]) -> [UInt8] {
            guard terms.count > maxLength else { return terms }
            var seen: Set<ArraySlice<UInt8>> = []
            var limited: [UInt8] = []
            for term in terms.split(separator: UInt8(ascii: " ")) where seen.insert(term).inserted {
                guard limited.count + term.count < maxLength else { break }
                limited.append(UInt8(ascii: " "))
                limited += term
            }
            return limited
        }
    }

    extension MessageColumns.Content {
        /// Calls `body` with the searched text (`MessageText`).
        func withSearchedText(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
            (parts ?? []).withUnsafeBytes { parts in
                guard let text else { return MessageText.withBytes(text: nil, parts: parts, body) }
                text.withUnsafeBytes { MessageText.withBytes(text: $0, parts: parts, body) }
            }
        }
    }

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
