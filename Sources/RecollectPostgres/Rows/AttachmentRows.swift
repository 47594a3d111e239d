#if Postgres
    import Foundation
    import RecollectCore

    /// The statements for a user's attachments: their bytes in parts, and their uses by messages and streaming replies.
    ///
    /// A transaction that adds a use locks the attachment's row in `attachment` first, and one that removes uses locks it before it
    /// looks for other uses. So bytes are never deleted while another transaction adds a use of them. One that does both begins with
    /// `lock`: two transactions with a lock for their additions would wait for each other.
    struct AttachmentRows {
        /// The number of bytes in a part: a row with one value of at most 1 GB could not hold any attachment.
        private static let partSize = 1 << 20

        let userId: String

        private var user: PostgresValue { .bytes(userId.bytes) }

        /// A use of an attachment by a message.
        struct Use {
            let sha256: String
            /// The number of the message in the change feed, one relative to `recollect.feed_number()`, or the negative number of a
            /// streaming reply.
            let sequence: Int64
        }

        /// Returns the uses by a message. A string in place of a hash is none.
        static func uses(by message: ConversationMessage, sequence: Int64) -> [Use] {
            Set(message.storedAttachments).filter(Attachment.isHash).map { Use(sha256: $0, sequence: sequence) }
        }

        /// Returns the statement to lock the attachments used by messages, and some others.
        func lock(usedBy sequences: [Int64], and hashes: [String] = []) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT FROM recollect.attachment WHERE user_id = $1 AND sha256 IN (
                  SELECT use.sha256 FROM recollect.attachment_use AS use WHERE use.user_id = $1 AND use.sequence = ANY ($2)
                  UNION ALL SELECT unnest($3::bytea[]))
                ORDER BY sha256 FOR UPDATE
                """, user, .integers(sequences), .byteArrays(hashes.map(\.bytes)))
        }

        /// Returns the statements to save the bytes of attachments and to add uses. Bytes already saved are not written again.
        /// - Parameters:
        ///   - bytes: The bytes by hash.
        ///   - isRelative: Whether the uses have numbers relative to `recollect.feed_number()`.
        func save(_ bytes: [String: Data], for uses: [Use], isRelative: Bool) -> [PostgresStatement] {
            guard !uses.isEmpty || !bytes.isEmpty else { return [] }
            // In one order for all transactions: otherwise, two of them might wait for each other.
            let hashes = Set(uses.map(\.sha256)).union(bytes.keys).sorted()
            return hashes.flatMap { hash in bytes[hash].map { save($0, hash) } ?? [] } + [
                PostgresStatement(
                    """
                    SELECT FROM recollect.attachment WHERE user_id = $1 AND sha256 = ANY ($2) ORDER BY sha256 FOR KEY SHARE
                    """, user, .byteArrays(hashes.map(\.bytes))),
                PostgresStatement(
                    """
                    INSERT INTO recollect.attachment_use (user_id, sha256, sequence)
                    SELECT $1, sha256, sequence + CASE WHEN $4 THEN recollect.feed_number() ELSE 0 END
                    FROM unnest($2::bytea[], $3::bigint[]) AS new (sha256, sequence)
                    ON CONFLICT (user_id, sha256, sequence) DO NOTHING
                    """, user, .byteArrays(uses.map(\.sha256.bytes)), .integers(uses.map(\.sequence)),
                    .boolean(isRelative)),
            ]
        }

        private func save(_ bytes: Data, _ hash: String) -> [PostgresStatement] {
            // An update locks the row of a known attachment.
            let head = PostgresStatement(
                """
                INSERT INTO recollect.attachment (user_id, sha256, byte_count) VALUES ($1, $2, $3)
                ON CONFLICT (user_id, sha256) DO UPDATE SET byte_count = EXCLUDED.byte_count
                """, user, .bytes(hash.bytes), .integer(Int64(bytes.count)))
            let parts = stride(from: 0, to: bytes.count, by: Self.partSize).enumerated().map { number, start in
                PostgresStatement(
                    """
                    INSERT INTO recollect.attachment_part (user_id, sha256, part, bytes) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (user_id, sha256, part) DO UPDATE SET bytes = EXCLUDED.bytes
                    WHERE attachment_part.bytes <> EXCLUDED.bytes
                    """, user, .bytes(hash.bytes), .integer(Int64(number)),
                    .bytes(Array(bytes.dropFirst(start).prefix(Self.partSize))))
            }
            return [head] + parts
        }

        /// Returns the statement to remove the uses by messages. It returns the hashes.
        func removeUses(by sequences: [Int64]) -> PostgresStatement {
            PostgresStatement(
                "DELETE FROM recollect.attachment_use WHERE user_id = $1 AND sequence = ANY ($2) RETURNING sha256",
                user, .integers(sequences))
        }

        /// Returns the statement to remove the uses by all messages and streaming replies of sessions. It returns the hashes.
        func removeUses(inSessions sessions: PostgresValue) -> PostgresStatement {
            PostgresStatement(
                """
                DELETE FROM recollect.attachment_use WHERE user_id = $1 AND sequence IN (
                  SELECT m.sequence FROM recollect.message AS m WHERE m.user_id = $1 AND m.session = ANY ($2)
                  UNION ALL SELECT -r.reply FROM recollect.streaming_reply AS r WHERE r.user_id = $1 AND r.session = ANY ($2))
                RETURNING sha256
                """, user, sessions)
        }

        /// Returns the statements to delete the attachments without uses among the hashes returned by `removeUses`.
        func deleteUnused(_ removed: PostgresResult) -> [PostgresStatement] {
            deleteUnused(Set((0..<removed.count).map { removed.text($0, 0) }))
        }

        /// Returns the statements to delete the attachments without uses among some hashes.
        func deleteUnused(_ hashes: Set<String>) -> [PostgresStatement] {
            guard !hashes.isEmpty else { return [] }
            let hashes = PostgresValue.byteArrays(hashes.map(\.bytes))
            let lock = PostgresStatement(
                "SELECT FROM recollect.attachment WHERE user_id = $1 AND sha256 = ANY ($2) ORDER BY sha256 FOR UPDATE",
                user, hashes)
            // Statements of their own, so that they see the uses committed before the lock was acquired.
            return [lock]
                + ["attachment_part", "attachment"].map { table in
                    PostgresStatement(
                        """
                        DELETE FROM recollect.\(table) WHERE user_id = $1 AND sha256 = ANY ($2) AND NOT EXISTS (
                          SELECT FROM recollect.attachment_use AS use
                          WHERE use.user_id = $1 AND use.sha256 = \(table).sha256)
                        """, user, hashes)
                }
        }

        /// Returns the statement to read the bytes of an attachment: a row for each part, in order.
        func read(_ sha256: String) -> PostgresStatement {
            PostgresStatement(
                """
                SELECT bytes FROM recollect.attachment LEFT JOIN recollect.attachment_part USING (user_id, sha256)
                WHERE user_id = $1 AND sha256 = $2 ORDER BY part
                """, user, .bytes(sha256.bytes))
        }
    }
#endif
