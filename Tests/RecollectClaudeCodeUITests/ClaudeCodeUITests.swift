import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTestSupport
import RecollectTranscripts
import Testing

@testable import RecollectClaudeCodeUI

@Suite("ClaudeCodeUI databases")
struct ClaudeCodeUITests {
    private let folder: TemporaryFolder
    private let imported = Imported()

    init() throws {
        folder = try TemporaryFolder()
    }

    private var file: String { folder.path + "/claude_code_sessions.sqlite" }

    private func run(_ path: String) async throws -> ImportReport {
        try await TranscriptImporter(
            history: imported.history, userId: imported.userId, formats: [ClaudeCodeUIFormat(), AgentSquadFormat()]
        ).run([path])
    }

    private static func date(_ second: Double) -> Date {
        Date(millisecondsSince1970: ClaudeCodeUIDatabase.start + Int64(second * 1000))
    }

    /// One message of each kind that the app shows.
    private static let chats: [ChatMessage] = {
        let input = ToolInputData(
            parameters: ["file_path": "a.swift", "q": "it's"], rawParameters: ["file_path": "a.swift"])
        let group = UUID()
        return [
            ChatMessage(role: .user, content: "What's in the café?", timestamp: date(0.001)),
            ChatMessage(role: .thinking, content: "Hm.", timestamp: date(1), messageType: .thinking),
            ChatMessage(
                role: .toolUse, content: "Read", timestamp: date(2), messageType: .toolUse, toolName: "Read",
                toolInputData: input, taskGroupId: group, isTaskContainer: true),
            ChatMessage(
                role: .toolUse, content: "Bash", timestamp: date(2.5), messageType: .toolUse, toolName: "Bash",
                toolInputData: ToolInputData(parameters: ["command": "ls"])),
            ChatMessage(
                role: .toolError, content: "no such file", timestamp: date(3), messageType: .toolError,
                toolName: "Bash", isError: true),
            ChatMessage(
                role: .toolResult, content: "let x = 1", timestamp: date(3.25), messageType: .toolResult,
                toolName: "Read", taskGroupId: group),
            ChatMessage(
                role: .toolDenied, content: "denied", timestamp: date(4), messageType: .toolDenied, toolName: "Edit"),
            ChatMessage(role: .assistant, content: "found", timestamp: date(5), messageType: .webSearch),
            ChatMessage(role: .assistant, content: "42", timestamp: date(6), messageType: .codeExecution),
            ChatMessage(role: MessageRole(rawValue: "narrator"), content: "", timestamp: date(7)),
            ChatMessage(
                role: .assistant, content: "Tea and", timestamp: date(8.999), isComplete: false, wasCancelled: true),
        ]
    }()

