import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Appending") struct AppendingTests {
    @Test("A batch is saved in order, with all fields of its messages")
    func keepsEverything() async throws {
        let history = memory()
        let batch = [
            ConversationMessage(id: "1", role: .user, text: "a\0b", metadata: ["model": "m", "n": 1]),
            ConversationMessage(
                id: "2", role: .assistant,
                parts: [
                    .thinking("hm", signature: "sig"), .toolCall(id: "t", name: "read", arguments: ["path": "é"]),
                    .unknown(["widget": ["_0": [1, 2.5, .null]]]),
                ]),
            ConversationMessage(
                id: "3", role: Role(rawValue: "critic"), parts: [], unknownFields: ["later": [true]]),
            ConversationMessage(id: "4", role: .user, text: ""),
        ]
        let outcome = try await history.append(batch, to: scope)
        #expect(outcome == AppendOutcome(added: 4))
        #expect(try await history.window(of: scope, maxMessages: nil) == batch)
    }

    @Test("A known ID keeps its first content and position in its scope; each scope has its own IDs")
    func knownIds() async throws {
        let history = memory()
        try await history.append(messages(0..<4), to: scope)
        let retry = try await history.append(messages(2..<6), to: scope)
        #expect(retry == AppendOutcome(added: 2, alreadyStored: 2))
        let other = scope.session.scope(agentId: "b")
        let again = ConversationMessage(id: "m0", role: .user, text: "again")
        #expect(try await history.append([again], to: other) == AppendOutcome(added: 1))
        #expect(try await history.append([again], to: other) == AppendOutcome(alreadyStored: 1))
        #expect(try await history.window(of: other, maxMessages: nil) == [again])
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<6))
        let session = Scope(userId: "ann", sessionId: "t", agentId: "a")
        #expect(try await history.append(messages(0..<1), to: session).added == 1)
    }

    @Test(
        "A trim moves the window, and deletes messages only with retention `.window`",
        arguments: [Retention.everything, .window])
    func trims(retention: Retention) async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: retention))
        for turn in 0..<10 {
            try await history.append(
                messages(2 * turn..<2 * turn + 2), to: scope, options: AppendOptions(maxMessages: 7))
        }
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(14..<20))
        #expect(try await history.window(of: scope, maxMessages: 3) == messages(18..<20))
        let found = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 100))
        #expect(found.elements.map(\.message) == messages(retention == .window ? 14..<20 : 0..<20))
        let count = try await history.session(scope.session)?.messageCount
        #expect(count == found.elements.count)
        try await history.append([], to: scope, options: AppendOptions(maxMessages: 1))
        #expect(try await history.window(of: scope, maxMessages: nil).isEmpty)
    }

    @Test("Retention `.days` deletes older messages, and nothing else")
    func days() async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: .days(7)))
        let old = ConversationMessage(
            id: "old", role: .user, text: "old", timestamp: Date(timeIntervalSinceNow: -8 * 86400))
        let new = ConversationMessage(
            id: "new", role: .user, text: "new", timestamp: Date(timeIntervalSinceNow: -5 * 86400))
        try await history.append([old, new], to: scope)
        _ = try await history.expireNow()
        #expect(try await history.window(of: scope, maxMessages: nil).count == 2, "the clock is not trusted yet")
        let date = Date(timeIntervalSinceNow: 86_400 * 1.01)
        _ = try await history.expireNow(now: date, uptime: ClockWatch.uptime + 87_264_000)
        #expect(try await history.window(of: scope, maxMessages: nil).map(\.id) == ["new"])
    }

    @Test("Each message dropped by the same-role rule posts an event; a retry of a known message posts none")
    func drops() async throws {
        let history = memory()
        var events = history.events.stream().makeAsyncIterator()
        let options = AppendOptions(sameRole: .drop)
        let first = ConversationMessage(id: "1", role: .user, text: "one")
        let second = ConversationMessage(id: "2", role: .user, text: "two")
        #expect(
            try await history.append([first, first, second], to: scope, options: options)
                == AppendOutcome(added: 1, alreadyStored: 1, dropped: 1))
        let event = await events.next()
        #expect(event?.kind == .droppedSameRole)
        #expect(event?.messageId == "2")
        #expect(event?.scope == scope)
    }

    @Test("64 concurrent tasks of one process lose nothing and do not mix their batches")
    func concurrent() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    for turn in 0..<10 {
                        try await history.append(messages(0..<2, prefix: "\(task)-\(turn)-"), to: scope)
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = try await history.window(of: scope, maxMessages: nil)
        #expect(found.count == 64 * 10 * 2)
        for pair in stride(from: 0, to: found.count, by: 2) {
            #expect(found[pair].id.dropLast() == found[pair + 1].id.dropLast())
        }
    }

    @Test("A failing write in a group commit fails alone")
    func failsAlone() async throws {
        struct Refused: Error {}
        let folder = try TemporaryFolder()
        let history = folder.history()
        let results = await withTaskGroup(of: (Int, Bool).self) { group in
            for task in 0..<100 {
                group.addTask {
                    do {
                        _ = try await history.write { db, cache in
                            let appending = AppendOperation(
                                messages: messages(0..<2, prefix: "\(task)-"), scope: scope, options: AppendOptions(),
                                retention: .everything)
                            _ = try appending.run(db, cache)
                            if task.isMultiple(of: 3) { throw Refused() }
                        }
                        return (task, true)
                    } catch {
                        return (task, !(error is Refused))
                    }
                }
            }
            return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
        }
        let found = Set(try await history.window(of: scope, maxMessages: nil).map(\.id))
        for task in 0..<100 {
            #expect(results[task] == !task.isMultiple(of: 3))
            #expect(found.contains("\(task)-0") == !task.isMultiple(of: 3))
            #expect(found.contains("\(task)-1") == !task.isMultiple(of: 3))
        }
    }

    @Test("A save canceled before its start saves nothing; one canceled later returns its actual outcome")
    func cancellation() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await history.append(messages(0..<2, prefix: "never"), to: scope)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let tasks = (0..<200).map { number in
            Task { try await history.append(messages(0..<2, prefix: "\(number)-"), to: scope) }
        }
        for (number, task) in tasks.enumerated() where number.isMultiple(of: 2) { task.cancel() }
        var saved: Set<String> = []
        for (number, task) in tasks.enumerated() {
            switch await task.result {
            case .success: saved.formUnion(["\(number)-0", "\(number)-1"])
            case .failure(let error): #expect(error is CancellationError)
            }
        }
        #expect(Set(try await history.window(of: scope, maxMessages: nil).map(\.id)) == saved)
    }

    @Test("A message placed before others begins the session, also if its batch then claims one of them")
    func placedBeforeClaimed() async throws {
        let history = memory()
        func message(_ id: String, at seconds: Double) -> ConversationMessage {
            ConversationMessage(id: id, role: .user, text: id, timestamp: Date(timeIntervalSince1970: seconds))
        }
        let (early, late) = (message("early", at: 8), message("late", at: 24))
        try await history.append([late], to: scope.session.scope(agentId: ""))
        try await history.append([early, late], to: scope, options: AppendOptions(claimsUnassigned: true))
        let session = try #require(try await history.session(scope.session))
        #expect(session.createdAt == early.timestamp && session.preview == "early")
    }

    @Test("Attachments are stored once, by hash, beside the database, and returned with their bytes")
    func attachments() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let store = DeviceChatStorage(history: history, userId: "ann")
        let bytes = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let picture = Attachment(mediaType: "image/png", name: "a.png", content: .inline(bytes))
        let sent = (0..<3).map {
            ConversationMessage(id: "\($0)", role: .user, parts: [.attachment(picture), .text("see")])
        }
        try await history.append(sent, to: scope)
        let hash = Attachment.sha256(of: bytes)
        let file = folder.file("attachments/\(hash.prefix(2))/\(hash)")
        #expect(try Data(contentsOf: file) == bytes)
        #expect(try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil) == sent)
        let stored = try await history.message("0", in: scope.session)?.message.parts[0]
        #expect(
            stored
                == .attachment(
                    Attachment(mediaType: "image/png", name: "a.png", content: .stored(sha256: hash, byteCount: 5000))))
        try await history.deleteMessages(["0", "1"], in: scope.session)
        #expect(FileManager.default.fileExists(atPath: file.path))
        try await history.deleteMessages(["2"], in: scope.session)
        #expect(try await history.erasesAll())
        #expect(!FileManager.default.fileExists(atPath: file.path))
        await expectError(.notFound) { _ = try await history.attachment(sha256: hash, userId: "ann") }
        await expectError(.notFound) { _ = try await history.attachment(sha256: "../../etc/passwd", userId: "ann") }
    }
}
