import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Erasure") struct ErasureTests {
    private let folder: TemporaryFolder
    private let history: SQLiteHistoryStore
    private let secret = ConversationMessage(id: "secret", role: .user, text: "the code is quetzalcoatl")

    init() throws {
        folder = try TemporaryFolder()
        history = folder.history(durability: .relaxed, retention: .window)
    }

    private func picture(_ number: Int) -> ConversationMessage {
        let bytes = withUnsafeBytes(of: number) { Data($0) }
        let attachment = Attachment(mediaType: "a/b", content: .inline(bytes))
        return ConversationMessage(id: "picture \(number)", role: .user, parts: [.attachment(attachment)])
    }

    private func file(of picture: Int) -> URL {
        let hash = Attachment.sha256(of: withUnsafeBytes(of: picture) { Data($0) })
        return folder.file("attachments/\(hash.prefix(2))/\(hash)")
    }

    private func isThere(_ file: URL) -> Bool { FileManager.default.fileExists(atPath: file.path) }

    @Test(
        "No bytes of deleted messages stay in a file, wherever page balancing moved them", .needs(.time),
        arguments: UInt64(1)...6)
    func unallocatedSpace(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let lengths = [0, 40, 240, 800]
        let all = (0..<400).map { number in
            let padding = String(repeating: "x", count: lengths.randomElement(using: &generator) ?? 0)
            return ConversationMessage(id: "m\(number)", role: .user, text: "zq\(number)x \(padding)")
        }
        try await history.append(all, to: scope)
        let dead = (0..<400).shuffled(using: &generator).prefix(340)
        for start in stride(from: 0, to: 340, by: 10) {
            let ids = dead[start..<start + 10].map { "m\($0)" }
            try await history.deleteMessages(ids, in: scope.session)
        }
        try await history.waitUntilErased()
        // These commits rewrite the same pages.
        for number in Set(0..<400).subtracting(dead).sorted() {
            let edited = ConversationMessage(id: "m\(number)", role: .user, text: "edited")
            _ = try await history.edit([edited], in: scope.session)
        }
        #expect(try bytes(of: dead, in: "history.sqlite-wal").isEmpty)
        await history.close()
        #expect(try bytes(of: dead, in: "history.sqlite").isEmpty)
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.window(of: scope, maxMessages: nil).count == 60)
    }

    /// The numbers of the messages with bytes in a file.
    private func bytes(of numbers: some Sequence<Int>, in name: String) throws -> [Int] {
        let bytes = try Data(contentsOf: folder.file(name))
        return numbers.filter { bytes.range(of: Data("zq\($0)x".utf8)) != nil }
    }

    // MARK: After a commit

    @Test("A committed save never throws a cancellation error")
    func canceledInFlight() async throws {
        let trimming = AppendOptions(maxMessages: 2)
        var outcomes: [Bool: Int] = [:]
        var spins = 64
        for number in 0..<200 {
            let task = Task { try await history.append([picture(number)], to: scope, options: trimming) }
            for _ in 0..<spins { await Task.yield() }
            task.cancel()
            let result = await task.result
            let isKept = try await history.message("picture \(number)", in: scope.session) != nil
            switch result {
            case .success: #expect(isKept)
            case .failure(let error): #expect(error is CancellationError && !isKept, "\(number): \(error)")
            }
            outcomes[isKept, default: 0] += 1
            // Keeps the cancellation close to the commit.
            spins = isKept ? spins * 3 / 4 : spins * 4 / 3 + 1
        }
        #expect(outcomes[true, default: 0] > 0 && outcomes[false, default: 0] > 0, "\(outcomes)")
        // Attachments stored by canceled saves are removed as well, in the background.
        let files = AttachmentFiles(directory: folder.file("attachments"))
        let end = ContinuousClock.now + .seconds(300)
        var (saved, used) = (-1, Int64?.none)
        while saved != used.map(Int.init), ContinuousClock.now < end {
            try await history.waitUntilErased()
            saved = try files.all().count
            used = try await history.read { try $0.integer("SELECT count(*) FROM attachment_use") }
        }
        #expect(used == Int64(saved))
    }

    @Test("A check reports no problems for attachments deleted during the check", .needs(.time))
    func checkedMeanwhile() async throws {
        for round in 0..<10 {
            try await history.append((0..<40).map { picture(round * 40 + $0) }, to: scope)
            async let report = history.check()
            try await history.deleteSession(scope.session)
            #expect(try await report.problems == [])
            #expect(try await history.erasesAll())
        }
    }

    @Test("An attachment that cannot be removed fails no save, and is removed when possible")
    func cannotRemove() async throws {
        try await history.append([picture(1)], to: scope)
        let stuck = file(of: 1)
        // A folder of the same name stands in for a file that cannot be removed.
        try FileManager.default.removeItem(at: stuck)
        try FileManager.default.createDirectory(at: stuck, withIntermediateDirectories: false)
        try await history.append(messages(0..<4), to: scope, options: AppendOptions(maxMessages: 2))
        #expect(try await history.message("m0", in: scope.session) == nil)
        #expect(try await history.waitUntilErased(atMost: .milliseconds(200)) == Erasure(attachmentCount: 1))
        try FileManager.default.removeItem(at: stuck)
        #expect(try await history.erasesAll())
    }

    @Test(
        "After a kill between the commit and the removal of a file, the next opening removes the file", .needs(.strace))
    func killedBeforeUnlink() async throws {
        // An opening with full durability, after one with relaxed durability, removes a file as well.
        let history = folder.history()
        try await history.append(messages(0..<4) + [picture(7)], to: scope)
        await history.close()
        let tracer = try #require(strace)
        let worker = try Worker(
            ["delete", folder.url.path, "ann", "s"],
            under: [tracer, "-f", "-qq", "-o", "/dev/null", "-e", "inject=/^unlink:signal=KILL"])
        // The worker may have printed that the session is deleted, which is true.
        _ = await worker.finish()
        #expect(isThere(file(of: 7)))
        let next = folder.history()
        #expect(try await next.session(scope.session) == nil)
        #expect(try await next.erasesAll())
        #expect(!isThere(file(of: 7)))
    }

    // MARK: Alongside readers

    @Test(
        "A deletion alongside a stopped reader returns at once, reports pending data, and erases it later",
        .needs(.processes)
    )
    func stoppedReader() async throws {
        try await history.append(messages(0..<20) + [secret], to: scope)
        let reader = try Worker(["hold", folder.url.path])
        defer { reader.kill() }
        #expect(await reader.wait(forLines: 1) == ["held"])
        reader.send(SIGSTOP)
        let start = ContinuousClock.now
        #expect(try await history.deleteSession(scope.session))
        // Less than the 30 s of a wait for a reader; a busy machine may need seconds.
        #expect(ContinuousClock.now - start < .seconds(25))
        let left = try await history.waitUntilErased(atMost: .seconds(1))
        #expect(left.isLogPending)
        #expect(try await history.check().erasure.isLogPending)
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.traces(of: "quetzalcoatl").contains { !$0.isLive })
        var events = history.events.stream().makeAsyncIterator()
        reader.kill()
        #expect(try await history.erasesAll())
        #expect(try await history.traces(of: "quetzalcoatl") == [])
        while let event = await events.next(), event.kind != .erased {}
    }

    // MARK: Pending erasure

    @Test(
        "Reads omit a deleted session before its messages are removed, and its number is not reused"
    )
    func hidden() async throws {
        try await history.append(messages(0..<300) + [secret, picture(3)], to: scope)
        try await history.indexEverything()
        let before = try await history.latestChangeCursor()
        // The deletion alone, as if the process ended right after its commit.
        #expect(try await history.write { try MessageDeletion.delete(scope.session, $0) })
        let left = try await history.erasure()
        #expect(left.sessionCount == 1 && left.isIndexPending && left.isLogPending)
        #expect(try await history.session(scope.session) == nil)
        #expect(try await history.check().messageCount == 0)
        #expect(try await history.sessions(of: "ann", page: PageRequest(limit: 5)).elements.isEmpty)
        #expect(try await history.window(of: scope, maxMessages: nil).isEmpty)
        #expect(try await history.search(SearchQuery(userId: "ann", text: "quetzalcoatl")).elements.isEmpty)
        #expect(try await history.message("secret", in: scope.session) == nil)
        #expect(try await history.changes(after: .beginning, limit: 1000).map(\.kind) == [.sessionDeleted])
        #expect(try await history.changes(after: before, limit: 10).map(\.kind) == [.sessionDeleted])
        try await history.append(messages(0..<2), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<2))
        #expect(try await history.erasesAll())
        #expect(!isThere(file(of: 3)))
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM message") } == 2)
        #expect(try await history.read { try $0.integer("SELECT count(*) FROM scope") } == 1)
        #expect(try await history.traces(of: "quetzalcoatl") == [])
        #expect(try await history.check().problems.isEmpty)
        #expect(try await history.search(SearchQuery(userId: "ann", text: "text")).elements.count == 2)
    }

    @Test("Messages deleted while the index is being erased are erased from the index as well")
    func deletedMeanwhile() async throws {
        let second = ConversationMessage(id: "second", role: .user, text: "another one: xolotl")
        try await history.append(messages(0..<500) + [secret, second], to: scope)
        // In steps, so that the index has several segments.
        while try await history.write({ try SearchIndex.advance($0, limit: 40) }) {}
        try await history.write { db in
            _ = try MessageDeletion.delete(["secret"], in: scope.session, db)
        }
        for _ in 0..<4 { try await history.write { _ = try SearchIndex.eraseStep(pages: 1, $0) } }
        // In one transaction with a step of erasing, as in a group commit.
        try await history.write { db in
            _ = try MessageDeletion.delete(["second"], in: scope.session, db)
            _ = try SearchIndex.eraseStep(pages: 1, db)
        }
        #expect(try await history.erasesAll())
        for word in ["quetzalcoatl", "xolotl"] { #expect(try await history.traces(of: word) == [], "\(word)") }
        #expect(
            try await history.search(SearchQuery(userId: "ann", text: "\"text 77\"")).elements.map(\.messageId) == [
                "m77"
            ])
    }

    @Test("A message deleted in the transaction that indexed it leaves nothing in the index")
    func deletedAsIndexed() async throws {
        try await history.append(messages(0..<5) + [secret], to: scope)
        try await history.write { db in
            _ = try SearchIndex.advance(db, limit: 100)
            _ = try MessageDeletion.delete(["secret"], in: scope.session, db)
        }
        #expect(try await history.erasesAll())
        #expect(try await history.traces(of: "quetzalcoatl") == [])
    }

    @Test("A deletion writes in proportion to the deleted messages, not to the search index")
    func doesNotRewriteTheIndex() async throws {
        try await history.append(messages(0..<5000), to: scope)
        let small = Scope(userId: "ann", sessionId: "small", agentId: "a")
        try await history.append(messages(0..<2), to: small)
        // In one transaction: on a slow machine, several ones would leave segments of the index to merge.
        try await history.write { _ = try SearchIndex.advance($0, limit: 20_000) }
        let changes = try await history.write { db in
            let before = db.totalChangesCount
            _ = try MessageDeletion.delete(["m1"], in: small.session, db)
            _ = try MessageDeletion.delete(scope.session, db)
            return db.totalChangesCount - before
        }
        #expect(changes < 60)
    }

    @Test("Deleting a session with attachments removes the leftovers of an interrupted import")
    func leftoversOfImport() async throws {
        try await history.append([picture(1)], to: scope)
        let leftover = folder.file("attachments/ab/.recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: leftover.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("quetzalcoatl".utf8).write(to: leftover)
        try await history.deleteSession(scope.session)
        #expect(try await history.erasesAll())
        #expect(!isThere(leftover))
    }

    @Test("Deleting a user removes the leftovers of interrupted saves and salvages")
    func leftovers() async throws {
        try await history.append([picture(1)], to: scope)
        let names = [
            "history.mending-x", "history.mending-x-wal", "attachments/ab/.recollect-\(UUID().uuidString)",
            "history.notes",
        ]
        try FileManager.default.createDirectory(
            at: folder.file("attachments/ab"), withIntermediateDirectories: true)
        for name in names { try Data("quetzalcoatl".utf8).write(to: folder.file(name)) }
        #expect(Set(try await history.traces(of: "quetzalcoatl").map(\.file)) == Set(names.dropLast()))
        try await history.deleteUser("ann")
        #expect(try await history.erasesAll())
        #expect(names.filter { isThere(folder.file($0)) } == ["history.notes"], "foreign files stay")
    }
}
