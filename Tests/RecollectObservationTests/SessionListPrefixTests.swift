import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectObservation

@Suite("Loaded prefix of a session list") struct SessionListPrefixTests {
    private let history = memory()
    private var query: SessionQuery { SessionQuery(userId: "ann") }

    private func names(_ window: SessionListPrefix) -> [String] {
        window.sessions.map(\.id.sessionId)
    }

    /// The session, with its last activity at the given number of hours before noon.
    private func moved(_ number: Int, to hours: Double) async throws -> Session? {
        var session = try await history.session(key(name(number)))
        session?.lastActivityAt = noon - hours * 3600
        return session
    }

    @Test("Sessions sorted before the end join the prefix, sessions after it leave, and the end stays")
    func end() async throws {
        try await history.fill(6)
        var window = SessionListPrefix(query)
        #expect(!window.hasMore)
        window.put(key(name(0)), try await moved(0, to: 0))
        #expect(names(window) == [])
        window = try await window.readingOn(limit: 3, from: history)
        #expect(names(window) == [0, 1, 2].map(name) && window.hasMore)
        window.put(key(name(5)), try await moved(5, to: 0.5))
        #expect(names(window) == [0, 5, 1, 2].map(name))
        window.put(key(name(1)), try await moved(1, to: 2.5))
        #expect(names(window) == [0, 5, 2].map(name))
        window.put(key(name(2)), try await moved(2, to: 7))
        window.put(key(name(4)), try await moved(4, to: 2))
        #expect(names(window) == [0, 5, 4].map(name), "a session with the end's date is in the prefix")
        window.put(key(name(0)), nil)
        #expect(names(window) == [5, 4].map(name))
    }

    @Test("A page includes sessions moved into its range, and a fully loaded list includes any session")
    func pages() async throws {
        try await history.fill(4)
        let first = try await SessionListPrefix(query).readingOn(limit: 2, from: history)
        try await history.say("old", in: name(0), hoursAgo: 24)
        let newer = try await history.messages(of: key(name(0)), agentId: nil, page: PageRequest(limit: 1))
        try await history.deleteMessages(newer.elements.map(\.message.id), in: key(name(0)))
        var all = try await first.readingOn(limit: 10, from: history)
        let fresh = try await SessionListPrefix(query).readingOn(limit: 10, from: history)
        #expect(names(all) == [1, 2, 3, 0].map(name) && all == fresh && !all.hasMore)
        all.put(key(name(3)), try await moved(3, to: 1000))
        #expect(names(all).last == name(3))
    }
}
