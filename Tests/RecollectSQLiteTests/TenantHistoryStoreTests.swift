import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Histories of one tenant") struct TenantHistoryStoreTests {
    /// A call with the IDs of another user.
    private struct Call: Sendable {
        let name: String
        let run: @Sendable (TenantHistoryStore) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (TenantHistoryStore) async throws -> Void) {
            (self.name, self.run) = (name, run)
        }
    }

    private let history = SQLiteHistoryStore.inMemory()
    private let ana = Scope(userId: "ana", sessionId: "s", agentId: "a")
    private let bob = Scope(userId: "bob", sessionId: "s", agentId: "a")
    private let message = ConversationMessage(id: "1", role: .user, text: "Where is the key?")

    private func calls() -> [Call] {
        let (scope, session, message) = (bob, bob.session, message)
        return [
            Call("append") { try await $0.append([message], to: scope, options: AppendOptions()) },
            Call("update") { try await $0.update(session, with: SessionDetails(title: "x"), createIfMissing: true) },
            Call("fork") { try await $0.fork(session, at: "1", agentId: nil, into: "copy") },
            Call("edit") { try await $0.edit([message], in: session) },
            Call("edit unchanged") { try await $0.edit([MessageEdit(of: message, to: message)], in: session) },
            Call("moveSession") { try await $0.moveSession(session, to: "other") },
            Call("branch") { _ = try await $0.branch(session, from: "1", agentId: nil) },
            Call("branches") { _ = try await $0.branches(of: session) },
            Call("restoreBranch") { try await $0.restoreBranch(session, in: session) },
            Call("restoreBranch of another user") {
                try await $0.restoreBranch(session, in: SessionKey(userId: "ana", sessionId: "s"))
            },
            Call("discardSession") { try await $0.discardSession(session) },
            Call("restoreSession") { try await $0.restoreSession(session) },
            Call("beginReply") { _ = try await $0.beginReply(message, in: scope, maxMessages: nil) },
            Call("streamingReplies") { _ = try await $0.streamingReplies(in: session) },
            Call("deleteMessages") { try await $0.deleteMessages(["1"], in: session) },
            Call("delete") { try await $0.delete([message], in: session) },
            Call("deleteSession") { try await $0.deleteSession(session) },
            Call("deleteUser") { try await $0.deleteUser("bob") },
            Call("window") { _ = try await $0.window(of: scope, maxMessages: nil) },
            Call("windowOfWholeExchanges") { _ = try await $0.windowOfWholeExchanges(of: scope, maxMessages: nil) },
            Call("window by tokens") {
                _ = try await $0.window(of: scope, tokens: 100, counter: .estimate)
            },
            Call("windows") { _ = try await $0.windows(of: session) },
            Call("version") { _ = try await $0.version(of: session) },
            Call("lease") { _ = try await $0.lease(of: session, for: .seconds(10)) },
            Call("compact") { try await $0.compact([message], of: scope, into: "x", by: "y", after: nil) },
            Call("compactedMessages") { _ = try await $0.compactedMessages(of: scope) },
            Call("compactions") { _ = try await $0.compactions(of: scope) },
            Call("removeCompaction") { try await $0.removeCompaction("x", of: scope) },
            Call("sessions") { _ = try await $0.sessions(SessionQuery(userId: "bob"), page: PageRequest(limit: 9)) },
            Call("session") { _ = try await $0.session(session) },
            Call("sessions by prefix") { _ = try await $0.sessions(of: "bob", sessionIdPrefix: "", limit: 9) },
            Call("messages") { _ = try await $0.messages(of: session, agentId: nil, page: PageRequest(limit: 9)) },
            Call("message") { _ = try await $0.message("1", in: session, agentId: nil) },
            Call("attachment") { _ = try await $0.attachment(sha256: "ab", userId: "bob") },
            Call("search") { _ = try await $0.search(SearchQuery(userId: "bob", text: "key")) },
        ]
    }

    @Test("Each call with another user's IDs is refused, reads nothing and changes nothing")
    func otherUsers() async throws {
        try await history.append([message], to: bob)
        let tenant = history.scoped(to: Tenant(userId: "ana"))
        try await tenant.append([message], to: ana)
        let before = try await (history.latestChangeCursor(), history.session(bob.session))
        for call in calls() {
            let error = await #expect(throws: RecollectError.self, "\(call.name)") { try await call.run(tenant) }
            #expect(error?.code == .permissionDenied, "\(call.name)")
        }
        let after = try await (history.latestChangeCursor(), history.session(bob.session))
        #expect(before == after)
        // These are all calls of the protocol with a user: `events` and the change feed have none.
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/RecollectCore/History/HistoryStore.swift")
        let functions = try String(contentsOf: source, encoding: .utf8).split(separator: "\n").count {
            $0.hasPrefix("    func ")
        }
        #expect(calls().count - 1 == functions - 3)
    }

    @Test("IDs that are equal in Unicode but differ in bytes are other users")
    func bytes() async throws {
        let tenant = history.scoped(to: Tenant(userId: "\u{E9}"))
        let other = Scope(userId: "e\u{301}", sessionId: "s", agentId: "a")
        await #expect(throws: RecollectError.self) { try await tenant.append([message], to: other) }
    }

    @Test("The feed has all changes of the tenant, and none of others", .timeLimit(.minutes(1)))
    func feed() async throws {
        let tenant = history.scoped(to: Tenant(userId: "ana"))
        for number in 0..<700 {
            try await history.append(
                [ConversationMessage(id: "\(number)", role: .user, text: "x")],
                to: number.isMultiple(of: 3) ? ana : bob)
        }
        let changes = try await tenant.changes(after: .beginning, limit: 1_000)
        #expect(changes.map(\.messageId) == stride(from: 0, to: 700, by: 3).map { "\($0)" })
        let first = try await tenant.changes(after: .beginning, limit: 10)
        #expect(first == Array(changes.prefix(10)))
        #expect(try await tenant.changes(after: changes[9].cursor, limit: 5) == Array(changes[10..<15]))
        #expect(try await tenant.changes(after: changes[233].cursor, limit: 5).isEmpty)
        var iterator = tenant.changes(after: .beginning).makeAsyncIterator()
        for change in changes { #expect(try await iterator.next() == change) }
        let last = try await history.latestChangeCursor()
        try await history.append([ConversationMessage(id: "later", role: .user, text: "x")], to: bob)
        try await tenant.append([ConversationMessage(id: "own", role: .user, text: "x")], to: ana)
        let next = try await iterator.next()
        #expect(next?.messageId == "own" && next.map { $0.cursor > last } == true)
    }
}
