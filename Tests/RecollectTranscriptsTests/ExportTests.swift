import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

@Suite("Exports")
struct ExportTests {
    private static let fixtures = [
        "one-api-message-over-several-lines.jsonl", "session-with-subagent", "images.jsonl",
        "sidechain-in-the-session-file.jsonl",
        "blocks-and-fields-of-newer-versions.jsonl", "titles/77777777-0000-4000-8000-000000000007.jsonl",
    ]

    @Test("A JSONL export is imported with equal messages and details", arguments: fixtures)
    func roundTrip(fixture: String) async throws {
        let (from, to, folder) = (Imported(), Imported(), try TemporaryFolder())
        _ = try await from.fixture(fixture)
        let session = try await from.only()
        let report = try await to.run(folder.write("export.jsonl", from.export(session, .jsonl)))
        #expect(report.unreadable.isEmpty)
        for agent in session.agentIds {
            #expect(try await to.messages(to.only(), agentId: agent) == from.messages(session, agentId: agent))
        }
        #expect(try await to.only() == session)
        #expect(try await to.export(to.only(), .jsonl) == from.export(session, .jsonl))
    }

    @Test("Unusual parts, metadata and fields of a message survive an export")
    func awkwardMessages() async throws {
        let (from, to, folder) = (Imported(), Imported(), try TemporaryFolder())
        let messages = [
            ConversationMessage(
                id: "a\u{0}b", role: Role(rawValue: "narrator"),
                parts: [
                    .text(""), .audioTranscript("x"), .unknown(["text": ["_0": 5]]), .thinking("", signature: nil),
                ],
                timestamp: Date(millisecondsSince1970: -1),
                metadata: ["n": 0.1, "null": .null],
                unknownFields: ["agentId": "mine", "unknownFields": [1], "recollect": "history", "text": "t"]),
            ConversationMessage(id: "", role: .user, parts: []),
        ]
        try await from.history.append(messages, to: Scope(userId: from.userId, sessionId: "s\n", agentId: ""))
        try await from.history.update(
            from.only().id, with: SessionDetails(title: "T", branchName: "b", metadata: ["k": [1, 2]]))
        _ = try await to.run(folder.write("x.jsonl", from.export(from.only(), .jsonl)))
        #expect(try await to.messages(to.only()) == messages)
        #expect(try await to.only().title == "T")
        #expect(try await to.only().metadata["k"] == [1, 2])
        #expect(try await to.only().id.sessionId == "s\n")
    }

    @Test(
        "A missing attachment is reported, and every message is exported",
        arguments: [
            SessionExporter.Format.json, .jsonl, .markdown,
        ], [String(repeating: "ab", count: 32), "../secret"])
    func missingAttachment(format: SessionExporter.Format, hash: String) async throws {
        let from = Imported()
        let gone = Attachment(mediaType: "image/png", content: .stored(sha256: hash, byteCount: 3))
        let messages = [
            ConversationMessage(id: "1", role: .user, parts: [.text("look"), .attachment(gone)]),
            ConversationMessage(id: "2", role: .assistant, text: "behind it"),
        ]
        try await from.history.append(messages, to: Scope(userId: from.userId, sessionId: "s", agentId: ""))
        var bytes: [UInt8] = []
        let missing = try await SessionExporter(history: from.history).export(from.only().id, as: format) {
            bytes += $0
        }
        #expect(String(decoding: bytes, as: UTF8.self).contains("behind it"))
        #expect(missing.map(\.messageId) == (format == .markdown ? [] : ["1"]))
        #expect(missing.allSatisfy { $0.sha256 == hash })
    }

    @Test("A session without messages is exported with its title, tags, pin and date")
    func emptySession() async throws {
        let (from, to, folder) = (Imported(), Imported(), try TemporaryFolder())
        let id = SessionKey(userId: from.userId, sessionId: "plans")
        let created = Date(millisecondsSince1970: 1_700_000_000_000)
        try await from.history.update(
            id,
            with: SessionDetails(
                title: "Plans", isPinned: true, addedTags: ["important"], firstMessage: "what to do", createdAt: created
            ))
        let session = try await from.only()
        _ = try await to.run(folder.write("x.jsonl", from.export(session, .jsonl)))
        let imported = try await to.only()
        #expect(imported.title == "Plans" && imported.isPinned && imported.tags == ["important"])
        #expect(imported.createdAt == created && imported.firstMessage == "what to do")
    }

