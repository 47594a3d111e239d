import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Two windows change the same parts of a message.
@Suite("Changes of a part by two windows") struct PartChangesTests {
    private let history = memory()
    private static let session = SessionKey(userId: "ann", sessionId: "s")
    private static let call = ContentPart.toolCall(id: "c", name: "weather", arguments: ["city": "Bergen"])

    private func window() -> SQLiteSessionStorage {
        SQLiteSessionStorage(history: history, userId: "ann", agentId: "a")
    }

    private func entries() async throws -> [ChatMessage] {
        try #require(try await window().getSession(id: "s")).messages
    }

    private func save(_ messages: [ChatMessage], by window: SQLiteSessionStorage) async throws {
        try await window.updateSessionMessages(id: "s", messages: messages)
    }

    /// Saves a message as an agent, and returns the message with two windows that have read it, and its entries.
    private func shown(
        _ parts: [ContentPart], id: String = UUID().uuidString
    ) async throws -> (ConversationMessage, [SQLiteSessionStorage], [ChatMessage]) {
        let message = ConversationMessage(id: id, role: .assistant, parts: parts)
        try await history.append([message], to: Self.session.scope(agentId: "a"))
        let windows = [window(), window()]
        for window in windows { _ = try await window.getSession(id: "s") }
        return (message, windows, try await entries())
    }

    /// Makes a window know its session only by hashes.
    private func compact(_ window: SQLiteSessionStorage) async throws {
        for number in 0...KnownTranscripts.limit {
            try await window.updateSessionMessages(id: "other \(number)", messages: [])
        }
    }