    @Test(
        "Sessions of every version are imported with IDs, dates and fields, and shown unchanged",
        arguments: [1, 3, 5])
    func versions(version: Int) async throws {
        let database = try ClaudeCodeUIDatabase(file, version: version)
        try database.add("later", first: "Second", at: 60, branch: "topic")
        try database.add("s'1", first: "What's in the café?", at: 0)
        try database.add("empty", first: "Never sent", at: 30)
        // Later messages first, because the app sorts them by date.
        for chat in Self.chats.reversed() {
            try database.add(chat, to: "s'1", callId: chat.toolName.map { "call-\($0)" })
        }
        try database.add(ChatMessage(role: .user, content: "Second", timestamp: Self.date(60)), to: "later")
        try database.run(
            "ALTER TABLE messages ADD COLUMN mood TEXT; UPDATE messages SET mood = 'bright' WHERE content = 'Hm.'")

        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let report = try await run(file)
        #expect((report.sessionCount, report.messageCount, report.addedCount) == (3, 12, 12))
        #expect(report.unreadable.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["claude_code_sessions.sqlite"])

        let all = try await imported.sessions()
        #expect(all.map(\.id.sessionId) == ["empty", "later", "s'1"])
        #expect(all.map(\.preview) == ["Never sent", "Second", "What's in the café?"])
        // The date of the last message counts, too.
        #expect(all.map(\.lastAccessedAt) == [31, 61, 8.999].map(Self.date))
        #expect(all.allSatisfy { $0.workingDirectory == "/home/ada/atlas" })
        #expect(all[1].branchName == (version >= 2 ? "topic" : nil))
        #expect(all.map(\.createdAt) == [30, 60, 0].map(Self.date))
        #expect(all.map(\.firstMessage) == ["Never sent", "Second", "What's in the café?"])
        let saved = all[1].metadata["claudeCodeUI"]
        #expect(saved?["is_worktree"] == (version >= 2 ? 1 : nil))
        #expect(saved?["usage_reasoning_output_tokens"] == (version >= 5 ? 0 : nil))

        let shown = try await imported.messages(all[2]).flatMap { $0.chatMessages() }
        var expected = Self.chats
        expected[1].metadata["claudeCodeUI"] = ["mood": "bright"]
        if version >= 3 {
            for index in expected.indices {
                if let tool = expected[index].toolName {
                    expected[index].metadata["toolCallId"] = .string("call-\(tool)")
                }
            }
        }
        for (left, right) in zip(expected, shown) { #expect(left == right) }
        #expect(shown.count == expected.count)

        let again = try await run(file)
        #expect((again.addedCount, again.unchangedCount) == (0, 12))
    }

    @Test("Results belong to their tools' calls, even if the database has no call IDs", arguments: [2, 3])
    func calls(version: Int) async throws {
        let database = try ClaudeCodeUIDatabase(file, version: version)
        try database.add("s", first: "x", at: 0)
        for chat in Self.chats { try database.add(chat, to: "s", callId: chat.toolName.map { "call-\($0)" }) }
        _ = try await run(file)
        let parts = try await imported.messages(imported.only()).flatMap(\.parts)
        let calls = parts.compactMap { part -> String? in
            if case .toolCall(let id, _, _) = part { return id }
            return nil
        }
        let results = parts.compactMap { part -> String? in
            if case .toolResult(let id, _) = part { return id }
            return nil
        }
        let expected = version >= 3 ? ["call-Read", "call-Bash"] : [Self.chats[2], Self.chats[3]].map(\.id.uuidString)
        #expect(calls == expected)
        // The third result belongs to no call here.
        #expect(Array(results.prefix(2)) == [expected[1], expected[0]])
    }

    @Test("Attachments are imported with their bytes if they are files of limited size, else as references")
    func attachments() async throws {
        let database = try ClaudeCodeUIDatabase(file, version: 5)
        try database.add("s", first: "x", at: 0)
        let chat = Self.chats[0]
        try database.add(chat, to: "s")
        let picture = try folder.write("files/p q.png", Data("picture".utf8))
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link.png", withDestinationPath: picture)
        let large = try folder.write("large.bin", Data())
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: large))
        try handle.truncate(atOffset: UInt64(ClaudeCodeUIAttachment.maxBytes + 1))
        let paths = [picture, folder.path + "/link.png", large, folder.path + "/gone.pdf", "relative.txt", folder.path]
        for (number, path) in paths.enumerated() {
            try database.attach(
                path, name: path.split(separator: "/").last.map(String.init) ?? "", type: "image", to: chat,
                number: number)
        }
        _ = try await run(file)
        let shown = try await imported.messages(imported.only()).flatMap { $0.chatMessages() }
        let attachments = try #require(shown.first?.attachments)
        #expect(
            attachments.map(\.name) == [
                "p q.png", "link.png", "large.bin", "gone.pdf", "relative.txt",
                folder.path.split(separator: "/").last.map(String.init),
            ])
        #expect(attachments[0].content == .stored(sha256: Attachment.sha256(of: Data("picture".utf8)), byteCount: 7))
        #expect(attachments[0].mediaType == "image/png" && attachments[3].mediaType == "application/pdf")
        for attachment in attachments.dropFirst() {
            guard case .remote(let url) = attachment.content else {
                Issue.record("\(attachment.name ?? "") should be a reference")
                continue
            }
            #expect(url.hasPrefix("file://"))
        }
        #expect(attachments[1].content == .remote(url: URL(fileURLWithPath: folder.path + "/link.png").absoluteString))
    }

    @Test("A session with an unreadable date keeps its first message, with and without messages")
    func badDates() async throws {
        let database = try ClaudeCodeUIDatabase(file, version: 5)
        try database.add("empty", first: "said", at: 0)
        try database.add("s", first: "Told otherwise", at: 0)
        try database.add(Self.chats[0], to: "s")
        try database.run("UPDATE sessions SET created_at = 'yesterday'")
        #expect(try await run(file).sessionCount == 2)
        let all = try await imported.sessions()
        #expect(Set(all.map(\.firstMessage)) == ["said", "Told otherwise"])
    }

    @Test("Unreadable rows are reported with their numbers, and the rest is imported")
    func badRows() async throws {
        let database = try ClaudeCodeUIDatabase(file, version: 5)
        try database.add("s", first: "x", at: 0)
        for chat in Self.chats.prefix(4) { try database.add(chat, to: "s") }
        try database.run("PRAGMA foreign_keys = OFF")
        try database.run("UPDATE messages SET id = 'not a uuid' WHERE rowid = 1")
        try database.run("UPDATE messages SET timestamp = 'yesterday' WHERE rowid = 2")
        try database.run(
            "UPDATE messages SET tool_input_data = 'bm90IGpzb24=', session_id = 'unlisted' WHERE rowid = 3")
        try database.run("CREATE TABLE api_transcripts (session_id TEXT, transcript_json TEXT)")
        let report = try await run(file)
        #expect(report.addedCount == 2)
        #expect(report.unreadableCount == 2)
        #expect(Set(report.unreadable.map(\.line)) == [1, 2])
        #expect(report.unreadable.allSatisfy { $0.file == file })
        #expect(report.skippedLines == ["table api_transcripts": 1])
        let all = try await imported.sessions()
        #expect(all.map(\.id.sessionId) == ["s", "unlisted"])
        let chat = try await imported.messages(all[1]).flatMap { $0.chatMessages() }.first
        #expect(chat?.toolName == "Read")
        #expect(chat?.metadata["claudeCodeUI"] == ["tool_input_data": "bm90IGpzb24="])
    }

    @Test("The write-ahead log of a running app is imported, and its files stay unchanged")
    func openWithLog() async throws {
        let database = try ClaudeCodeUIDatabase(file, version: 5, journal: "WAL")
        try database.add("s", first: "x", at: 0)
        try database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        for chat in Self.chats { try database.add(chat, to: "s") }
        func files() throws -> [String: Data] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce(into: [:]) {
                // Readers may write to the app's log index.
                if !$1.hasSuffix("-shm") { $0[$1] = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + $1)) }
            }
        }
        let before = try files()
        #expect(before.keys.contains { $0.hasSuffix("-wal") })
        #expect(try await run(file).addedCount == Self.chats.count)
        #expect(try files() == before)
        // A concurrent writer blocks no reader.
        try database.run("BEGIN IMMEDIATE")
        #expect(try await run(file).unchangedCount == Self.chats.count)
        try database.run("COMMIT")
    }

    @Test(
        "A log or journal left by a crash is read with its database, and no file is created there",
        arguments: ["WAL", "DELETE"])
    func afterACrash(journal: String) async throws {
        let database = try ClaudeCodeUIDatabase(file, version: 5, journal: journal)
        try database.add("s", first: "x", at: 0)
        for chat in Self.chats { try database.add(chat, to: "s") }
        if journal == "DELETE" {
            // Changes beyond the cache size are written to the file before they are committed.
            try database.run("PRAGMA cache_size = 2; BEGIN; UPDATE messages SET content = hex(zeroblob(20000))")
        }
        let crashed = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix("-shm") {
            try FileManager.default.copyItem(atPath: folder.path + "/" + name, toPath: crashed.path + "/" + name)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: crashed.path).sorted()
        #expect(names.count == 2)
        #expect(try await run(crashed.path).addedCount == Self.chats.count)
        #expect(try FileManager.default.contentsOfDirectory(atPath: crashed.path).sorted() == names)
        let shown = try await imported.messages(imported.only()).flatMap { $0.chatMessages() }
        #expect(shown.map(\.content) == Self.chats.map(\.content), "uncommitted changes are not imported")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count >= names.count)
    }

    @Test("A closed database in WAL mode is read without creating files beside it")
    func closedWithLog() async throws {
        do {
            let database = try ClaudeCodeUIDatabase(file, version: 5, journal: "WAL")
            try database.add("s", first: "x", at: 0)
            try database.add(Self.chats[0], to: "s")
        }
        #expect(try await run(folder.path).addedCount == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["claude_code_sessions.sqlite"])
    }

    @Test("A copy made without locks is not used if the database, its log or its journal changed meanwhile")
    func changedMeanwhile() throws {
        do { try ClaudeCodeUIDatabase(file, version: 5, journal: "WAL").add("s", first: "x", at: 0) }
        for suffix in ["", "-wal", "-journal"] {
            for isUnderLocks in [true, false] {
                let isUnchanged = try DatabaseCopy.isUnchanged(file) {
                    let handle = FileHandle(forWritingAtPath: file + suffix)
                    if handle == nil { FileManager.default.createFile(atPath: file + suffix, contents: Data([1])) }
                    try handle?.seekToEnd()
                    try handle?.write(contentsOf: Data([0]))
                    try handle?.close()
                    return isUnderLocks
                }
                #expect(isUnchanged == isUnderLocks, "\(suffix)")
            }
        }
        #expect(try DatabaseCopy.isUnchanged(file) { false })
        #expect(
            try !DatabaseCopy.isUnchanged(file) {
                try Data([1]).write(to: URL(fileURLWithPath: file + "-wal"))
                throw RecollectError(.damaged, "torn")
            })
        #expect(throws: RecollectError.self) {
            try DatabaseCopy.isUnchanged(file) { throw RecollectError(.damaged, "damaged") }
        }
    }

    @Test("Foreign and damaged databases throw clear errors, and nothing is imported")
    func refused() async throws {
        try ForeignDatabase(uri: "file:\(file)?mode=rwc", isReadOnly: false).run("CREATE TABLE sessions (name TEXT)")
        let foreign = await #expect(throws: RecollectError.self) { try await run(file) }
        #expect(foreign?.code == .foreignStore)
        #expect(foreign?.message.contains(file) == true)
        let broken = try folder.write(
            "broken.sqlite",
            Data("SQLite format 3\0".utf8) + Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) }))
        let damaged = await #expect(throws: RecollectError.self) { try await run(broken) }
        #expect(damaged?.code == .damaged)
        #expect(damaged?.message.contains(broken) == true)
        #expect(try await imported.sessions().isEmpty)
    }

    @Test("The fixture database of version 5 is still read correctly")
    func fixture() async throws {
        let fixtures = try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures")
        let report = try await run(fixtures.appendingPathComponent("claude-code-ui-5").path)
        #expect((report.sessionCount, report.addedCount, report.unreadableCount) == (2, 5, 0))
        let all = try await imported.sessions()
        #expect(all.map(\.preview) == ["Name the crater at the south.", "How far is the moon?"])
        #expect(all[0].branchName == "craters")
        let shown = try await imported.messages(all[0]).flatMap { $0.chatMessages() }
        #expect(shown.map(\.messageType) == [.text, .toolUse, .toolResult])
        #expect(shown[1].toolInputData == ToolInputData(parameters: ["pattern": "Tycho"]))
        #expect(shown[2].metadata["toolCallId"] == "toolu_01")
        #expect(
            shown.map(\.timestamp.millisecondsSince1970) == [1_770_109_200_250, 1_770_109_201_000, 1_770_109_201_500])
    }

    @Test("A killed import's copy is removed by the next import, and a copy in use stays")
    func leftCopies() throws {
        _ = try ClaudeCodeUIDatabase(file, version: 5)
        let temporary = FileManager.default.temporaryDirectory
        let (left, used) = ("recollect-copy-left-\(UUID())", "recollect-copy-used-\(UUID())")
        var locks: [OpenFile] = []
        let paths = [left, used].map { temporary.appendingPathComponent($0).path }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        for name in [left, used] {
            let lockFolder = try OpenFolder.make(path: temporary.appendingPathComponent(name).path)
            let lock = try lockFolder.makeFile("lock")
            if name == used { #expect(try lock.lockIfFree()) }
            locks.append(lock)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: lockFolder.path(of: "lock"))
        }
        _ = try DatabaseCopy(of: file)
        let names = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
        #expect(!names.contains(left) && names.contains(used) && locks.count == 2)
    }
}
