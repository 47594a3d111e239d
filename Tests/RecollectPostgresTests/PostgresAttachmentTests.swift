#if Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    @Suite("Attachments in PostgreSQL", .needs(.postgres))
    struct PostgresAttachmentTests {
        private let url: String
        private let store: PostgresHistoryStore
        private let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")

        init() async throws {
            url = try await HistoryServer.urlForLongTransactions
            store = PostgresHistoryStore(try PostgresAddress(url), feedWaitingTime: .seconds(30))
        }

        private func message(_ id: String, _ bytes: Data...) -> ConversationMessage {
            ConversationMessage(
                id: id, role: .user,
                parts: bytes.map { .attachment(Attachment(mediaType: "image/png", content: .inline($0))) },
                timestamp: Date(timeIntervalSince1970: 1_700_000_000))
        }

        private func bytes(_ seed: UInt64, count: Int) -> Data {
            var generator = SeededGenerator(seed: seed)
            let block = Data((0..<997).map { _ in UInt8.random(in: 0...255, using: &generator) })
            var bytes = Data(capacity: count + block.count)
            while bytes.count < count { bytes.append(block) }
            return bytes.prefix(count)
        }

        private func read(_ bytes: Data) async throws -> Data {
            try await store.attachment(sha256: Attachment.sha256(of: bytes), userId: "ana")
        }

        private func expectMissing(_ bytes: Data) async throws {
            let error = await #expect(throws: RecollectError.self) { try await read(bytes) }
            #expect(error?.code == .notFound)
            for table in ["attachment", "attachment_part", "attachment_use"] {
                let rows = try await store.database.read(
                    "SELECT FROM recollect.\(table) WHERE sha256 = $1", .bytes(Attachment.sha256(of: bytes).bytes))
                #expect(rows.count == 0, "\(table)")
            }
        }

        @Test("Attachments of no, some and millions of bytes come back, several in one message")
        func sizes() async throws {
            let all = [Data(), bytes(1, count: 1), bytes(2, count: 1 << 20), bytes(3, count: 5_500_000)]
            try await store.append([message("1", all[0], all[1]), message("2", all[2], all[3])], to: scope)
            for data in all { #expect(try await read(data) == data) }
            let window = try await store.window(of: scope, maxMessages: nil)
            #expect(window.flatMap(\.storedAttachments) == all.map(Attachment.sha256))
            let restored = try await store.restoringAttachments(of: window, userId: "ana")
            #expect(restored.map(\.parts) == [message("1", all[0], all[1]), message("2", all[2], all[3])].map(\.parts))
        }

        @Test("An edit keeps the bytes of attachments that stay, and deletes those of removed ones")
        func edits() async throws {
            let (old, kept, new) = (bytes(1, count: 100), bytes(2, count: 100), bytes(3, count: 100))
            try await store.append([message("1", old, kept)], to: scope)
            let stored = try await store.window(of: scope, maxMessages: nil)[0]
            var edited = stored
            edited.parts = [stored.parts[1]] + message("", new).parts
            let edit = MessageEdit(of: stored, to: edited)
            #expect(try await store.edit([edit], in: scope.session).count == 1)
            #expect(try await read(kept) == kept)
            #expect(try await read(new) == new)
            try await expectMissing(old)
        }

        @Test("A fork, a branch and a moved session keep their attachments when the original is deleted")
        func copies() async throws {
            let (first, second) = (bytes(1, count: 100), bytes(2, count: 100))
            try await store.append([message("1", first), message("2", second)], to: scope)
            try await store.fork(scope.session, at: "1", agentId: nil, into: "fork")
            let branch = try await store.branch(scope.session, from: "2", agentId: nil)
            try await store.moveSession(scope.session, to: "moved")
            try await store.restoreBranch(branch, in: SessionKey(userId: "ana", sessionId: "moved"))
            #expect(try await read(second) == second)
            try await store.deleteSession(SessionKey(userId: "ana", sessionId: "moved"))
            #expect(try await read(first) == first)
            try await expectMissing(second)
            try await store.deleteSession(SessionKey(userId: "ana", sessionId: "fork"))
            try await expectMissing(first)
        }

        @Test("Merged sessions with a message of both keep its attachment once")
        func merge() async throws {
            let data = bytes(1, count: 100)
            let other = scope.session.scope(agentId: scope.agentId)
            try await store.append([message("1", data)], to: other)
            let target = Scope(userId: "ana", sessionId: "other", agentId: "planner")
            try await store.append([message("1", data)], to: target)
            try await store.moveSession(scope.session, to: "other")
            #expect(try await store.window(of: target, maxMessages: nil).map(\.id) == ["1"])
            #expect(try await read(data) == data)
            try await store.deleteMessages(["1"], in: target.session)
            try await expectMissing(data)
        }

        @Test("A damaged attachment is reported, and saving its bytes again repairs it")
        func damage() async throws {
            let data = bytes(1, count: 100)
            try await store.append([message("1", data)], to: scope)
            _ = try await store.database.read("UPDATE recollect.attachment_part SET bytes = 'other'")
            let error = await #expect(throws: RecollectError.self) { try await read(data) }
            #expect(error?.code == .damaged)
            try await store.append([message("2", data)], to: scope)
            #expect(try await read(data) == data)
        }

        @Test("A message saved with a hash gets its bytes when it is saved with them, and a refused edit leaves none")
        func laterBytes() async throws {
            let (data, other) = (bytes(1, count: 100), bytes(2, count: 100))
            let full = message("1", data)
            let (separated, _) = [full].separatingAttachments()
            try await store.append(separated, to: scope)
            let error = await #expect(throws: RecollectError.self) { try await read(data) }
            #expect(error?.code == .notFound)
            #expect(try await store.append([full], to: scope) == AppendOutcome(alreadyStored: 1))
            #expect(try await read(data) == data)
            let edit = MessageEdit(of: message("1", other), to: message("1", other))
            #expect(try await store.edit([edit], in: scope.session).isEmpty)
            try await expectMissing(other)
            #expect(try await store.append([message("1", other)], to: scope) == AppendOutcome(alreadyStored: 1))
            try await expectMissing(other)
        }

        @Test("Servers that edit messages with one attachment at once all succeed")
        func concurrentEdits() async throws {
            let data = bytes(1, count: 100)
            let address = try PostgresAddress(url)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<6 {
                    group.addTask {
                        let store = PostgresHistoryStore(address)
                        let own = Scope(userId: "ana", sessionId: "\(task)", agentId: "a")
                        try await store.append([message("1", data)], to: own)
                        for number in 0..<20 {
                            var edited = message("1", data)
                            edited.parts.append(.text("\(number)"))
                            #expect(try await store.edit([edited], in: own.session) == 1)
                        }
                        store.close()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await read(data) == data)
        }

        @Test("A text in place of a hash is kept, and refused as one")
        func otherTexts() async throws {
            let content = Attachment.Content.stored(sha256: "../etc/passwd", byteCount: 3)
            let odd = ConversationMessage(
                id: "1", role: .user, parts: [.attachment(Attachment(mediaType: "text/plain", content: content))])
            try await store.append([odd], to: scope)
            #expect(try await store.window(of: scope, maxMessages: nil).map(\.parts) == [odd.parts])
            let error = await #expect(throws: RecollectError.self) {
                try await store.attachment(sha256: "../etc/passwd", userId: "ana")
            }
            #expect(error?.code == .notFound)
        }

        @Test("Servers that save and delete the same attachment at once never leave a message without its bytes")
        func savesAndDeletions() async throws {
            let data = bytes(1, count: 3_000)
            let address = try PostgresAddress(url)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<6 {
                    group.addTask {
                        let store = PostgresHistoryStore(address)
                        let own = Scope(userId: "ana", sessionId: "\(task)", agentId: "a")
                        for number in 0..<25 {
                            try await store.append([message("\(number)", data)], to: own)
                            // The bytes are there as long as the message is.
                            let hash = Attachment.sha256(of: data)
                            #expect(try await store.attachment(sha256: hash, userId: "ana") == data)
                            if number % 2 == 0 {
                                try await store.deleteMessages(["\(number)"], in: own.session)
                            } else {
                                try await store.deleteSession(own.session)
                            }
                        }
                        store.close()
                    }
                }
                try await group.waitForAll()
            }
            try await expectMissing(data)
        }
    }
#endif
