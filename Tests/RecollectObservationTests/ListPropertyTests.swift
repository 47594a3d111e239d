import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectObservation

@Suite("Session lists compared with fresh queries", .timeLimit(.minutes(10))) @MainActor struct ListPropertyTests {
    @Test("Sorting and filtering in memory match the database, including unusual titles and IDs")
    func orderOfTheDatabase() async throws {
        let history = memory()
        let titles = [
            "b", "B", "a\u{0}b", "a\u{0}z", "a", "A", "é", "e\u{301}", "_", "Z", "[", "", "日本", "ab", "aB", "a\u{0}",
        ]
        for (number, title) in titles.enumerated() {
            let id = key(number.isMultiple(of: 2) ? "x\(number)" : "e\u{301}\(number)")
            try await history.say("text", in: id.sessionId, hoursAgo: Double(number / 4))
            try await history.update(id, with: SessionDetails(title: title, isPinned: number.isMultiple(of: 3)))
        }
        for order in SessionQuery.Order.allCases {
            for isReversed in [false, true] {
                let query = SessionQuery(userId: "ann", order: order, isReversed: isReversed)
                let page = try await history.sessions(query, page: PageRequest(limit: .max)).elements
                #expect(page.count == titles.count)
                for (left, right) in zip(page, page.dropFirst()) {
                    #expect(query.isInOrder(query.cursor(of: left), query.cursor(of: right)), "\(order) \(isReversed)")
                    #expect(!query.isInOrder(query.cursor(of: right), query.cursor(of: left)), "\(order) \(isReversed)")
                }
                var pinned = query
                pinned.isPinned = true
                let found = try await history.sessions(pinned, page: PageRequest(limit: .max)).elements
                #expect(found == page.filter(pinned.includes))
            }
        }
    }

    /// The list is paged, sorted and filtered in the meantime; the fresh query has the list's length.
    @Test("While two writers change sessions, a list in use shows the same as a fresh query")
    func twoWriters() async {
        await Seeds.run(6) { seed in
            var generator = SeededGenerator(seed: seed)
            let folder = try TemporaryFolder()
            let stores = [folder.history(), folder.history()]
            try await stores[0].fill(40)
            let list = await SessionList(
                stores[0], pageSize: Int.random(in: 2...6, using: &generator), spacing: .milliseconds(1)
            ).started()
            for phase in 0..<5 {
                let writers = stores.map { store in
                    let seed = generator.next()
                    return Task {
                        var generator = SeededGenerator(seed: seed)
                        for _ in 0..<20 { try await Operation.perform(on: store, using: &generator) }
                    }
                }
                for _ in 0..<5 { await use(list, &generator) }
                for writer in writers { try await writer.value }
                try await list.waitForUpdates()
                // The list may still be marking the selected session as read.
                try await list.writes.run {}
                try await list.waitForUpdates()
                try await expectFresh(list, stores[1], "phase \(phase)")
            }
        }
    }

    /// Performs a random action of a view.
    private func use(_ list: SessionList, _ generator: inout SeededGenerator) async {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3: await list.loadMore()
        case 3, 4: list.query = Self.query(&generator)
        case 5: list.selection = list.sessions.randomElement(using: &generator)?.id
        case 6:
            if let id = list.sessions.randomElement(using: &generator)?.id { await list.discard(id) }
        case 7: await list.undoDiscard()
        case 8:
            if let id = list.sessions.randomElement(using: &generator)?.id { await list.setPinned(true, of: id) }
        default: await Task.yield()
        }
        // An action on a session that a writer has deleted sets an error.
        list.error = nil
    }

    private static func query(_ generator: inout SeededGenerator) -> SessionQuery {
        SessionQuery(
            userId: "ann", order: SessionQuery.Order.allCases.randomElement(using: &generator) ?? .title,
            isReversed: .random(using: &generator), tags: Bool.random(using: &generator) ? [] : ["t"],
            agentId: [nil, nil, "a", "b"].randomElement(using: &generator) ?? nil,
            from: [nil, nil, noon - 36_000].randomElement(using: &generator) ?? nil,
            isArchived: [nil, false, false, true].randomElement(using: &generator) ?? nil,
            isUnread: [nil, nil, nil, true].randomElement(using: &generator) ?? nil)
    }

    private func expectFresh(_ list: SessionList, _ history: any HistoryStore, _ where: String) async throws {
        await until { !list.isLoading }
        #expect(list.isRunning && list.error == nil, "\(`where`): \(String(describing: list.error))")
        var query = list.query
        query.isPinned = true
        let pinned = try await history.sessions(query, page: PageRequest(limit: .max)).elements
        query.isPinned = false
        let count = list.sessions.count - pinned.count
        let others =
            count > 0 ? try await history.sessions(query, page: PageRequest(limit: count)) : nil
        let expected = pinned + (others?.elements ?? [])
        #expect(list.names == expected.map(\.id.sessionId), "\(`where`)")
        for (shown, fresh) in zip(list.sessions, expected) where shown != fresh {
            Issue.record("\(`where`): the list shows \(shown), a fresh query returns \(fresh)")
        }
        if !list.hasMore {
            let all = try await history.sessions(query, page: PageRequest(limit: .max)).elements
            #expect(all.count == count, "\(`where`): hasMore is false, but there are more sessions")
        }
        let sections = SessionSection.sections(
            of: list.sessions, by: query.order, at: noon, calendar: utc)
        #expect(list.sections.map(\.kind) == sections.map(\.kind), "\(`where`)")
        #expect(list.sections.flatMap(\.sessions) == list.sessions, "\(`where`)")
        if let selection = list.selection {
            let selected = try await history.session(selection)
            #expect(selected != nil && selected?.discardedAt == nil, "\(`where`)")
        }
    }
}

/// A random change of one of fifty sessions.
private enum Operation {
    static func perform(on history: any HistoryStore, using generator: inout SeededGenerator) async throws {
        let id = key(name(Int.random(in: 0..<50, using: &generator)))
        let flag = Bool.random(using: &generator)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0..<4:
            try await history.say(
                "talk", in: id.sessionId, hoursAgo: Double.random(in: -20...40, using: &generator).rounded(),
                by: flag ? "a" : "b")
        case 4: try await history.update(id, with: SessionDetails(isPinned: flag))
        case 5: try await history.update(id, with: SessionDetails(isArchived: flag))
        case 6: try await history.update(id, with: SessionDetails(title: flag ? "Title" : "an other"))
        case 7: try await history.update(id, with: SessionDetails(isRead: flag))
        case 8:
            try await history.update(
                id, with: SessionDetails(addedTags: flag ? ["t", "u"] : [], removedTags: flag ? [] : ["t"]))
        case 9: try await history.discardSession(id)
        case 10: try await history.restoreSession(id)
        case 11: try await history.deleteSession(id)
        case 12:
            try await history.moveSession(id, to: name(Int.random(in: 0..<50, using: &generator)))
        default: try await changeMessages(of: id, on: history, flag)
        }
    }

    private static func changeMessages(
        of id: SessionKey, on history: any HistoryStore, _ deletes: Bool
    ) async throws {
        let page = try await history.messages(of: id, agentId: nil, page: PageRequest(limit: 1, before: nil))
        guard let last = page.elements.last?.message else { return }
        do {
            if deletes {
                try await history.deleteMessages([last.id], in: id)
            } else {
                _ = try await history.branch(id, from: last.id)
            }
        } catch let error as RecollectError where error.code == .notFound {
            // The other writer has deleted or branched the message first.
        }
    }
}