    /// Checks that no two messages have one ID: then the history can be checked and migrated.
    private func checkIDs() async throws {
        #expect(try await history.check().problems.isEmpty)
        let copy = memory()
        _ = try await history.migrate(user: "ann", to: copy) { _ in }
        let copied = try #require(
            try await SQLiteSessionStorage(history: copy, userId: "ann").getSession(id: "s")
        ).messages
        #expect(try await copied.map(\.content) == entries().map(\.content))
    }

    private func text(_ contents: [ChatMessage]) -> [String] {
        contents.map { $0.messageType == .toolUse ? $0.toolName ?? "" : $0.content }
    }

    // MARK: Undone deletions

    private static let undone: [(part: ContentPart, isAppended: Bool)] = [
        (call, false), (.toolResult(id: "c", content: ""), false), (call, true),
    ]

    @Test("A deleted entry without text is saved again when its window undoes the deletion", arguments: undone.indices)
    func undoneWithoutText(index: Int) async throws {
        let (part, isAppended) = Self.undone[index]
        let answer = ContentPart.text("It is cold.")
        var (message, windows, shown) = try await shown(isAppended ? [part] : [part, answer])
        if isAppended {
            // The call was shown alone, and has the ID of the message.
            message.parts.append(answer)
            _ = try await history.edit([message], in: Self.session)
            shown.append(try await entries()[1])
        }
        try await save([shown[1]], by: windows[0])
        #expect(try await entries().map(\.content) == ["It is cold."])
        try await save(shown, by: windows[0])
        let saved = try await entries()
        #expect(Set(saved.map(\.messageType)) == Set(shown.map(\.messageType)))
        #expect(saved.first { $0.messageType == .toolUse }?.toolInputData == shown[0].toolInputData)
        #expect(saved.map(\.content).sorted() == ["", "It is cold."])
        try await checkIDs()
    }

    @Test("A window edits a part that another window has deleted and undone", arguments: [false, true])
    func editedAfterUndo(isCompact: Bool) async throws {
        var (_, windows, shown) = try await shown([.text("one"), Self.call, .text("two")])
        try await save(Array(shown.prefix(2)), by: windows[0])
        try await save(shown, by: windows[0])
        if isCompact { try await compact(windows[1]) }
        for edit in ["two, edited", "two, edited again"] {
            shown[2].content = edit
            try await save(shown, by: windows[1])
            #expect(try await text(entries()) == ["one", "weather", edit])
        }
        try await checkIDs()
        try await save(Array(shown.prefix(2)), by: windows[1])
        #expect(try await text(entries()) == ["one", "weather"])
    }

    @Test("A part deleted and undone by two windows is saved once", arguments: [false, true], [false, true])
    func undoneByBoth(isOverlapping: Bool, isCompact: Bool) async throws {
        let (_, windows, shown) = try await shown([.text("one"), Self.call, .text("two")])
        let rest = Array(shown.prefix(2))
        let steps =
            isOverlapping
            ? [(0, rest), (1, rest), (0, shown), (1, shown)]
            : [
                (0, rest), (0, shown), (1, rest), (1, shown),
            ]
        for (index, transcript) in steps {
            if isCompact { try await compact(windows[index]) }
            try await save(transcript, by: windows[index])
        }
        #expect(try await text(entries()) == ["one", "weather", "two"])
        try await checkIDs()
        try await save(rest, by: windows[1])
        #expect(try await text(entries()) == ["one", "weather"])
    }

    @Test("Of two edits of a part that an agent has removed, the later one is saved", arguments: [false, true])
    func editedAfterRemoval(isCompact: Bool) async throws {
        var (message, windows, shown) = try await shown([.text("one"), Self.call, .text("two")])
        message.parts.removeLast()
        _ = try await history.edit([message], in: Self.session)
        for (window, edit) in zip(windows, ["first", "second"]) {
            if isCompact { try await compact(window) }
            shown[2].content = edit
            try await save(shown, by: window)
            #expect(try await text(entries()) == ["one", "weather", edit])
        }
        try await checkIDs()
    }

    @Test("An undone deletion leaves a part that an agent has put before the deleted one", arguments: [false, true])
    func undoneBehindNew(isCompact: Bool) async throws {
        var (message, windows, shown) = try await shown([.text("one"), .text("two")])
        message.parts.insert(.text("new"), at: 0)
        _ = try await history.edit([message], in: Self.session)
        for window in windows {
            for transcript in [[shown[1]], shown] {
                try await save(transcript, by: window)
                if isCompact { try await compact(window) }
            }
            #expect(try await text(entries()).sorted() == ["new", "one", "two"])
        }
        try await checkIDs()
        try await save([shown[1]], by: windows[1])
        #expect(try await text(entries()) == ["new", "two"])
    }

    @Test(
        "An undone deletion leaves the parts beside it, if its message was shown with more parts since",
        arguments: [nil, "edited"], [0, 1, 2])
    func undoneBesideParts(edited: String?, variant: Int) async throws {
        var (message, windows, deleted) = try await shown([.text("one")])
        message.parts = variant == 1 ? [.text("new"), .text("one")] : [.text("one"), .text("new")]
        _ = try await history.edit([message], in: Self.session)
        if let edited {
            var others = try await entries()
            others[variant == 1 ? 1 : 0].content = edited
            try await save(others, by: windows[1])
        }
        let current = try #require(try await windows[0].getSession(id: "s")).messages
        if variant == 2 {
            // The part left has the ID of the message again.
            message.parts = [.text(edited ?? "one")]
            _ = try await history.edit([message], in: Self.session)
        }
        for _ in 0...1 {
            try await save(deleted + current, by: windows[0])
            let saved = variant == 2 ? [] : ["new"]
            #expect(try await text(entries()).sorted() == (edited.map { [$0] } ?? []) + saved + ["one"])
        }
        try await checkIDs()
    }

    @Test("An edited part that an agent has replaced gets an ID of its own if another message has the part's ID")
    func takenID() async throws {
        var (message, windows, shown) = try await shown([.text("one"), Self.call, .text("two")])
        let other = ConversationMessage(id: shown[2].id.uuidString, role: .assistant, text: "other")
        try await history.append([other], to: Self.session.scope(agentId: "a"))
        message.parts[2...] = [.text("replaced"), .text("new")]
        _ = try await history.edit([message], in: Self.session)
        shown[2].content = "two, edited"
        try await save(shown, by: windows[1])
        #expect(
            try await text(entries()).sorted() == ["new", "one", "other", "replaced", "two, edited", "weather"])
        try await checkIDs()
    }

    // MARK: Equal and moved parts

    @Test(
        "Of two equal parts, the other one stays if both windows change the first", arguments: [false, true],
        [(2, false), (4, false), (4, true)])
    func equalPart(isEdit: Bool, variant: (count: Int, isCompact: Bool)) async throws {
        let again = "Let me check."
        let parts = [.text(again), Self.call, .text(again), .toolCall(id: "d", name: "news", arguments: [:])]
        var (_, windows, shown) = try await shown(variant.count == 2 ? [parts[0], parts[2]] : parts)
        try await save(Array(shown.dropFirst()), by: windows[0])
        if variant.isCompact { try await compact(windows[1]) }
        if isEdit { shown[0].content = "Edited" } else { shown.removeFirst() }
        try await save(shown, by: windows[1])
        let rest = variant.count == 2 ? [again] : [again, "news", "weather"]
        #expect(try await text(entries()).sorted() == (isEdit ? ["Edited"] : []) + rest)
        try await checkIDs()
    }

    @Test(
        "A part in the place of one removed by a window stays if another window changes the removed one",
        arguments: [false, true])
    func partInPlace(isEdit: Bool) async throws {
        var (message, windows, shown) = try await shown([.text("three"), .text("four")])
        message.parts.insert(.text("new"), at: 0)
        _ = try await history.edit([message], in: Self.session)
        try await save(Array(shown.dropFirst()), by: windows[0])
        #expect(try await text(entries()) == ["new", "four"])
        if isEdit { shown[0].content = "edited" } else { shown.removeFirst() }
        try await save(shown, by: windows[1])
        #expect(try await text(entries()).sorted() == (isEdit ? ["edited"] : []) + ["four", "new"])
        try await checkIDs()
    }

    @Test(
        "The last part of a message stays if a window changes another one, removed before", arguments: [false, true],
        [false, true])
    func lastPart(isEdit: Bool, isCompact: Bool) async throws {
        var (message, windows, shown) = try await shown([.text("one"), .text("two"), .text("three")])
        message.parts.removeFirst()
        _ = try await history.edit([message], in: Self.session)
        try await save([shown[0], shown[2]], by: windows[0])
        #expect(try await text(entries()) == ["three"])
        if isCompact { try await compact(windows[1]) }
        if isEdit { shown[1].content = "edited" } else { shown.remove(at: 1) }
        try await save(shown, by: windows[1])
        #expect(try await text(entries()).sorted() == (isEdit ? ["edited"] : []) + ["three"])
        try await checkIDs()
    }

    @Test("The part left by an agent stays if a window changes the removed one", arguments: [false, true])
    func partLeft(isEdit: Bool) async throws {
        // With this message ID, the one left has the ID of the first part.
        var (message, windows, shown) = try await shown([.text("one"), .text("two")], id: "msg_01")
        message.parts = [.text("two, extended")]
        _ = try await history.edit([message], in: Self.session)
        if isEdit { shown[0].content = "edited" } else { shown.removeFirst() }
        try await save(shown, by: windows[0])
        #expect(try await text(entries()).sorted() == (isEdit ? ["edited"] : []) + ["two, extended"])
        try await checkIDs()
    }
}
