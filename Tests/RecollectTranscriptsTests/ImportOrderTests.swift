import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

@Suite("Imports in any order")
struct ImportOrderTests {
    /// The files of a fixture, by relative path.
    private func files(of fixture: String) throws -> [String] {
        let root = try Fixtures.path(fixture)
        let all = try #require(FileManager.default.enumerator(atPath: root))
        return all.compactMap { $0 as? String }.filter { $0.hasSuffix(".jsonl") }.sorted()
    }

    /// Imports one file alone, from a folder of its own, up to a number of lines.
    private func run(_ file: String, of fixture: String, lines: Int? = nil, into imported: Imported) async throws {
        let folder = try TemporaryFolder()
        let copy = folder.url.appendingPathComponent(file)
        try FileManager.default.createDirectory(at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        var text = try String(contentsOfFile: Fixtures.path(fixture) + "/" + file, encoding: .utf8)
        if let lines {
            text = text.split(separator: "\n").prefix(lines).joined(separator: "\n") + "\n"
        }
        try text.write(to: copy, atomically: true, encoding: .utf8)
        _ = try await imported.run(folder.url.path)
    }

    private func exports(_ imported: Imported) async throws -> [String] {
        var exports: [String] = []
        for session in try await imported.sessions() { exports.append(try await imported.export(session, .json)) }
        return exports
    }

    private func orders(of files: [String]) -> [[String]] {
        guard files.count > 1 else { return [files] }
        return files.indices.flatMap { index in
            var rest = files
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    @Test(
        "The same files give the same history in any order, in one import or several, and with half a file first",
        arguments: [
            "nested-agents", "session-with-subagent", "agent-beside-the-session", "resumed-session-repeats-lines",
        ])
    func anyOrder(fixture: String) async throws {
        let files = try files(of: fixture)
        let whole = Imported()
        _ = try await whole.fixture(fixture)
        let expected = try await exports(whole)
        #expect(!expected.isEmpty)
        for order in orders(of: files) {
            let imported = Imported()
            for file in order { try await run(file, of: fixture, into: imported) }
            #expect(try await exports(imported) == expected, "\(order)")
        }
        for lines in 1...8 {
            for file in files {
                let imported = Imported()
                try await run(file, of: fixture, lines: lines, into: imported)
                for other in files.reversed() { try await run(other, of: fixture, into: imported) }
                #expect(try await exports(imported) == expected, "\(lines) lines of \(file) first")
            }
        }
    }

    @Test(
        "Sub-agents follow the calls that started them, with the names of their tasks, also without a file of their own"
    )
    func subagents() async throws {
        let imported = Imported()
        let report = try await imported.fixture("nested-agents")
        let session = try await imported.only()
        let stored = try await imported.stored(session)
        #expect(stored.map(\.message.id) == ["m1", "m2", "a1", "b1", "a2", "a3", "b2", "m3", "m4", "m5"])
        #expect(stored.map(\.agentId).prefix(4) == ["claude", "claude", "aa", "bb"])
        #expect(session.agentIds == ["claude", "aa", "bb"])
        #expect(session.agentNames == ["aa": "Look at the north lake", "bb": "Look at the south lake"])
        #expect(report.skippedLines == ["progress": 5] && report.unreadable.isEmpty)
        #expect((report.messageCount, report.addedCount) == (10, 10))
        let nested = try await imported.messages(session, agentId: "bb")
        #expect(nested.map(\.text) == ["Look south.", "Water."])
        #expect(nested.allSatisfy { $0.metadata["workingDirectory"] == "/work" && $0.metadata["isSidechain"] == true })
        let markdown = try await imported.export(session, .markdown)
        #expect(markdown.contains("- Agents: `claude`, Look at the north lake (`aa`), Look at the south lake (`bb`)"))
        #expect(markdown.contains("## assistant (Look at the south lake), "))
    }

    @Test("Messages read from lines about progress are replaced by those of the sub-agent's file, once it is there")
    func replaced() async throws {
        let imported = Imported()
        try await run("n.jsonl", of: "nested-agents", into: imported)
        let session = try await imported.only()
        #expect(try await imported.messages(session, agentId: "aa").map(\.id) == ["a1", "a2"])
        #expect(try await imported.messages(session, agentId: "aa")[0].metadata["isProgress"] == true)
        _ = try await imported.fixture("nested-agents")
        #expect(try await imported.messages(session, agentId: "aa").map(\.id) == ["a1", "a2", "a3"])
        #expect(try await imported.messages(session, agentId: "aa").allSatisfy { $0.metadata["isProgress"] == nil })
        let again = try await imported.fixture("nested-agents")
        #expect((again.addedCount, again.unchangedCount) == (0, 10))
    }

    @Test("A name given to an agent by a user stays")
    func names() async throws {
        let imported = Imported()
        _ = try await imported.fixture("nested-agents")
        let session = try await imported.only()
        let names: JSONValue = ["aa": "North"]
        try await imported.history.update(
            session.id, with: SessionDetails(metadata: [Session.agentNamesKey: names]), createIfMissing: false)
        _ = try await imported.fixture("nested-agents")
        #expect(try await imported.only().agentNames == ["aa": "North", "bb": "Look at the south lake"])
    }

    private func line(_ uuid: String, _ text: String, agent: String? = nil, at second: Int, cwd: String) -> String {
        var line: [String: JSONValue] = [
            "type": "user", "uuid": .string(uuid), "sessionId": "s", "cwd": .string(cwd),
            "timestamp": .string("2026-02-03T09:00:\(second < 10 ? "0" : "")\(second).000Z"),
            "message": ["role": "user", "content": .string(text)],
        ]
        if let agent { line["agentId"] = .string(agent) }
        return JSONValue.object(line).jsonString + "\n"
    }

    @Test("Title, folder and names do not depend on how much of a growing session was imported before")
    func growingSession() async throws {
        let folder = try TemporaryFolder()
        let main = [
            line("1", "<command-name>/clear</command-name>", at: 0, cwd: "/main"),
            line("2", "Please fix the login bug", at: 5, cwd: "/main"),
        ]
        let own = line("3", "Look", agent: "aa", at: 0, cwd: "/sub")
        var seen: Set<[String?]> = []
        for files in [
            [("s", main[0]), ("s", main.joined()), ("agent-aa", own)], [("agent-aa", own), ("s", main.joined())],
        ] {
            let imported = Imported()
            for (name, text) in files {
                let path = try folder.write("\(name).jsonl", text)
                _ = try await imported.run(path)
            }
            let session = try await imported.only()
            seen.insert([
                session.title, session.workingDirectory, session.metadata["imported.workingDirectory"]?.stringValue,
            ])
        }
        #expect(seen == [["Please fix the login bug", "/main", nil]])
    }

    @Test("A title removed by a user stays removed, and a generated one from another file replaces no user's")
    func titles() async throws {
        let folder = try TemporaryFolder()
        let imported = Imported()
        let title = { (kind: String, field: String, text: String) in
            JSONValue.object(["type": .string(kind), field: .string(text), "sessionId": "s"]).jsonString + "\n"
        }
        let message = line("1", "hello", at: 0, cwd: "/main")
        let path = try folder.write("s.jsonl", message + title("custom-title", "customTitle", "Mine"))
        _ = try await imported.run(path)
        let other = try folder.write("t.jsonl", title("ai-title", "aiTitle", "Generated") + message)
        _ = try await imported.run(other)
        #expect(try await imported.only().title == "Mine")
        try await imported.history.update(
            imported.only().id, with: SessionDetails(title: ""), createIfMissing: false)
        _ = try await imported.run(path, other)
        #expect(try await imported.only().title == nil)
    }

    @Test("Messages mixed by two imports at the same time are put in order by the next import")
    func mixed() async throws {
        let imported = Imported()
        try await run("n.jsonl", of: "nested-agents", into: imported)
        let scope = try await imported.only().id.scope(agentId: "aa")
        let late = ConversationMessage(
            id: "a3", role: .assistant, text: "All ice.", timestamp: Date(timeIntervalSince1970: 0),
            metadata: ["isSidechain": true])
        try await imported.history.append([late], to: scope)
        _ = try await imported.fixture("nested-agents")
        let messages = try await imported.messages(imported.only(), agentId: "aa")
        #expect(messages.map(\.id) == ["a1", "a2", "a3"])
        #expect(messages.allSatisfy { $0.metadata["isProgress"] == nil })
    }

    @Test("A call without a result names its sub-agent, and progress of the main agent itself is left out")
    func interruptedCall() async throws {
        let folder = try TemporaryFolder()
        let lines = try String(contentsOfFile: Fixtures.path("nested-agents/n.jsonl"), encoding: .utf8)
            .split(separator: "\n").prefix(9).map { String($0) }
        let imported = Imported()
        let mine = lines.map { $0.replacingOccurrences(of: "\"agentId\": \"bb\"", with: "\"agentId\": \"claude\"") }
        _ = try await imported.run(try folder.write("n.jsonl", mine.joined(separator: "\n") + "\n"))
        let session = try await imported.only()
        #expect(session.agentNames == ["aa": "Look at the north lake"])
        #expect(session.agentIds == ["claude", "aa"])
        #expect(try await imported.messages(session, agentId: "claude").map(\.id) == ["m1", "m2"])
    }
}
