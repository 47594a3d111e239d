import Foundation
import RecollectCore

/// Checks of sessions, their dates and their list.
enum SessionListChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "sessions.unknownIsNil",
            "An unknown session is nil; touching, deleting or renaming it succeeds and creates no session."
        ) { store in
            try await expectEqual(store.listedIDs(), [], "the list of a new store")
            for id in ["unknown", ""] {
                try await store.deleteSession(id: id)
                try await store.updateSessionId(oldId: id, newId: "other")
                try await store.updateLastAccessed(id: id)
            }
            for id in ["unknown", "", "other"] {
                let session = try await store.getSession(id: id)
                try expect(
                    session == nil, "nil for session \(id.debugDescription)", actual: "\(session.debugDescription)")
            }
            try await expectEqual(store.listedIDs(), [], "the list after calls for unknown sessions")
            try await store.deleteAllSessions()
        },
        SessionStorageCheck(
            "sessions.keepFirstMessage",
            "A session keeps its first message of any length, regardless of later saves."
        ) { store in
            let texts = [
                "Hello, Claude!", "", "e\u{301} \u{E9} 👩‍👩‍👧‍👦 日本語\r\n", String(repeating: "long and 長い ", count: 500),
            ]
            for (number, text) in texts.enumerated() {
                try await store.saveSession(id: "s\(number)", firstMessage: text)
                try await expectFirst(text, of: "s\(number)", in: store)
            }
            for number in [0, 2, 3] {
                try await store.saveSession(id: "s\(number)", firstMessage: "another")
                try await store.updateSessionMessages(id: "s\(number)", messages: SampleData.transcript(2))
                try await store.updateLastAccessed(id: "s\(number)")
                try await expectFirst(texts[number], of: "s\(number)", in: store)
            }
        },
        SessionStorageCheck(
            "sessions.keepCreationDate",
            "createdAt is the date of the first save and never changes; later saves update lastAccessedAt."
        ) { store in
            let before = Date()
            try await store.saveSession(id: "s", firstMessage: "one")
            let made = try await store.session("s")
            try expectDate(made.createdAt, since: before, "createdAt")
            try expectDate(made.lastAccessedAt, since: before, "lastAccessedAt")
            waitForNextMillisecond()
            let again = Date()
            try await store.saveSession(id: "s", firstMessage: "two")
            let opened = try await store.session("s")
            try expectEqual(opened.createdAt, made.createdAt, "createdAt after a second save")
            try expectDate(opened.lastAccessedAt, since: again, "lastAccessedAt after a second save")
            try await expectEqual(store.listedIDs(), ["s"], "the list after a second save")
        },
        SessionStorageCheck(
            "sessions.touchUpdatesLastAccess", "updateLastAccessed sets lastAccessedAt to now and changes nothing else."
        ) { store in
            try await store.fill("s", SampleData.transcript(3))
            let before = try await store.session("s")
            waitForNextMillisecond()
            let date = Date()
            try await store.updateLastAccessed(id: "s")
            let after = try await store.session("s")
            try expectDate(after.lastAccessedAt, since: date, "lastAccessedAt")
            var expected = before
            expected.lastAccessedAt = after.lastAccessedAt
            try expectEqual(after, expected, "the session except for lastAccessedAt")
        },
        SessionStorageCheck(
            "sessions.savingTranscriptUpdatesLastAccess", "updateSessionMessages sets lastAccessedAt to now."
        ) { store in
            try await store.fill("s", SampleData.transcript(1))
            for count in [2, 3, 1] {
                waitForNextMillisecond()
                let date = Date()
                try await store.updateSessionMessages(id: "s", messages: SampleData.transcript(count))
                try await expectDate(store.session("s").lastAccessedAt, since: date, "lastAccessedAt")
            }
        },
        SessionStorageCheck(
            "sessions.mostRecentlyAccessedFirst",
            "The list is sorted by last access to the millisecond, most recent first."
        ) { store in
            var order: [String] = []
            for id in ["c", "a", "d", "b"] {
                try await store.saveSession(id: id, firstMessage: id)
                order.insert(id, at: 0)
                waitForNextMillisecond()
            }
            try await expectEqual(store.listedIDs(), order, "the list after four saves")
            for (step, id) in ["a", "c", "a", "b", "d", "c", "b", "a", "d"].enumerated() {
                switch step % 3 {
                case 0: try await store.updateLastAccessed(id: id)
                case 1: try await store.updateSessionMessages(id: id, messages: SampleData.transcript(step))
                default: try await store.saveSession(id: id, firstMessage: "again")
                }
                waitForNextMillisecond()
                order.removeAll { $0 == id }
                order.insert(id, at: 0)
                let listed = try await store.getAllSessions()
                try expectEqual(listed.map(\.id), order, "the list after step \(step)")
                let dates = listed.map(\.lastAccessedAt)
                try expect(
                    zip(dates, dates.dropFirst()).allSatisfy { $0 > $1 }, "descending dates of last access",
                    actual: "\(dates.map(\.millisecondsSince1970))")
            }
            for (first, second) in [("a", "b"), ("b", "a")] {
                try await Self.expectOrderWithinASecond(first, second, in: store)
            }
        },
        SessionStorageCheck(
            "sessions.listMatchesGetSession",
            "A listed session is equal to the result of getSession, including its messages."
        ) { store in
            for count in [0, 1, 7] { try await store.fill("s\(count)", SampleData.transcript(count, "s\(count).")) }
            for listed in try await store.getAllSessions() {
                let got = try await store.session(listed.id)
                try await expectTranscript(messages(of: listed), got.messages, "messages of \(listed.id) in the list")
                var withMessages = listed
                withMessages.messages = got.messages
                try expectEqual(withMessages, got, "session \(listed.id) in the list")
            }
        },
    ]

    /// Touches two sessions until both touches fall into one second, and expects the list in the order of the
    /// touches each time.
    ///
    /// On a busy machine this takes several attempts.
    private static func expectOrderWithinASecond(
        _ first: String, _ second: String, in store: any SessionStorageProtocol & Sendable
    ) async throws {
        for _ in 0..<100 {
            let start = Date()
            try await store.updateLastAccessed(id: first)
            waitForNextMillisecond()
            try await store.updateLastAccessed(id: second)
            let end = Date()
            try await expectEqual(store.listedIDs().prefix(2), [second, first], "the two sessions touched last")
            if Int(start.timeIntervalSince1970) == Int(end.timeIntervalSince1970) { return }
        }
    }

    private static func expectFirst(
        _ text: String, of id: String, in store: any SessionStorageProtocol & Sendable
    ) async throws {
        let came = [try await store.session(id)] + (try await store.getAllSessions()).filter { $0.id == id }
        try expectEqual(came.count, 2, "the number of results with the session")
        for session in came {
            try expect(
                session.firstUserMessage.hasSameBytes(as: text),
                "the first message \(text.prefix(60).debugDescription)",
                actual:
                    "\(session.firstUserMessage.prefix(60).debugDescription) of \(session.firstUserMessage.utf8.count) bytes"
            )
        }
    }

    /// Throws unless a date is between `earlier` and now, for any rounding to milliseconds by a storage.
    private static func expectDate(_ date: Date, since earlier: Date, _ what: String) throws {
        let (came, from, to) = (
            date.millisecondsSince1970, earlier.millisecondsSince1970, Date().millisecondsSince1970
        )
        try expect(((from - 1)...(to + 1)).contains(came), "\(what) between \(from) and \(to)", actual: "\(came)")
    }
}
