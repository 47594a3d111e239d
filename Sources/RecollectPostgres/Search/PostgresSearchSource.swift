#if Postgres
    import RecollectCore
    import RecollectSearch

    /// The messages of a user, for one search: the answers of the database so far, and the questions of the next round trip.
    final class PostgresSearchSource: SearchSource {
        /// A question to the database.
        enum Question: Hashable {
            case bounds
            case session(ByteString)
            case sessionIDs(ByteString)
            case agent(ByteString)
            case mayFind(SearchExpression, SequenceNumber)
            case newest(ParsedQuery.Tier, SearchFilter, Int, SequenceNumber)
            case before(Int, SearchExpression, SearchFilter, SequenceNumber)
            case candidates(ParsedQuery.Tier, SearchFilter, Int, SequenceNumber)
            case dated(Dated)
            case message(SequenceNumber)
            case neighbors(SequenceNumber, Int)
        }

        /// The first messages of an expression by date.
        struct Dated: Hashable {
            let expression: DatedExpression
            let order: SearchOrder
            let through: SequenceNumber
            let timestamps: ClosedRange<Int64>
            let count: Int
        }

        /// An answer of the database.
        enum Answer {
            case bounds(ClosedRange<SequenceNumber>)
            case session(SessionRowID?)
            case texts([String])
            case isTrue(Bool)
            case sequence(SequenceNumber?)
            case matches([SearchMatch])
            case dated([DatedMatch], isComplete: Bool)
            case sequences([[SequenceNumber]])
        }

        let userId: String
        private(set) var answers: [Question: Answer] = [:]
        private(set) var messages: [SequenceNumber: FoundMessage?] = [:]
        /// The table with the user's messages: a partition of `message`. Known after `bounds()`.
        private(set) var table = "recollect.message"
        /// The questions without an answer, in their order.
        private(set) var questions: [Question] = []
        private var asked: Set<Question> = []
        /// The lists of messages in the order of reading. After one message, a search reads those behind it in its list.
        private var lists: [[SequenceNumber]] = []

        init(userId: String) {
            self.userId = userId
        }

        /// Returns the answer to a question.
        /// - Throws: `SearchIncomplete` if it is not known yet.
        private func answer(to question: Question) throws -> Answer {
            if let answer = answers[question] { return answer }
            ask(question)
            throw SearchIncomplete()
        }

        private func ask(_ question: Question) {
            if asked.insert(question).inserted { questions.append(question) }
        }

        /// Adds answers and messages, and forgets the questions.
        func add(_ answers: [Question: Answer], _ messages: [SequenceNumber: FoundMessage?], table: String) {
            self.table = table
            self.answers.merge(answers) { $1 }
            self.messages.merge(messages) { $1 }
            for question in questions {
                switch answers[question] {
                case .matches(let matches): lists.append(matches.map(\.sequence))
                case .dated(let matches, _): lists.append(matches.map(\.sequence))
                default: break
                }
            }
            questions = []
            asked = []
        }

        func bounds() throws -> ClosedRange<SequenceNumber> {
            guard case .bounds(let bounds) = try answer(to: .bounds) else { return .zero ... .zero }
            return bounds
        }

        func session(_ sessionId: String) throws -> SessionRowID? {
            guard case .session(let number) = try answer(to: .session(ByteString(sessionId))) else { return nil }
            return number
        }

        func sessionIDs(beginningWith text: String) throws -> [String] {
            guard case .texts(let ids) = try answer(to: .sessionIDs(ByteString(text))) else { return [] }
            return ids.filter { $0.utf8.starts(with: text.utf8) }
        }

        func hasAgent(_ agentId: String) throws -> Bool {
            guard case .isTrue(let isTrue) = try answer(to: .agent(ByteString(agentId))) else { return false }
            return isTrue
        }

        /// The index has no list of its terms, and finds beginnings as fast as whole words.
        func terms(longerThan term: [UInt8]) -> [[UInt8]]? { nil }

        func mayFind(_ expression: SearchExpression, through bound: SequenceNumber) throws -> Bool {
            guard case .isTrue(let isTrue) = try answer(to: .mayFind(expression, bound)) else { return false }
            return isTrue
        }

        func newest(
            _ words: ParsedQuery.Tier, _ filter: SearchFilter, limit: Int, through bound: SequenceNumber
        ) throws -> [SearchMatch] {
            guard case .matches(let matches) = try answer(to: .newest(words, filter, limit, bound)) else { return [] }
            return matches
        }

        func message(
            beforeNewest count: Int, _ expression: SearchExpression, _ filter: SearchFilter,
            through bound: SequenceNumber
        ) throws -> SequenceNumber? {
            // As in the embedded index, so that both rank the same.
            guard filter.timestamps == .min ... .max else { return nil }
            guard case .sequence(let found) = try answer(to: .before(count, expression, filter, bound)) else {
                return nil
            }
            return found
        }

        func candidates(
            _ words: ParsedQuery.Tier, _ filter: SearchFilter, limit: Int, through bound: SequenceNumber
        ) throws -> [SearchMatch] {
            guard case .matches(let matches) = try answer(to: .candidates(words, filter, limit, bound)) else {
                return []
            }
            return matches
        }

        /// The number of messages by date in the first list. Each further one is four times as long.
        private static let datedCount = 100

        func forEachByDate(
            _ expression: DatedExpression, _ order: SearchOrder, through bound: SequenceNumber, after last: Double?,
            _ body: (DatedMatch) throws -> Bool
        ) throws -> Bool {
            guard let timestamps = expression.timestamps(order, after: last) else { return false }
            var count = Self.datedCount
            var next = 0
            while true {
                let dated = Dated(
                    expression: expression, order: order, through: bound, timestamps: timestamps, count: count)
                guard case .dated(let matches, let isComplete) = try answer(to: .dated(dated)) else { return false }
                for match in matches.dropFirst(next) where try body(match) { return true }
                if isComplete { return false }
                next = matches.count
                count *= 4
            }
        }

        func passes(_ sequence: SequenceNumber, _ filter: SearchFilter) throws -> Bool {
            try found(sequence)?.passes(filter) ?? false
        }

        func facts(_ sequence: SequenceNumber, passing filter: SearchFilter?) throws -> MessageFacts? {
            try message(sequence, passing: filter)?.facts
        }

        func message(_ sequence: SequenceNumber, passing filter: SearchFilter?) throws -> SearchedMessage? {
            guard let message = try found(sequence), filter.map(message.passes) ?? true else { return nil }
            return message.searched
        }

        func withText<Result>(
            of sequence: SequenceNumber, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
        ) throws -> Result? {
            try found(sequence)?.withText(body)
        }

        func neighbors(of sequence: SequenceNumber, count: Int) throws -> [[SequenceNumber]] {
            guard case .sequences(let sides) = try answer(to: .neighbors(sequence, count)) else { return [] }
            return sides
        }

        func haveSameContent(_ sequence: SequenceNumber, _ other: SequenceNumber) throws -> Bool {
            guard let message = try found(sequence), let other = try found(other) else { return false }
            return message.hasSameContent(as: other)
        }

        /// The number of messages of a list read together. It grows with the number read before: the search begins again each time.
        private static let readCount = 64

        /// Returns a message; `nil` if it does not exist.
        private func found(_ sequence: SequenceNumber) throws -> FoundMessage? {
            if let known = messages[sequence] { return known }
            ask(.message(sequence))
            if let list = lists.last(where: { $0.contains(sequence) }), let index = list.firstIndex(of: sequence) {
                for other in list[index...].prefix(max(Self.readCount, index)) where messages[other] == nil {
                    ask(.message(other))
                }
            }
            throw SearchIncomplete()
        }
    }
#endif
