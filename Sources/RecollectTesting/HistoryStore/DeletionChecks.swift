import Foundation
import RecollectCore

/// Checks of deletion: deleted messages are removed everywhere, and others stay unchanged.
enum DeletionChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "deletion.ofMessages",
            "Deleted messages are removed from windows, pages, lookups, search and counts; others are unchanged."
        ) { store in
            try await Self.fill(store)
            let session = Scope.plain.session
            _ = try await store.found("text")
            try expectEqual(
                try await store.deleteMessages(["m1", "unknown", "m2", "m1"], in: session), 2,
                "the number of deleted messages")
            try await expectMessages(
                store.window(of: .plain, maxMessages: nil),
                Self.messages(in: .plain).filter { !["m1", "m2"].contains($0.id) },
                "the window")
            try await expectIDs(store.everything(in: session).map(\.message), ["m0", "m3"], "the pages")
            try await expectEqual(store.message("m1", in: session), nil, "a lookup")
            try await expectEqual(store.found("m1"), ["m1", "m1"], "search hits, all from other sessions")
            try await expectEqual(store.session(session)?.messageCount, 2, "the message count")
            try await expectUntouched(Scope.plain.session("other"), in: store)
        },
        HistoryStoreCheck(
            "deletion.keepsNewerContent", rule: 5,
            "A deletion of messages by expected content keeps messages with other content, for every agent."
        ) { store in
            let id = Scope.plain.session
            let (read, newer) = (SampleData.message(.user, "m", "read"), SampleData.message(.user, "m", "newer"))
            let other = SampleData.message(.user, "o", "e\u{301}")
            try await store.append([read, other], to: Scope.plain.agent("a"))
            try await store.append([newer], to: Scope.plain.agent("b"))
            try await store.append([read], to: Scope.plain.agent("c"))
            let changed = SampleData.message(.user, "o", "\u{E9}")
            let before = try await store.latestChangeCursor()
            try await expectEqual(store.delete([read, changed, read], in: id), [read, read], "the deleted messages")
            try await expectMessages(
                store.everything(in: id).map(\.message), [other, newer], "the messages after the deletion")
            try await expectEqual(
                store.everyChange(after: before).map(\.agentId), ["a", "c"], "the agents in the feed of changes")
            try await expectEqual(store.delete([read, changed], in: id), [], "the messages deleted again")
            try await expectEqual(
                store.delete([other], in: Scope.plain.session("other").session), [],
                "the messages deleted from another session")
        },
        HistoryStoreCheck(
            "deletion.ofSession",
            "A deleted session is removed everywhere; deleting it again returns false."
        ) { store in
            try await Self.fill(store)
            let session = Scope.plain.session
            try await expectEqual(store.deleteSession(session), true, "the result of deleteSession")
            try await expectEqual(store.deleteSession(session), false, "the result of a second deleteSession")
            try await expectGone(Scope.plain, in: store)
            try await expectEqual(store.found("m1"), ["m1", "m1"], "search hits, all from other sessions")
            try await expectUntouched(Scope.plain.session("other"), in: store)
        },
        HistoryStoreCheck(
            "deletion.ofUser", rule: 1,
            "A deleted user's history is removed everywhere; the histories of other users are unchanged."
        ) { store in
            try await Self.fill(store)
            let other = Scope.plain.user("other")
            try await store.append(Self.messages(in: other), to: other)
            try await store.deleteUser("user")
            for session in ["session", "other", "third"] {
                try await expectGone(Scope.plain.session(session), in: store)
            }
            try await expectEqual(store.found("text"), [], "a search of the deleted user")
            try await expectEqual(store.everySession(of: "user"), [], "the sessions of the deleted user")
            try await expectUntouched(other, in: store)
            try await expectEqual(store.found("m1", of: "other"), ["m1"], "a search of the other user")
        },
        HistoryStoreCheck(
            "deletion.ofAttachments", "An attachment is deleted with the last message referring to it, and not before."
        ) { store in
            let bytes = Data((0..<2000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
            let part = ContentPart.attachment(Attachment(mediaType: "image/png", content: .inline(bytes)))
            for scope in [Scope.plain, Scope.plain.session("other"), Scope.plain.user("other")] {
                try await store.append([ConversationMessage(id: "m", role: .user, parts: [part])], to: scope)
            }
            let hash = Attachment.sha256(of: bytes)
            try await store.deleteMessages(["m"], in: Scope.plain.session)
            func expectBytes(of user: String, _ what: String) async throws {
                try await expectEqual(store.attachment(sha256: hash, userId: user), bytes, what)
            }
            func expectNone(of user: String, _ what: String) async throws {
                try await expectError(.notFound, what) { _ = try await store.attachment(sha256: hash, userId: user) }
            }
            try await store.deleteMessages(["m"], in: Scope.plain.session)
            try await expectBytes(of: "user", "the bytes after one of two deletions")
            try await store.deleteSession(Scope.plain.session("other").session)
            try await expectNone(of: "user", "the bytes after the user's last deletion")
            try await expectBytes(of: "other", "the bytes of the other user")
            try await store.deleteUser("other")
            try await expectNone(of: "other", "the bytes after the deletion of the other user")
        },
        HistoryStoreCheck(
            "deletion.sessionCanBeReused", "A session ID used again after its deletion has only the new messages."
        ) { store in
            try await Self.fill(store)
            try await store.deleteSession(Scope.plain.session)
            let new = [SampleData.message(.user, "m0", "fresh"), SampleData.message(.assistant, "n")]
            try await store.append(new, to: .plain)
            try await expectMessages(store.window(of: .plain, maxMessages: nil), new, "the window")
            try await expectEqual(store.session(Scope.plain.session)?.messageCount, 2, "the message count")
            try await expectEqual(store.session(Scope.plain.session)?.preview, "fresh", "the preview")
            try await expectEqual(store.found("fresh"), ["m0"], "a search for the new message")
        },
    ]

    /// Returns messages with the same IDs in every scope, and different text.
    private static func messages(in scope: Scope) -> [ConversationMessage] {
        SampleData.dialogue(4).map { $0.mappingText { "\($0) in \(scope.sessionId) of \(scope.userId)" } }
    }

    /// Saves messages in three sessions.
    private static func fill(_ store: any HistoryStore) async throws {
        for session in ["session", "other", "third"] {
            let scope = Scope.plain.session(session)
            try await store.append(messages(in: scope), to: scope)
        }
    }

    private static func expectGone(_ scope: Scope, in store: any HistoryStore) async throws {
        try await expectMessages(store.window(of: scope, maxMessages: nil), [], "the window of \(scope.shown)")
        try await expectEqual(store.windows(of: scope.session).count, 0, "the number of windows of \(scope.shown)")
        try await expectEqual(store.everything(in: scope.session), [], "the pages of \(scope.shown)")
        try await expectEqual(store.message("m0", in: scope.session), nil, "a message of \(scope.shown)")
        try await expectEqual(store.session(scope.session), nil, "the summary of \(scope.shown)")
    }

    private static func expectUntouched(_ scope: Scope, in store: any HistoryStore) async throws {
        try await expectMessages(
            store.window(of: scope, maxMessages: nil), messages(in: scope), "the window of \(scope.shown)")
        try await expectMessages(
            store.everything(in: scope.session).map(\.message), messages(in: scope), "the pages of \(scope.shown)")
        try await expectEqual(store.session(scope.session)?.messageCount, 4, "the message count of \(scope.shown)")
    }
}
