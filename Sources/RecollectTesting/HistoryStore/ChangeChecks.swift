import Foundation
import RecollectCore

/// Checks of the change feed: it omits no change, and every cursor stays valid.
enum ChangeChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "changes.includeEveryMessageOnce",
            "From any cursor and with pages of any size, the feed returns every later message once, in order."
        ) { store in
            try await store.append(SampleData.dialogue(6), to: .plain)
            try await store.append(SampleData.dialogue(3, "b"), to: Scope.plain.agent("b").session("s").user("u"))
            let all = try await store.everyChange(after: .beginning)
            try expectEqual(all.map(\.kind), Array(repeating: .messageAdded, count: 9), "the kinds of the changes")
            try expectEqual(all.map(\.messageId), (0..<6).map { "m\($0)" } + ["b0", "b1", "b2"], "the message IDs")
            try expectEqual(
                all.last?.session, SessionKey(userId: "u", sessionId: "s"), "the session of the last change")
            try expectEqual(all.last?.agentId, "b", "the agent of the last change")
            try expect(
                zip(all, all.dropFirst()).allSatisfy { $0.cursor < $1.cursor }, "ascending cursors",
                actual: "\(all.map(\.cursor))")
            try await expectEqual(store.latestChangeCursor(), all.last?.cursor ?? .beginning, "latestChangeCursor()")
            for (index, change) in all.enumerated() {
                for limit in [1, 2, 4, 100] {
                    let rest = try await store.everyChange(after: change.cursor, limit: limit)
                    try expectEqual(
                        rest, Array(all[(index + 1)...]), "changes after change \(index) in pages of \(limit)")
                }
            }
        },
        HistoryStoreCheck(
            "changes.includeDeletions",
            "The feed reports deletions and new details; for a deleted message it reports only the deletion."
        ) { store in
            try await store.append(SampleData.dialogue(3), to: .plain)
            let before = try await store.latestChangeCursor()
            try await store.deleteMessages(["m1"], in: Scope.plain.session)
            try await store.update(Scope.plain.session, with: SessionDetails(title: "t"))
            let after = try await store.everyChange(after: before)
            try expectEqual(
                after.map(\.kind), [.messageDeleted, .sessionUpdated],
                "the kinds of changes after a deletion and a title")
            try expectEqual(after.first?.messageId, "m1", "the ID of the deleted message")
            let all = try await store.everyChange(after: .beginning)
            let m1 = all.filter { $0.messageId == "m1" }.map(\.kind)
            try expectEqual(m1, [.messageDeleted], "the kinds of changes of the deleted message")
            try await store.append(SampleData.dialogue(1), to: Scope.plain.session("other"))
            let added = try await store.latestChangeCursor()
            try await store.deleteSession(Scope.plain.session)
            let deleted = try await store.everyChange(after: added)
            try expectEqual(
                deleted.map(\.kind), [.sessionDeleted], "the kinds of changes after the deletion of a session")
            try expectEqual(deleted.first?.session, Scope.plain.session, "the deleted session")
            let last = try await store.latestChangeCursor()
            try await store.deleteUser("user")
            try await expectEqual(
                store.everyChange(after: last).map(\.kind), [.userDeleted],
                "the kinds of changes after the deletion of a user")
            let kinds = Set(try await store.everyChange(after: .beginning).map(\.kind))
            try expect(
                !kinds.contains(.messageAdded), "no message of the deleted user", actual: "\(kinds.map(\.rawValue))")
        },
        HistoryStoreCheck(
            "changes.includeMessagePosition",
            "All changes of a message have the position where it was added; another message with its ID has a new one."
        ) { store in
            func position() async throws -> ChangeCursor? {
                try await store.message("m0", in: Scope.plain.session, agentId: nil)?.additionCursor
            }
            try await store.append(SampleData.dialogue(1), to: .plain)
            let added = try await store.latestChangeCursor()
            try await expectEqual(position(), added, "the position of a message")
            let listed = try await store.everything(in: Scope.plain.session)
            try expectEqual(listed.map(\.additionCursor), [added], "the positions of the listed messages")
            try await store.edit([ConversationMessage(id: "m0", role: .user, text: "edited")], in: Scope.plain.session)
            try await expectEqual(position(), added, "the position of an edited message")
            try await store.deleteMessages(["m0"], in: Scope.plain.session)
            try await store.append(SampleData.dialogue(1), to: .plain)
            let next = try await position()
            try expect(next != nil && next != added, "a new position for a new message", actual: "\(next as Any)")
            try await store.deleteMessages(["m0"], in: Scope.plain.session)
            let deletions = try await store.everyChange(after: .beginning).filter { $0.kind == .messageDeleted }
            try expectEqual(deletions.map(\.additionCursor), [added, next], "the positions of the deleted messages")
            let changes = try await store.everyChange(after: added).filter { $0.messageId == "m0" }
            try expect(
                changes.allSatisfy { [added, next].contains($0.additionCursor) },
                "only these two positions in all changes",
                actual: "\(changes)")
        },
        HistoryStoreCheck(
            "changes.includeOnlyActualChanges", rule: 4,
            "Calls without an effect, such as a retry, add nothing to the feed."
        ) { store in
            try await store.append(SampleData.dialogue(2), to: .plain)
            let before = try await store.latestChangeCursor()
            try await store.append(SampleData.dialogue(2), to: .plain)
            try await store.deleteMessages(["unknown"], in: Scope.plain.session)
            try await store.deleteSession(Scope.plain.session("unknown").session)
            try await expectEqual(
                store.everyChange(after: before).map(\.kind), [], "changes after calls without an effect")
        },
        HistoryStoreCheck(
            "changes.streamYieldsNewChanges",
            "The stream yields existing changes, then new ones of several writers, each once.",
            needs: .concurrent
        ) { store in
            try await store.append(SampleData.dialogue(4, "early "), to: .plain)
            let start = try await store.everyChange(after: .beginning)[1].cursor
            let late = (0..<16).flatMap { task in (0..<4).map { "\(task).\($0)" } }
            try await expectChange(["early 2", "early 3"], then: late, by: store.changes(after: start)) {
                try await together(16) { task in
                    for id in (0..<4).map({ "\(task).\($0)" }) {
                        try await store.append([SampleData.result(id, of: id)], to: Scope.plain.agent("\(task)"))
                    }
                }
            }
        },
        HistoryStoreCheck(
            "changes.includeOtherInstances", "The stream yields the changes of another instance at the same location.",
            needs: [.persistent, .sharesLocation],
            trial: { trial in
                let (reader, writer) = (try await trial.open(), try await trial.open())
                let start = try await reader.latestChangeCursor()
                try await reader.append(SampleData.dialogue(1), to: .plain)
                try await expectChange(["m0"], then: ["m1", "m2"], by: reader.changes(after: start)) {
                    try await writer.append(SampleData.dialogue(2, from: 1), to: .plain)
                }
            }),
    ]
}

/// Throws unless a change stream yields the present changes (`early`), and then, after `work`, exactly those of
/// `work` in any order.
///
/// A silent stream fails the check after about ten seconds.
func expectChange(
    _ early: [String], then late: [String], by stream: AsyncThrowingStream<HistoryChange, any Error>,
    _ work: @escaping @Sendable () async throws -> Void
) async throws {
    let reported = Locked<[String]>([])
    let (isUpToDate, continuation) = AsyncStream<Void>.makeStream()
    try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
            for try await change in stream {
                let count = reported.withLock { reported in
                    reported.append(change.messageId ?? change.kind.rawValue)
                    return reported.count
                }
                if count == early.count { continuation.finish() }
                if count == early.count + late.count { break }
            }
            return true
        }
        group.addTask {
            // Sleep in short steps: on a busy machine they are delayed as much as the stream is.
            for _ in 0..<100 { try await Task.sleep(for: .milliseconds(100)) }
            return true
        }
        group.addTask {
            for await _ in isUpToDate {}
            try await work()
            return false
        }
        while let isOver = try await group.next(), !isOver {}
        group.cancelAll()
    }
    try expectEqual(
        reported.withLock { $0.sorted() }, (early + late).sorted(), "messages yielded by the stream, sorted")
}
