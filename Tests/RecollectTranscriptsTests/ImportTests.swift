import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

@Suite("Imports")
struct ImportTests {
    @Test("An unreadable line is reported with file, line and reason, and stops nothing")
    func unreadableLines() async throws {
        let imported = Imported()
        let report = try await imported.fixture("lines-that-cannot-be-read.jsonl")
        #expect(try await imported.messages(imported.only()).map(\.id) == ["k1", "k2"])
        #expect(report.addedCount == 2)
        #expect(report.unreadable.map(\.line) == [2, 3, 4, 5, 6, 7])
        #expect(report.unreadable.allSatisfy { $0.file.hasSuffix("lines-that-cannot-be-read.jsonl") })
        let reasons = report.unreadable.map(\.reason)
        #expect(reasons[0].contains("byte"))
        #expect(reasons[2].contains("uuid"))
        #expect(reasons[3].contains("timestamp"))
        #expect(reasons[5].contains("type"))
        #expect(report.unreadableCount == 6)
    }

    @Test("A second import adds nothing and changes nothing")
    func again() async throws {
        let imported = Imported()
        let names = ["session-with-subagent", "titles", "images.jsonl"]
        let paths = try names.map { try Fixtures.path($0) }
        let importer = TranscriptImporter(history: imported.history, userId: imported.userId)
        let first = try await importer.run(paths)
        let change = try await imported.history.latestChangeCursor()
        let before = try await imported.sessions()
        let second = try await importer.run(paths)
        #expect(first.addedCount == first.messageCount)
        #expect(second.addedCount == 0)
        #expect(second.unchangedCount == first.messageCount)
        #expect(second.sessionCount == first.sessionCount)
        #expect(try await imported.sessions() == before)
        #expect(try await imported.history.latestChangeCursor() == change)
    }

    @Test("Lines that a resumed session repeats are imported once, and so are their tokens")
    func resumed() async throws {
        let imported = Imported()
        let report = try await imported.fixture("resumed-session-repeats-lines")
        #expect((report.addedCount, report.unchangedCount) == (4, 2))
        let messages = try await imported.messages(imported.only())
        #expect(messages.map(\.id) == ["r1", "r2", "r3", "r4"])
        #expect(messages.compactMap { $0.metadata["usage"]?["output_tokens"]?.integerValue }.reduce(0, +) == 11)
    }

    @Test("An incomplete last line is no error, and the next import reads it whole")
    func growingFile() async throws {
        let folder = try TemporaryFolder()
        let imported = Imported()
        let (first, second, third) = (userLine("1"), userLine("2"), userLine("3"))
        for cut in [1, second.utf8.count / 2, second.utf8.count - 2] {
            let path = try folder.write("s.jsonl", first + second.prefix(cut))
            let report = try await imported.run(path)
            #expect(report.unreadable.isEmpty)
            #expect(report.unfinishedCount == 1)
            #expect(try await imported.messages(imported.only()).map(\.id) == ["1"])
        }
        let path = try folder.write("s.jsonl", first + second + third.dropLast())
        let report = try await imported.run(path)
        #expect((report.addedCount, report.unchangedCount, report.unfinishedCount) == (2, 1, 0))
        #expect(try await imported.messages(imported.only()).map(\.id) == ["1", "2", "3"])
    }

    @Test("Tokens count once, even if an API message is imported while it grows")
    func growingUsage() async throws {
        let whole = try String(
            contentsOfFile: Fixtures.path("one-api-message-over-several-lines.jsonl"), encoding: .utf8)
        let lines = whole.split(separator: "\n").map { $0 + "\n" }
        let folder = try TemporaryFolder()
        let (growing, atOnce) = (Imported(), Imported())
        for count in 1...lines.count {
            _ = try await growing.run(folder.write("s.jsonl", lines.prefix(count).joined()))
        }
        _ = try await atOnce.run(folder.write("s.jsonl", whole))
        #expect(try await growing.messages(growing.only()) == atOnce.messages(atOnce.only()))
    }

