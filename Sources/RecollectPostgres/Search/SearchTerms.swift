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

        /// The maximum length of the different terms of a message in bytes: a `tsvector` has less than 1 MB of them. Longer texts lose
        /// their last words.
        private static let maxLength = 1_040_000

        /// Returns the terms, without repetitions if they are many: as many as fit.
        private static func limited(_ terms: [UInt8]) -> [UInt8] {
            guard terms.count > maxLength else { return terms }
            var seen: Set<ArraySlice<UInt8>> = []
            var limited: [UInt8] = []
            var length = 0
            for term in terms.split(separator: UInt8(ascii: " ")) where seen.insert(term).inserted {
                length += term.count
                guard length <= maxLength else { break }
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

#endif
