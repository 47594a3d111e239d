#if Postgres
    import RecollectCore
    import RecollectSearch

    /// Reads the answers to the questions of a search, in one or two round trips.
    struct SearchQueryReader {
        private typealias Question = PostgresSearchSource.Question
        private typealias Answer = PostgresSearchSource.Answer

        private let transaction: PostgresTransaction
        private let userId: String
        private var user: PostgresValue { .bytes(userId.bytes) }
        /// The messages read before, and those read now.
        private var known: [SequenceNumber: FoundMessage?]
        private var messages: [SequenceNumber: FoundMessage?] = [:]
        private var answers: [PostgresSearchSource.Question: PostgresSearchSource.Answer] = [:]
        private var table: String
        private let stemmer = Stemmer()

        /// Runs a search until it needs nothing more.
        /// - Parameter search: The search. It runs several times, with more answers each time.
        static func run<Value>(
            of userId: String, in transaction: PostgresTransaction, _ search: (PostgresSearchSource) throws -> Value
        ) async throws -> Value {
            let source = PostgresSearchSource(userId: userId)
            while true {
                do {
                    return try search(source)
                } catch is SearchIncomplete {
                    precondition(!source.questions.isEmpty, "An incomplete search has a question.")
                    var reading = SearchQueryReader(source, transaction)
                    try await reading.read(source.questions)
                    source.add(reading.answers, reading.messages, table: reading.table)
                }
            }
        }

        private init(_ source: PostgresSearchSource, _ transaction: PostgresTransaction) {
            self.transaction = transaction
            userId = source.userId
            known = source.messages
            table = source.table
        }

        private mutating func read(_ questions: [Question]) async throws {
            var wanted: [SequenceNumber] = []
            /// The messages whose neighbors are read together, by the number of neighbors.
            var centers: [Int: [SequenceNumber]] = [:]
            var others: [Question] = []
            for question in questions {
                switch question {
                case .message(let sequence): wanted.append(sequence)
                case .neighbors(let sequence, let count): centers[count, default: []].append(sequence)
                default: others.append(question)
                }
            }
            let sides = centers.sorted { $0.key < $1.key }
            let results = try await transaction.run(
                others.map(statement) + sides.map { neighbors(of: $0.value, $0.key) }
                    + (wanted.isEmpty ? [] : [FoundMessage.statement(wanted, of: user)]))
            if let last = results.last, !wanted.isEmpty { add(last, for: wanted) }
            for ((count, sequences), rows) in zip(sides, results.dropFirst(others.count)) {
                addNeighbors(of: sequences, count, rows)
            }
            /// The lists whose messages must be checked or scored by their texts.
            var lists: [(list: List, found: [SequenceNumber])] = []
            for (question, result) in zip(others, results) {
                if let list = List(question), list.needsTexts {
                    lists.append((list, sequences(result)))
                } else {
                    answers[question] = answer(to: question, from: result)
                }
            }
            try await complete(lists)
            for question in others { try await checkPhrases(question) }
        }

        /// Removes the messages by date that have the terms of a phrase, and not the phrase.
        private mutating func checkPhrases(_ question: Question) async throws {
            guard case .dated(let dated) = question, !dated.expression.expression.isExact,
                case .dated(let matches, let isComplete)? = answers[question]
            else { return }
            var fulfilling: Set<SequenceNumber> = []
            try await forEachText(of: matches.map(\.sequence)) { sequence, terms in
                if terms.fulfills(dated.expression.expression) { fulfilling.insert(sequence) }
            }
            answers[question] = .dated(
                matches.filter { fulfilling.contains($0.sequence) }, isComplete: isComplete)
        }

        // MARK: - Lists

        /// A list of messages with an expression, the newest first.
        private struct List {
            let question: Question
            let words: ParsedQuery.Tier
            let filter: SearchFilter
            let limit: Int
            let through: SequenceNumber
            /// Whether the messages are scored as answers rather than by the frequency of the words.
            var isScored = false
            /// Whether messages of discarded sessions are among them.
            var includesDiscarded = true

            /// Creates the list of a question; `nil` for other questions.
            init?(_ question: Question) {
                self.question = question
                switch question {
                case .newest(let words, let filter, let limit, let through):
                    (self.words, self.filter, self.limit, self.through) = (words, filter, limit, through)
                case .candidates(let words, let filter, let limit, let through):
                    (self.words, self.filter, self.limit, self.through) = (words, filter, limit, through)
                    isScored = true
                    includesDiscarded = filter.includesDiscarded
                case .before(let count, let expression, let filter, let through):
                    words = ParsedQuery.Tier(expression: expression, words: [], hasPrefix: false)
                    (self.filter, limit, self.through) = (filter, count + 1, through)
                default: return nil
                }
            }

            var isExact: Bool { words.expression.isExact }
            var needsTexts: Bool { !words.words.isEmpty || !isExact }
        }

        /// Answers questions by lists, from the first messages that may be in each.
        private mutating func complete(_ lists: [(list: List, found: [SequenceNumber])]) async throws {
            var scores = try await scores(of: lists)
            for (index, (list, first)) in lists.enumerated() {
                var matches: [SearchMatch] = []
                var found = first
                while true {
                    matches += found.compactMap { sequence in
                        scores[index][sequence].map { SearchMatch(sequence, score: $0) }
                    }
                    // The index knows no phrases: more messages may follow.
                    guard matches.count < list.limit, found.count == list.limit, let last = found.last, !list.isExact
                    else { break }
                    found = sequences(try await transaction.run([statement(list, through: last.previous)])[0])
                    scores[index] = try await self.scores(of: [(list, found)])[0]
                }
                switch list.question {
                case .before(let count, _, _, _):
                    answers[list.question] = .sequence(matches.count > count ? matches[count].sequence : nil)
                default: answers[list.question] = .matches(Array(matches.prefix(list.limit)))
                }
            }
        }

        /// Returns the score of each message that fulfills the expression of its list.
        private func scores(
            of lists: [(list: List, found: [SequenceNumber])]
        ) async throws -> [[SequenceNumber: Double]] {
            var wanted: [SequenceNumber: [Int]] = [:]
            for (index, list) in lists.enumerated() {
                for sequence in list.found { wanted[sequence, default: []].append(index) }
            }
            var scores = Array(repeating: [SequenceNumber: Double](), count: lists.count)
            try await forEachText(of: wanted.keys.sorted()) { sequence, terms in
                for index in wanted[sequence] ?? [] {
                    let list = lists[index].list
                    guard list.isExact || terms.fulfills(list.words.expression) else { continue }
                    scores[index][sequence] =
                        list.isScored ? terms.score(of: list.words) : terms.frequency(of: list.words)
                }
            }
            return scores
        }

        /// The number of texts read together. They are not kept.
        private static let textCount = 256

        /// Calls `body` with the terms of messages.
        private func forEachText(
            of sequences: [SequenceNumber], _ body: (SequenceNumber, DocumentTerms) -> Void
        ) async throws {
            var document = SearchDocument()
            var unknown: [Int64] = []
            for sequence in sequences {
                switch known[sequence] {
                case .some(let message?):
                    message.withText { document.make(text: $0, stemmer: stemmer) }
                    body(sequence, DocumentTerms(document))
                case .some(nil): break
                case nil: unknown.append(sequence.rawValue)
                }
            }
            for start in stride(from: 0, to: unknown.count, by: Self.textCount) {
                let part = unknown[start..<min(start + Self.textCount, unknown.count)]
                let rows = try await transaction.run(
                    "SELECT sequence, text, parts FROM recollect.message WHERE user_id = $1 AND sequence = ANY ($2)",
                    user,
                    .integers(Array(part)))
                for row in 0..<rows.count {
                    rows.withSearchedText(row, text: 1, parts: 2) { document.make(text: $0, stemmer: stemmer) }
                    body(SequenceNumber(rawValue: rows.integer(row, 0)), DocumentTerms(document))
                }
            }
        }

        private mutating func add(_ rows: PostgresResult, for sequences: [SequenceNumber]) {
            for sequence in sequences { messages[sequence] = .some(nil) }
            for row in 0..<rows.count {
                messages[SequenceNumber(rawValue: rows.integer(row, 0))] = FoundMessage(rows, row)
            }
            known.merge(messages) { $1 }
        }

        private func sequences(_ rows: PostgresResult) -> [SequenceNumber] {
            (0..<rows.count).map { SequenceNumber(rawValue: rows.integer($0, 0)) }
        }

        // MARK: - Statements

        private func statement(_ question: Question) -> PostgresStatement {
            switch question {
            case .bounds:
                return PostgresStatement(
                    """
                    SELECT min(sequence), max(sequence),
                      (SELECT tableoid::regclass::text FROM recollect.message WHERE user_id = $1 ORDER BY sequence LIMIT 1)
                    FROM recollect.message WHERE user_id = $1
                    """, user)
            case .session(let id):
                return PostgresStatement(
                    "SELECT session FROM recollect.session WHERE user_id = $1 AND session_id = $2", user,
                    .bytes(id.string.bytes))
            case .sessionIDs(let text):
                return PostgresStatement(
                    """
                    SELECT session_id FROM recollect.session
                    WHERE user_id = $1 AND session_id >= $2 AND branch_of IS NULL AND discarded_at IS NULL
                    ORDER BY session_id LIMIT 2
                    """, user, .bytes(text.string.bytes))
            case .agent(let id):
                return PostgresStatement(
                    // With `EXISTS`, the planner ignores an order, and may read the whole table.
                    """
                    SELECT (
                      SELECT true FROM recollect.scope WHERE user_id = $1 AND agent_id = $2 ORDER BY session LIMIT 1
                    ) IS NOT NULL
                    """, user, .bytes(id.string.bytes))
            case .mayFind(let expression, let through):
                return PostgresStatement(
                    """
                    SELECT EXISTS (SELECT FROM (
                      SELECT user_id, sequence FROM \(table) AS message WHERE terms @@ $3::text::tsquery OFFSET 0
                    ) AS found WHERE user_id = $1 AND sequence <= $2)
                    """, user, .integer(through.rawValue), tsquery(expression))
            case .newest, .candidates, .before:
                guard let list = List(question) else { preconditionFailure("A list has this kind of question.") }
                guard case .before(let count, _, _, _) = question, !list.needsTexts else {
                    return statement(list, through: list.through)
                }
                return statement(list, through: list.through, after: count)
            case .dated(let dated): return statement(dated)
            case .message, .neighbors: preconditionFailure("Messages and neighbors are read together.")
            }
        }

        /// An expression of PostgreSQL's text search for messages of the user.
        private func tsquery(_ expression: SearchExpression) -> PostgresValue {
            let own = "'\(FilterTokens.user(userId))'"
            return .text(expression.tsquery.map { "\(own) & \($0)" } ?? own)
        }

        private func statement(_ list: List, through: SequenceNumber, after count: Int = 0) -> PostgresStatement {
            var condition = MessageCondition(user: user, list.words.expression, tsquery)
            condition.add(list.filter, includesDiscarded: list.includesDiscarded)
            let bound = condition.bind(.integer(through.rawValue))
            let limit = condition.bind(.integer(Int64(count > 0 ? 1 : min(list.limit, .max / 4))))
            let offset = condition.bind(.integer(Int64(count)))
            return PostgresStatement(
                """
                SELECT sequence FROM (
                  SELECT message.user_id, message.sequence FROM \(table) AS message
                  WHERE \(condition.sql) AND message.sequence <= \(bound)\(condition.fence)
                ) AS found WHERE user_id = $1 ORDER BY sequence DESC LIMIT \(limit) OFFSET \(offset)
                """, parameters: condition.values)
        }

        private func statement(_ dated: PostgresSearchSource.Dated) -> PostgresStatement {
            var condition = MessageCondition(user: user, dated.expression.expression, tsquery)
            condition.add(dated.expression.filter, includesDiscarded: dated.expression.filter.includesDiscarded)
            let bounds = [
                .integer(dated.through.rawValue), .integer(dated.timestamps.lowerBound),
                .integer(dated.timestamps.upperBound), .integer(Int64(min(dated.count, .max / 4))),
            ].map { condition.bind($0) }
            let direction = dated.order == .oldestFirst ? "ASC" : "DESC"
            return PostgresStatement(
                """
                SELECT sequence, timestamp FROM (
                  SELECT message.user_id, message.sequence, message.timestamp FROM \(table) AS message
                  WHERE \(condition.sql) AND message.sequence <= \(bounds[0])
                    AND message.timestamp BETWEEN \(bounds[1]) AND \(bounds[2])\(condition.fence)
                ) AS found WHERE user_id = $1 ORDER BY timestamp \(direction), sequence \(direction) LIMIT \(bounds[3])
                """, parameters: condition.values)
        }

        private func neighbors(of sequences: [SequenceNumber], _ count: Int) -> PostgresStatement {
            let sides = [("<", "DESC"), (">", "ASC")].map { comparison, direction in
                """
                (SELECT side.sequence, side.position FROM recollect.message AS side
                 WHERE side.user_id = $1 AND side.session = message.session AND side.scope = message.scope
                   AND side.position \(comparison) message.position
                 ORDER BY side.position \(direction) LIMIT $3)
                """
            }
            return PostgresStatement(
                """
                SELECT message.sequence, other.sequence, other.position < message.position FROM recollect.message
                CROSS JOIN LATERAL (\(sides[0]) UNION ALL \(sides[1])) AS other
                WHERE message.user_id = $1 AND message.sequence = ANY ($2)
                ORDER BY message.sequence, abs(other.position - message.position)
                """, user, .integers(sequences.map(\.rawValue)), .integer(Int64(count)))
        }

        // MARK: - Answers

        private mutating func answer(to question: Question, from rows: PostgresResult) -> Answer {
            switch question {
            case .bounds:
                // A search may have a bound of an earlier page.
                guard !rows.isNull(0, 0) else { return .bounds(.zero ... .zero) }
                table = rows.text(0, 2)
                return .bounds(
                    SequenceNumber(
                        rawValue: rows.integer(0, 0) - 1)...SequenceNumber(rawValue: rows.integer(0, 1)))
            case .session:
                return .session(rows.count == 0 ? nil : SessionRowID(rawValue: rows.integer(0, 0)))
            case .sessionIDs: return .texts((0..<rows.count).map { rows.text($0, 0) })
            case .agent, .mayFind: return .isTrue(rows.boolean(0, 0))
            case .newest, .candidates: return .matches(sequences(rows).map { SearchMatch($0, score: 0) })
            case .before: return .sequence(sequences(rows).first)
            case .dated(let dated):
                let matches = (0..<rows.count).map { row in
                    DatedMatch(SequenceNumber(rawValue: rows.integer(row, 0)), timestamp: rows.integer(row, 1))
                }
                return .dated(matches, isComplete: rows.count < dated.count)
            case .message, .neighbors: preconditionFailure("Messages and neighbors are read together.")
            }
        }

        private mutating func addNeighbors(of sequences: [SequenceNumber], _ count: Int, _ rows: PostgresResult) {
            var sides: [SequenceNumber: [[SequenceNumber]]] = [:]
            for row in 0..<rows.count {
                let side = rows.boolean(row, 2) ? 0 : 1
                sides[SequenceNumber(rawValue: rows.integer(row, 0)), default: [[], []]][side]
                    .append(SequenceNumber(rawValue: rows.integer(row, 1)))
            }
            for sequence in sequences {
                answers[.neighbors(sequence, count)] = .sequences(sides[sequence] ?? [[], []])
            }
        }
    }
#endif