    @Test("A title goes to the session of its last message, and the user's own title stays")
    func titles() async throws {
        let imported = Imported()
        _ = try await imported.fixture("titles")
        let titles = try await imported.sessions().map(\.title)
        #expect(titles == ["Belongs to the first file", "Belongs to the other file"])
        let session = try await imported.sessions()[0]
        try await imported.history.update(session.id, with: SessionDetails(title: "Mine"))
        _ = try await imported.fixture("titles")
        #expect(try await imported.sessions()[0].title == "Mine")
    }

    @Test("The user's title of a Claude Code session stands above a generated one, and the last one counts")
    func sessionTitles() async throws {
        let folder = try TemporaryFolder()
        let imported = Imported()
        var lines = userLine("m1", session: "s")
        func run(adding line: JSONValue) async throws -> String? {
            lines += line.jsonString + "\n"
            _ = try await imported.run(folder.write("s.jsonl", lines))
            return try await imported.only().title
        }
        func generated(_ title: String) -> JSONValue {
            ["type": "ai-title", "aiTitle": .string(title), "sessionId": "s"]
        }
        func custom(_ title: String) -> JSONValue {
            ["type": "custom-title", "customTitle": .string(title), "sessionId": "s"]
        }
        #expect(try await run(adding: ["type": "summary", "summary": "Summary", "leafUuid": "m1"]) == "Summary")
        #expect(try await run(adding: generated("Generated")) == "Generated")
        #expect(try await run(adding: custom("Renamed")) == "Renamed")
        #expect(try await run(adding: generated("Generated again")) == "Renamed")
        #expect(try await run(adding: custom(" ")) == "Renamed")
        #expect(try await run(adding: custom("Renamed again")) == "Renamed again")
        try await imported.history.update(imported.only().id, with: SessionDetails(title: "Mine"))
        #expect(try await run(adding: custom("Renamed later")) == "Mine")
    }

    @Test("Titles of unknown messages cost one lookup each, whatever the number of sessions")
    func unknownTitles() async throws {
        let folder = try TemporaryFolder()
        for session in 0..<40 {
            let title = #"{"type":"summary","summary":"T","leafUuid":"unknown-\#(session)"}"#
            try folder.write("\(session).jsonl", userLine("m\(session)", session: "\(session)") + title + "\n")
        }
        let history = WatchedHistory(Imported().history)
        let report = try await TranscriptImporter(history: history, userId: "ada").run([folder.path])
        #expect(report.addedCount == 40)
        let lookups = history.takeReads().filter { if case .message("unknown-0") = $0 { true } else { false } }
        #expect(lookups.count == 1)
    }

    @Test("A session has the working directory and the Git branch of its first message")
    func details() async throws {
        let imported = Imported()
        _ = try await imported.fixture("one-api-message-over-several-lines.jsonl")
        #expect(try await imported.only().workingDirectory == "/home/ada/atlas")
        #expect(try await imported.only().branchName == "main")
    }

    @Test("Messages keep the order of their file in batches of any size", arguments: [1, 2, 3, 500])
    func batches(size: Int) async throws {
        let folder = try TemporaryFolder()
        let ids = (0..<20).map(String.init)
        for session in ["a", "b"] {
            try folder.write("\(session).jsonl", ids.map { userLine($0, session: session) }.joined())
        }
        let imported = Imported()
        var importer = TranscriptImporter(history: imported.history, userId: imported.userId)
        importer.batchSize = size
        let steps = Locked<[ImportProgress]>([])
        let report = try await importer.run([folder.path]) { step in steps.withLock { $0.append(step) } }
        #expect((report.sessionCount, report.addedCount) == (2, 40))
        for session in try await imported.sessions() {
            #expect(try await imported.messages(session).map(\.id) == ids)
        }
        let last = try #require(steps.withLock { $0.last })
        #expect((last.bytesRead, last.messages) == (last.bytesTotal, 40))
        #expect(
            zip(steps.withLock { $0 }, steps.withLock { $0 }.dropFirst()).allSatisfy { $0.bytesRead <= $1.bytesRead })
    }
}
