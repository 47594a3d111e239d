#if Postgres
    import RecollectCore

    /// The rows of `change`: the changes of the feed that are not added messages.
    enum ChangeColumns {
        /// Returns the statements to record a change of a session or a user. It replaces the last change of the same kind and
        /// subject: a reader that is behind gets one notice and reads the present state.
        /// - Parameter offset: The number relative to `recollect.feed_number()`.
        static func record(
            _ kind: HistoryChange.Kind, _ session: SessionKey, at offset: Int64
        ) -> [PostgresStatement] {
            let values: [PostgresValue] = [
                .bytes(session.userId.bytes), .bytes(session.sessionId.bytes), .text(kind.rawValue),
            ]
            return [
                PostgresStatement(
                    """
                    DELETE FROM recollect.change
                    WHERE user_id = $1 AND session_id = $2 AND kind = $3 AND message_id IS NULL
                    """, parameters: values),
                PostgresStatement(
                    """
                    INSERT INTO recollect.change (user_id, session_id, kind, sequence)
                    VALUES ($1, $2, $3, recollect.feed_number() + $4)
                    """, parameters: values + [.integer(offset)]),
            ]
        }

        /// Returns the statements to record an edit or a deletion of a message. An edit replaces the last one of the agent's
        /// messages with this ID. A deletion replaces none: each message is deleted once.
        static func record(
            _ kind: HistoryChange.Kind, of messageId: String, agentId: String, sequence: Int64, in session: SessionKey,
            at offset: Int64
        ) -> [PostgresStatement] {
            let values: [PostgresValue] = [
                .bytes(session.userId.bytes), .bytes(session.sessionId.bytes), .text(kind.rawValue),
                .bytes(agentId.bytes), .bytes(messageId.bytes),
            ]
            let insertion = PostgresStatement(
                """
                INSERT INTO recollect.change (user_id, session_id, kind, agent_id, message_id, sequence, message_sequence)
                VALUES ($1, $2, $3, $4, $5, recollect.feed_number() + $6, $7)
                """, parameters: values + [.integer(offset), .integer(sequence)])
            guard kind == .messageEdited else { return [insertion] }
            let removal = PostgresStatement(
                """
                DELETE FROM recollect.change
                WHERE user_id = $1 AND session_id = $2 AND kind = $3 AND agent_id = $4 AND message_id = $5
                """, parameters: values)
            return [removal, insertion]
        }
    }
#endif