    @Test("A message longer than any line of Claude Code is read", .needs(.time))
    func longMessage() throws {
        let folder = try TemporaryFolder()
        let message = ConversationMessage(
            id: "long", role: .user, text: String(repeating: "x", count: TranscriptReader.maxLineBytes))
        let header = "{\"recollect\":\"history\",\"version\":1,\"session\":{\"id\":\"s\"}}\n"
        let path = try folder.write(
            "x.jsonl", Data(header.utf8) + Data(HistoryLine.line(of: message, agentId: "a")))
        let reader = try TranscriptReader(path: path)
        _ = try reader.next()
        guard case .message(let read) = try #require(try reader.next()).content else {
            Issue.record("the line is not a message")
            return
        }
        #expect(read == message)
    }

    @Test("A message too long for an import throws in a JSONL export, and is exported as JSON")
    func tooLongMessage() async throws {
        let from = Imported()
        try await from.history.append(
            [ConversationMessage(id: "long", role: .user, text: String(repeating: "x", count: 1_000))],
            to: Scope(userId: from.userId, sessionId: "s", agentId: "a"))
        let exporter = SessionExporter(history: from.history, maxLineBytes: 1_000)
        let failure = await #expect(throws: RecollectError.self) {
            try await exporter.export(from.only().id, as: .jsonl) { _ in }
        }
        #expect(failure?.code == .tooLarge && failure?.message.contains("message long of session s") == true)
        try await exporter.export(from.only().id, as: .json) { _ in }
    }

    @Test("Tags, pin and archive mark are imported for a new session, and change no known session")
    func marks() async throws {
        let (from, to, folder) = (Imported(), Imported(), try TemporaryFolder())
        try await from.history.append(
            [ConversationMessage(role: .user, text: "x")], to: Scope(userId: from.userId, sessionId: "s", agentId: "a"))
        try await from.history.update(
            from.only().id, with: SessionDetails(isPinned: true, isArchived: true, addedTags: ["a", "b"]))
        let path = try await folder.write("x.jsonl", from.export(from.only(), .jsonl))
        _ = try await to.run(path)
        var imported = try await to.only()
        #expect(imported.isPinned && imported.isArchived && imported.tags == ["a", "b"])
        try await to.history.update(
            imported.id, with: SessionDetails(isPinned: false, isArchived: false, removedTags: ["a"]))
        _ = try await to.run(path)
        imported = try await to.only()
        #expect(!imported.isPinned && !imported.isArchived && imported.tags == ["b"])
    }

    @Test("Several exports in one file are imported as several sessions")
    func concatenated() async throws {
        let (from, to, folder) = (Imported(), Imported(), try TemporaryFolder())
        _ = try await from.fixture("titles")
        var text = ""
        for session in try await from.sessions() { text += try await from.export(session, .jsonl) }
        _ = try await to.run(folder.write("all.jsonl", text))
        #expect(try await to.sessions() == from.sessions())
    }

    @Test("An export of a newer version is reported as unreadable")
    func newerVersion() async throws {
        let folder = try TemporaryFolder()
        let line = "{\"recollect\":\"history\",\"version\":2,\"session\":{\"id\":\"s\"}}\n"
        let report = try await Imported().run(folder.write("new.jsonl", line))
        #expect(report.unreadable.first?.reason.contains("version") == true)
    }

    @Test("A JSON export is one object with stable keys, over any number of pages")
    func json() async throws {
        let imported = Imported()
        let scope = Scope(userId: imported.userId, sessionId: "s", agentId: "a")
        try await imported.history.append(
            (0..<450).map { ConversationMessage(id: "\($0)", role: .user, text: "text \($0)") }, to: scope)
        let value = try JSONValue(parsing: await imported.export(imported.only(), .json))
        #expect(
            Set(value["session"]?.objectValue?.keys ?? [:].keys) == [
                "id", "title", "createdAt", "lastActivityAt", "messageCount", "agents", "workingDirectory", "gitBranch",
                "preview", "metadata", "displayTitle", "lastAccessedAt", "tags", "isPinned", "isArchived", "isUnread",
                "usage", "discardedAt", "branchPoint",
            ])
        let messages = try #require(value["messages"]?.arrayValue)
        #expect(messages.map { $0["id"]?.stringValue } == (0..<450).map { "\($0)" })
        #expect(
            Set(messages[0].objectValue?.keys ?? [:].keys) == [
                "id", "role", "agentId", "timestamp", "text", "parts", "metadata",
            ])
    }

    @Test("A Markdown export has text under headings, and no text ends its code fence")
    func markdown() async throws {
        let imported = Imported()
        let scope = Scope(userId: imported.userId, sessionId: "s", agentId: "a")
        let parts: [ContentPart] = [
            .text("Hello."), .thinking("One.\nTwo.", signature: nil),
            .toolResult(id: "1", content: "```\n# not a heading\n```"),
        ]
        try await imported.history.append([ConversationMessage(id: "1", role: .tool, parts: parts)], to: scope)
        let text = try await imported.export(imported.only(), .markdown)
        #expect(text.contains("## tool, "))
        #expect(text.contains("Hello."))
        #expect(text.contains("> One.\n> Two."))
        #expect(text.contains("````\n```\n# not a heading\n```\n````"))
    }

    @Test("Exporting an unknown session throws")
    func unknown() async throws {
        let exporter = SessionExporter(history: Imported().history)
        let error = await #expect(throws: RecollectError.self) {
            try await exporter.export(SessionKey(userId: "ada", sessionId: "no"), as: .json) { _ in }
        }
        #expect(error?.code == .notFound)
    }
}
