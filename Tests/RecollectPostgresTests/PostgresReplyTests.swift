#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Streaming replies in PostgreSQL", .needs(.postgres))
    struct PostgresReplyTests {
        private let url: String
        private let store: PostgresHistoryStore
        private let other: PostgresHistoryStore
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        init() async throws {
            url = try await HistoryServer.urlForLongTransactions
            store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
            other = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
        }

        private func reply(_ id: String, _ text: String = "") -> ConversationMessage {
            ConversationMessage(
                id: id, role: .assistant, text: text, timestamp: Date(timeIntervalSince1970: 1_700_000_001))
        }

        /// Ends the leases of all replies.
        private func endLeases() async throws {
            _ = try await store.database.read(
                "UPDATE recollect.streaming_reply SET leased_until = clock_timestamp() - interval '1 second'")
        }

        private func texts(of scope: Scope) async throws -> [String] {
            try await other.window(of: scope, maxMessages: nil).map(\.text)
        }

        @Test("The reply of a server that has ended is saved as interrupted by another one, with its last increment")
        func endedServer() async throws {
            let ended = PostgresHistoryStore(try PostgresAddress(url), replyLeaseDuration: .seconds(3))
            let reply = try await ended.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
            reply.append(" upon")
            #expect(
                try await eventually {
                    try await other.streamingReplies(in: scope.session).first?.message.text == "Once upon"
                })
            ended.close()
            #expect(try await eventually { try await other.streamingReplies(in: scope.session).isEmpty })
            let saved = try await other.window(of: scope, maxMessages: nil)
            #expect(saved.map(\.text) == ["Once upon"] && saved.allSatisfy(\.isInterrupted))
            #expect(try await other.session(scope.session)?.messageCount == 1)
            withExtendedLifetime(reply) {}
        }

        @Test("A server without new text keeps its lease")
        func renewal() async throws {
            let slow = PostgresHistoryStore(try PostgresAddress(url), replyLeaseDuration: .milliseconds(600))
            let reply = try await slow.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
            func leasedUntil() async throws -> Double {
                try await other.database.read(
                    "SELECT extract(epoch FROM leased_until)::double precision FROM recollect.streaming_reply"
                ).double(0, 0)
            }
            let first = try await leasedUntil()
            // The lease was renewed several times.
            #expect(try await eventually { try await leasedUntil() > first + 0.7 })
            try await reply.finish()
            #expect(try await texts(of: scope) == ["Once"])
        }

        @Test("A server that was away for longer than its lease still completes its reply")
        func lateEnd() async throws {
            let reply = try await store.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
            try await endLeases()
            #expect(try await other.streamingReplies(in: scope.session).isEmpty)
            #expect(try await other.window(of: scope, maxMessages: nil).map(\.isInterrupted) == [true])
            reply.append(" upon a time")
            try await reply.finish()
            let saved = try await other.window(of: scope, maxMessages: nil)
            #expect(saved.map(\.text) == ["Once upon a time"] && saved.map(\.isInterrupted) == [false])
        }

        @Test("An abandoned reply is saved before another one with its ID begins, and continued by it")
        func continuation() async throws {
            let first = try await store.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
            await #expect(throws: RecollectError.self) {
                try await other.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
            }
            try await endLeases()
            var events = other.events.stream().makeAsyncIterator()
            let second = try await other.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
            second.append(" upon")
            try await second.finish()
            #expect(try await texts(of: scope) == ["Once upon"])
            #expect(await events.next()?.kind == .interruptedReply)
            withExtendedLifetime(first) {}
        }

        @Test("Of servers that begin a reply with one ID at once, one begins it")
        func sameID() async throws {
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for server in [store, other, store, other] {
                    group.addTask {
                        do {
                            let reply = try await server.beginReply(reply("1", "Once"), in: scope, maxMessages: nil)
                            try await reply.finish()
                            return true
                        } catch { return false }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count(where: { $0 }) == 1)
            #expect(try await texts(of: scope) == ["Once"])
        }

        @Test("A reply is saved in its session under its new ID, and not in a deleted one")
        func movesAndDeletions() async throws {
            try await store.append([message("0")], to: scope)
            let moved = try await store.beginReply(reply("1", "moved"), in: scope, maxMessages: nil)
            try await other.moveSession(scope.session, to: "new")
            try await moved.finish()
            let new = Scope(userId: "ana", sessionId: "new", agentId: "planner")
            #expect(try await texts(of: new) == ["text of 0", "moved"])
            let deleted = try await store.beginReply(reply("2", "deleted"), in: new, maxMessages: nil)
            try await other.deleteSession(new.session)
            let error = await #expect(throws: RecollectError.self) { try await deleted.finish() }
            #expect(error?.code == .notFound)
            #expect(try await other.session(new.session) == nil)
            let rows = try await store.database.read("SELECT FROM recollect.streaming_reply")
            #expect(rows.count == 0)
        }

        @Test("Replies with one ID in merged sessions are both saved")
        func merge() async throws {
            let target = Scope(userId: "ana", sessionId: "target", agentId: "planner")
            let first = try await store.beginReply(reply("1", "first"), in: scope, maxMessages: nil)
            let second = try await store.beginReply(reply("1", "second"), in: target, maxMessages: nil)
            try await store.append([reply("2", "stored")], to: target)
            let third = try await store.beginReply(reply("2", "third"), in: scope, maxMessages: nil)
            try await other.moveSession(scope.session, to: "target")
            for reply in [first, second, third] { try await reply.finish() }
            #expect(try await texts(of: target).sorted() == ["first", "second", "stored", "third"])
        }

        @Test("A reply follows its agent's messages into a branch, and back")
        func branches() async throws {
            try await store.append([message("1"), message("2")], to: scope)
            let begun = try await store.beginReply(reply("3", "three"), in: scope, maxMessages: nil)
            let branch = try await other.branch(scope.session, from: "2", agentId: nil)
            #expect(try await other.streamingReplies(in: scope.session).isEmpty)
            #expect(try await other.streamingReplies(in: branch).map(\.message.id) == ["3"])
            let again = try await store.beginReply(reply("3", "another"), in: scope, maxMessages: nil)
            try await other.restoreBranch(branch, in: scope.session)
            try await begun.finish()
            try await again.finish()
            #expect(try await texts(of: scope).sorted() == ["another", "text of 1", "text of 2", "three"])
        }

        @Test("An attachment of a streaming reply can be read, and goes with the reply")
        func attachments() async throws {
            let data = Data((0..<2_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let hash = Attachment.sha256(of: data)
            let part = ContentPart.attachment(Attachment(mediaType: "image/png", content: .inline(data)))
            let kept = try await store.beginReply(reply("1", "See"), in: scope, maxMessages: nil)
            kept.append(part)
            #expect(
                try await eventually { (try? await other.attachment(sha256: hash, userId: "ana")) == data })
            try await endLeases()
            _ = try await other.streamingReplies(in: scope.session)
            #expect(try await other.attachment(sha256: hash, userId: "ana") == data)
            try await other.deleteMessages(["1"], in: scope.session)
            await #expect(throws: RecollectError.self) { try await other.attachment(sha256: hash, userId: "ana") }
            let gone = try await store.beginReply(
                ConversationMessage(id: "2", role: .assistant, parts: [part]), in: scope, maxMessages: nil)
            #expect(try await other.attachment(sha256: hash, userId: "ana") == data)
            try await other.deleteSession(scope.session)
            await #expect(throws: RecollectError.self) { try await other.attachment(sha256: hash, userId: "ana") }
            withExtendedLifetime((kept, gone)) {}
        }
    }
#endif
