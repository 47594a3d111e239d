import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectObservation

@Suite("Search in a session list", .timeLimit(.minutes(10))) @MainActor struct ListSearchTests {
    private let base = memory()
    private let history: WatchedHistory
    private let clock = ManualClock()

    init() async throws {
        history = WatchedHistory(base)
        try await base.say("The lamp follows the sun", in: "lamp", hoursAgo: 1)
        try await base.say("Why the tide tables peak", in: "tide", hoursAgo: 2)
        try await base.say("and the lamp of the harbour", in: "tide", hoursAgo: 2)
        try await base.say("a lamp put away", in: "old", hoursAgo: 3)
        try await base.update(key("old"), with: SessionDetails(isArchived: true))
    }

    private func started(pageSize: Int = 50) async -> SessionList {
        await SessionList(history, pageSize: pageSize, clock: clock).started()
    }

    /// Advances the clock by the typing delay, so that the search starts.
    private func pause() async {
        await clock.wait { $0.contains(.milliseconds(200)) }
        clock.advance(by: .milliseconds(200))
    }

    @Test("A search finds sessions and messages within the list's query, each message with its session")
    func finds() async throws {
        let list = await started()
        list.searchText = "lamp"
        #expect(list.isSearching && list.results == nil)
        await pause()
        await until { !list.isSearching }
        let results = try #require(list.results)
        #expect(results.text == "lamp")
        #expect(results.sessions.map(\.id.sessionId) == ["lamp", "tide"])
        #expect(Set(results.messages.map(\.session.id.sessionId)) == ["lamp", "tide"])
        #expect(results.messages.allSatisfy { $0.hit.snippet.marked().contains("«lamp»") })
        #expect(list.names == ["lamp", "tide"])
        list.query.isArchived = true
        await until { list.results?.sessions.map(\.id.sessionId) == ["old"] }
        list.searchText = " "
        #expect(list.results == nil && !list.isSearching)
    }

    @Test("Typing quickly starts a single search")
    func debounces() async throws {
        let list = await started()
        _ = history.takeReads()
        for text in ["l", "la", "lam", "lamp"] {
            list.searchText = text
            await clock.wait { $0.contains(.milliseconds(200)) }
            clock.advance(by: .milliseconds(150))
        }
        clock.advance(by: .milliseconds(50))
        await until { list.results != nil }
        #expect(list.results?.text == "lamp")
        #expect(history.takeReads().compactMap { if case .list(let text) = $0 { text } else { nil } } == ["lamp"])
    }

    @Test("Late results replace neither newer results nor a cleared search")
    func latestWins() async throws {
        let list = await started()
        for last in ["tide", ""] {
            history.hold(.list(text: "lamp"))
            list.searchText = "lamp"
            await pause()
            await history.waitForHeld(.list(text: "lamp"))
            let late = list.searching
            list.searchText = last
            if !last.isEmpty {
                await pause()
                await until { list.results != nil }
            }
            history.letGo(.list(text: "lamp"))
            await late?.value
            #expect(list.results?.text == (last.isEmpty ? nil : last))
            #expect(list.results?.sessions.map(\.id.sessionId) == (last.isEmpty ? nil : ["tide"]))
        }
        #expect(list.results == nil && list.error == nil)
    }

    @Test("During a search, new messages are added to the results, and deleted sessions disappear at once")
    func follows() async throws {
        let list = await started()
        list.searchText = "lamp"
        await pause()
        await until { list.results != nil }
        try await base.say("another lamp", in: "third")
        await until { list.results?.sessions.map(\.id.sessionId) == ["third", "lamp", "tide"] }
        list.selection = key("lamp")
        await list.delete(key("lamp"))
        #expect(list.results?.sessions.map(\.id.sessionId) == ["third", "tide"])
        #expect(list.results?.messages.contains { $0.session.id.sessionId == "lamp" } == false)
        // A neighbor; the choice depends on whether the search was repeated first.
        #expect(list.selection == key("tide") || list.selection == key("third"))
    }

    @Test("Search results load in pages")
    func pages() async throws {
        for number in 0..<30 { try await base.say("lamp \(number)", in: "n\(number)", hoursAgo: 10) }
        let list = await started(pageSize: 20)
        list.searchText = "lamp"
        await pause()
        await until { list.results != nil }
        #expect(list.results?.sessions.count == 20 && list.results?.hasMore == true)
        #expect(list.results?.hasMoreMessages == true)
        await list.loadMore()
        #expect(list.results?.sessions.count == 32 && list.results?.hasMore == false)
        await list.loadMoreMessages()
        #expect(Set(list.results?.messages.map(\.id) ?? []).count == 32)
        #expect(list.results?.messages.count == 32 && list.results?.hasMoreMessages == false)
        #expect(list.names.count == 20)
    }
}
