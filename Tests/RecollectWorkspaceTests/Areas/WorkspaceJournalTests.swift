import Foundation
import RecollectCore
import RecollectTestSupport
import RecollectWorkspace
import Testing

/// Saturday, 2026-11-21, 09:12:07.123 in UTC.
let morning = Date(timeIntervalSince1970: 1_795_252_327.123).wholeMilliseconds

@Suite("Workspace journal")
struct WorkspaceJournalTests {
    private let folder: TestFolder
    private let journal: WorkspaceJournal
    private let scribe = JournalID(userId: "ada", agentId: "scribe")

    init() throws {
        folder = try TestFolder()
        let workspace = try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
        journal = WorkspaceJournal(workspace: workspace, timeZone: .gmt)
    }

    private func texts(_ query: JournalQuery = JournalQuery(limit: 1_000), of id: JournalID) async throws -> [String] {
        try await journal.entries(query, in: id).map(\.text)
    }

    @Test("Each day has one file for the user and one for the agents, and entries name their author")
    func format() async throws {
        let own = try await journal.write("Slept well", at: morning)
        let noted = try await journal.write("Asked for\n## tea", by: .agent("my scribe"), at: morning)
        #expect(
            try folder.text(at: "Journal/user/2026-11-21.md")
                == "# 2026-11-21\n\n## 09:12 <!-- note \(own.id) 2026-11-21T09:12:07.123Z -->\n\n> Slept well\n")
        #expect(
            try folder.text(at: "Journal/agent/2026-11-21.md") == """
                # 2026-11-21

                ## 09:12 <!-- note \(noted.id) 2026-11-21T09:12:07.123Z by my%20scribe -->

                > Asked for
                > ## tea

                """)
        #expect(try await journal.entries(by: .user, on: morning) == [own])
        #expect(try await journal.entries(by: .agent("my scribe"), on: morning) == [noted])
        #expect(try await journal.entries(by: .agent("other"), on: morning) == [])
        #expect(try await journal.entries(by: .user, on: morning.addingTimeInterval(86_400)) == [])
        #expect(try await journal.days(by: .user) == [Date(timeIntervalSince1970: 1_795_219_200)])
    }

    @Test("Agents share one file; each reads its own entries and the text that an editor added")
    func agents() async throws {
        let ids = ["", "ada", "scribe", "Scribe", "é", "e\u{301}", "a/../b", "--> x"]
        for (number, id) in ids.enumerated() {
            let entry = JournalEntry(id: "\(number)", date: morning, text: "by \(number)")
            try await journal.append(entry, to: JournalID(userId: "ada", agentId: id))
        }
        #expect(try await texts(of: JournalID(userId: "ada", agentId: "")) == ["by 0", "by 1"])
        #expect(try await texts(of: JournalID(userId: "ada", agentId: "ada")) == ["by 0", "by 1"])
        try folder.put(
            try folder.text(at: "Journal/agent/2026-11-21.md") + "\n## 23:00\nfor all of you\n",
            at: "Journal/agent/2026-11-21.md")
        for (number, id) in ids.enumerated().dropFirst(2) {
            #expect(try await texts(of: JournalID(userId: "ada", agentId: id)) == ["by \(number)", "for all of you"])
        }
        // Another agent's entry cannot be struck out.
        let others = JournalEntry(id: "3", date: morning, text: "by 3")
        await #expect(throws: RecollectError.self) { try await journal.strike(others, at: morning, in: scribe) }
        #expect(try await texts(of: JournalID(userId: "ada", agentId: "Scribe")) == ["by 3", "for all of you"])
    }

    @Test("Entries are written once for each ID, struck and found, also across midnight in another time zone")
    func journal() async throws {
        let late = JournalEntry(id: "late", date: morning.addingTimeInterval(14 * 3_600), text: "Café late")
        for _ in 0..<2 { try await journal.append(late, to: scribe) }
        try await journal.append(JournalEntry(date: morning, text: "early"), to: scribe)
        let tokyo = WorkspaceJournal(
            workspace: try SharedWorkspace(
                root: folder.root,
                configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))),
            timeZone: try #require(TimeZone(identifier: "Asia/Tokyo")))
        try await tokyo.append(late, to: scribe)
        #expect(try await texts(of: scribe) == ["early", "Café late"])
        #expect(try await texts(JournalQuery(words: ["CAFE"]), of: scribe) == ["Café late"])
        #expect(try await texts(JournalQuery(limit: 1), of: scribe) == ["Café late"])
        for _ in 0..<2 { try await tokyo.strike(late, at: morning, in: scribe) }
        #expect(try await texts(of: scribe) == ["early"])
        let all = try await journal.entries(JournalQuery(includesStruck: true), in: scribe)
        #expect(all.last?.struckAt == morning)
        #expect(try folder.text(at: "Journal/agent/2026-11-21.md").contains("Z by scribe -->"))
        await #expect(throws: RecollectError.self) {
            try await journal.strike(JournalEntry(date: morning, text: ""), at: morning, in: scribe)
        }
        #expect(try folder.names(in: "Journal/agent") == ["2026-11-21.md"])
    }

    @Test("Two processes and many tasks write the journal at the same time, and no entry is lost", .needs(.processes))
    func together() async throws {
        let state = folder.url.appendingPathComponent("state").path
        let workers = try ["one", "two"].map { try Worker(["entries", folder.root.path, state, $0, "25"]) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<25 {
                group.addTask { try await journal.write("three \(number)", by: .agent("scribe"), at: morning) }
            }
            try await group.waitForAll()
        }
        for worker in workers {
            let said = await worker.finish()
            #expect(worker.endedWell && said == (0..<25).map { "noted \($0)" })
        }
        let expected = ["one", "three", "two"].flatMap { name in (0..<25).map { "\(name) \($0)" } }
        #expect(try await texts(of: scribe).sorted() == expected.sorted())
    }

    @Test("Text written in an editor stays unchanged, even if the file ends within an entry")
    func people() async throws {
        let whole = "# My Saturday\nThoughts.\n\n## 10:30 Called\nthe plumber\n\n## 11:0"
        try folder.put(whole, at: "Journal/user/2026-11-21.md")
        let entry = try await journal.write("noted", at: morning)
        #expect(
            try folder.text(at: "Journal/user/2026-11-21.md").hasPrefix(whole + "\n\n## 09:12 <!-- note \(entry.id)"))
        #expect(try await journal.entries(by: .user, on: morning).map(\.text) == ["noted", "Called\nthe plumber"])
    }

    @Test("An entry written in an editor is struck out by its content, wherever it is by then")
    func strikingPeoplesEntries() async throws {
        let path = "Journal/agent/2026-11-21.md"
        func put(_ entries: String...) throws {
            try folder.put("# 2026-11-21\n" + entries.map { "\n## \($0)\n" }.joined(), at: path)
        }
        try put("09:00 Dentist", "10:00 Call Ann", "10:00 Call Ann")
        let all = try await journal.entries(JournalQuery(), in: scribe)
        #expect(all.map(\.text) == ["Dentist", "Call Ann", "Call Ann"] && Set(all.map(\.id)).count == 3)
        try put("08:00 Keys", "09:00 Dentist", "10:00 Call Ann", "10:00 Call Ann")
        try await journal.strike(all[0], at: morning, in: scribe)
        try await journal.strike(all[2], at: morning, in: scribe)
        #expect(try await texts(of: scribe) == ["Keys", "Call Ann"])
        // The written IDs stay with their entries.
        let struck = try folder.text(at: path)
        let other = try #require(try await journal.entries(JournalQuery(), in: scribe).last)
        #expect(other.id == all[1].id)
        try folder.put(struck.replacing("\n## 08:00 Keys\n", with: ""), at: path)
        try await journal.strike(other, at: morning, in: scribe)
        #expect(try await texts(of: scribe).isEmpty)
        try put("09:00 Plumber")
        await #expect(throws: RecollectError.self) { try await journal.strike(all[0], at: morning, in: scribe) }
        #expect(try await texts(of: scribe) == ["Plumber"])
    }
}
