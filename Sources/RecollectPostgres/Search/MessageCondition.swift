#if Postgres
    import RecollectCore
    import RecollectSearch

    /// A condition on messages of a user, in SQL.
    struct MessageCondition {
        private(set) var sql: String
        private(set) var values: [PostgresValue]
        /// Keeps the planner from reading the user's messages in order until some have the words: its estimate of their number is
        /// poor. So the index of words is the only one to read, and the user must be compared outside.
        private(set) var fence = ""

        /// Creates a condition on the words of messages.
        init(user: PostgresValue, _ expression: SearchExpression, _ tsquery: (SearchExpression) -> PostgresValue) {
            sql = "message.user_id = $1"
            values = [user]
            guard expression != .everything else { return }
            sql = "message.terms @@ \(bind(tsquery(expression)))::text::tsquery"
            fence = " OFFSET 0"
        }

        /// Adds a value, and returns the name of its parameter.
        mutating func bind(_ value: PostgresValue) -> String {
            values.append(value)
            return "$\(values.count)"
        }

        mutating func add(_ filter: SearchFilter, includesDiscarded: Bool) {
            if let session = filter.session { sql += " AND message.session = \(bind(.integer(session.rawValue)))" }
            if let agentId = filter.agentId {
                sql += """
                     AND EXISTS (
                      SELECT FROM recollect.scope WHERE scope.user_id = $1 AND scope.session = message.session
                      AND scope.scope = message.scope AND scope.agent_id = \(bind(.bytes(agentId.string.bytes))))
                    """
            }
            if !filter.roles.isEmpty {
                let roles = filter.roles.sorted().map(\.string.bytes)
                sql += " AND message.role = ANY (\(bind(.byteArrays(roles))))"
            }
            if filter.timestamps != .min ... .max {
                sql +=
                    " AND message.timestamp BETWEEN \(bind(.integer(filter.timestamps.lowerBound)))"
                    + " AND \(bind(.integer(filter.timestamps.upperBound)))"
            }
            guard !includesDiscarded else { return }
            sql += """
                 AND EXISTS (
                  SELECT FROM recollect.session WHERE session.user_id = $1 AND session.session = message.session
                  AND \(FoundMessage.isListed))
                """
        }
    }
#endif
