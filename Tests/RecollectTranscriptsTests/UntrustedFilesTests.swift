import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

@Suite("Untrusted files")
struct UntrustedFilesTests {
    private func lines(_ path: String, limit: Int) throws -> [String] {
        let reader = try LineReader(path: path, maxLineBytes: limit)
        var found: [String] = []
        while let line = try reader.next({ line in
            switch line {
            case .whole(let bytes): "\(reader.number):" + String(decoding: bytes, as: UTF8.self)
            case .unended(let bytes): "\(reader.number)~" + String(decoding: bytes, as: UTF8.self)
            case .tooLong: "\(reader.number)!"
            }
        }) {
            found.append(line)
        }
        return found
    }

    @Test("Lines end at line breaks, blank lines are only counted, and long lines are never kept in memory")
    func lineReader() throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "x", count: 1_000_000)
        let path = try folder.write("f", "a\n\n  \r\n\(long)\nbb\r\n\(long.prefix(10))\n\(long)")
        #expect(try lines(path, limit: 10) == ["1:a", "4!", "5:bb\r", "6:xxxxxxxxxx", "7!"])
        #expect(try lines(path, limit: 2_000_000) == ["1:a", "4:\(long)", "5:bb\r", "6:xxxxxxxxxx", "7~\(long)"])
        #expect(try lines(folder.write("empty", ""), limit: 10) == [])
        #expect(try lines(folder.write("one", "end"), limit: 10) == ["1~end"])
        #expect(
            try lines(folder.write("exact", "1234567890\n1234567890"), limit: 10) == ["1:1234567890", "2~1234567890"])
    }

    @Test(
        "A line with values nested too deeply for a history is reported, and stops nothing",
        arguments: [496, 497, 506])
    func nesting(levels: Int) async throws {
        let folder = try TemporaryFolder()
        let deep = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let parts = #"[{"toolCall":{"id":"t","name":"dig","arguments":\#(deep)}}]"#
        let text = #"""
            {"recollect":"history","version":1,"session":{"id":"s","title":"T"}}
            {"id":"1","role":"assistant","timestamp":1,"parts":\#(parts),"agentId":"a"}
            {"id":"2","role":"user","timestamp":2,"parts":[{"text":{"_0":"x"}}],"agentId":"a"}

            """#
        let imported = Imported()
        let report = try await imported.run(folder.write("s.jsonl", text))
        let isKept = levels <= JSONValue.depthLimit
        #expect(report.unreadable.map(\.line) == (isKept ? [] : [2]))
        #expect(try await imported.messages(imported.only()).map(\.id) == (isKept ? ["1", "2"] : ["2"]))
    }

    @Test(
        "Values nested deeper than 128 levels in a line of another program are saved as text",
        arguments: [128, 129, 400])
    func foreignNesting(levels: Int) async throws {
        let folder = try TemporaryFolder()
        let deep = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let call = #"{"type":"tool_use","id":"t","name":"dig","input":\#(deep)}"#
        let message = #"{"role":"assistant","content":[{"type":"text","text":"x"},\#(call)]}"#
        let line = #"{"type":"assistant","uuid":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z""#
        let imported = Imported()
        let report = try await imported.run(
            folder.write("s.jsonl", line + #","extra":\#(deep),"message":\#(message)}"# + "\n"))
        #expect(report.unreadable.isEmpty)
        let found = try #require(try await imported.messages(imported.only()).first)
        let saved: JSONValue = levels > 128 ? .string(deep) : try JSONValue(parsing: deep)
        #expect(found.parts == [.text("x"), .toolCall(id: "t", name: "dig", arguments: saved)])
        #expect(found.metadata["claudeCode"]?["extra"] == saved)
    }

    @Test("A line with keys that differ only in bytes is reported and not imported")
    func duplicateMembers() async throws {
        let folder = try TemporaryFolder()
        let equalKeys = "{\"\u{E9}\":1,\"e\u{301}\":2," + userLine("1").dropFirst()
        let imported = Imported()
        let report = try await imported.run(folder.write("s.jsonl", equalKeys + userLine("2")))
        #expect(report.unreadable.map(\.line) == [1])
        #expect(try await imported.messages(imported.only()).map(\.id) == ["2"])
    }

    @Test("A byte order mark before the first line is ignored")
    func byteOrderMark() throws {
        let folder = try TemporaryFolder()
        #expect(try lines(folder.write("f", "\u{FEFF}a\n\u{FEFF}b\n"), limit: 10) == ["1:a", "2:\u{FEFF}b"])
        #expect(try lines(folder.write("one", "\u{FEFF}a"), limit: 10) == ["1~a"])
        #expect(try lines(folder.write("mark", "\u{FEFF}"), limit: 10) == [])
        let path = try folder.write("s.jsonl", "\u{FEFF}" + userLine("1") + userLine("2"))
        let reader = try TranscriptReader(path: path)
        var ids: [String] = []
        while case .message(let message)? = try reader.next()?.content { ids.append(message.id) }
        #expect(ids == ["1", "2"])
    }

    @Test("Chunk boundaries at any position give the same lines", arguments: [255, 256, 257].map { $0 * 1024 })
    func chunkBorders(length: Int) throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "é", count: length / 2)
        let path = try folder.write("f", "\(text)\nnext\n\(text)\n")
        #expect(try lines(path, limit: 1 << 20) == ["1:\(text)", "2:next", "3:\(text)"])
    }

    @Test("A line that is too long is reported, and the rest is read")
    func longLine() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            "s.jsonl", userLine("1") + userLine("2", String(repeating: "y", count: 5_000)) + userLine("3"))
        let reader = try TranscriptReader(path: path, maxLineBytes: 1_000)
        var ids: [String] = []
        while let record = try reader.next() {
            switch record.content {
            case .message(let message): ids.append(message.id)
            case .unreadable(let reason): ids.append("line \(record.line): \(reason.contains("longer"))")
            default: Issue.record("\(record)")
            }
        }
        #expect(ids == ["1", "line 2: true", "3"])
    }

    @Test("Links and pipes are reported, not followed and not opened")
    func links() async throws {
        let (folder, outside) = (try TemporaryFolder(), try TemporaryFolder())
        let secret = try outside.write("deep/secret.jsonl", userLine("secret"))
        try folder.write("s.jsonl", userLine("1"))
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path + "/file.jsonl", withDestinationPath: secret)
        try manager.createSymbolicLink(atPath: folder.path + "/folder", withDestinationPath: outside.path)
        #expect(mkfifo(folder.path + "/pipe.jsonl", 0o600) == 0)
        try manager.createSymbolicLink(atPath: folder.path + "/notes.txt", withDestinationPath: secret)
        let imported = Imported()
        let report = try await imported.run(folder.path)
        #expect(try await imported.messages(imported.only()).map(\.id) == ["1"])
        #expect(
            report.unreadable.map { URL(fileURLWithPath: $0.file).lastPathComponent } == [
                "file.jsonl", "folder", "pipe.jsonl",
            ])
        #expect(throws: RecollectError.self) { try TranscriptReader(path: folder.path + "/file.jsonl") }
    }

    @Test("Overlapping paths are found once")
    func overlappingPaths() throws {
        let folder = try TemporaryFolder()
        try folder.write("a/s.jsonl", userLine("1"))
        let found = try TranscriptFiles.find(in: [folder.path, folder.path + "/a", folder.path], formats: [])
        #expect(found.files.count == 1 && found.unreadable.isEmpty)
    }

    @Test("Names that are not UTF-8, and chats of Agent Squad beside transcripts, are reported")
    func leftOut() async throws {
        let folder = try TemporaryFolder()
        try folder.write("project/s.jsonl", userLine("1"))
        try folder.write("empty/notes.txt", "text")
        let chats = FileChatStorage(baseURL: URL(fileURLWithPath: folder.path + "/squad"))
        let message = ConversationMessage(role: .user, text: "Hello")
        try await chats.save(message, userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        var expected = ["squad"]
        #if os(Linux)
            // Other systems refuse such names.
            let file = open(folder.path + "/project/caf\u{1}.jsonl", O_CREAT | O_WRONLY, 0o600)
            close(file)
            let name = (folder.path + "/project/caf").utf8.map(CChar.init(bitPattern:)) + [CChar(bitPattern: 0xE9)]
            let suffix = ".jsonl".utf8.map(CChar.init(bitPattern:)) + [0]
            try #require(rename(folder.path + "/project/caf\u{1}.jsonl", name + suffix) == 0)
            expected.insert("caf\u{FFFD}.jsonl", at: 0)
        #endif
        let imported = Imported()
        let report = try await imported.run(folder.path)
        #expect(report.addedCount == 1)
        #expect(report.unreadable.map { URL(fileURLWithPath: $0.file).lastPathComponent } == expected)
    }

    @Test("Folders nested too deeply are reported and not opened")
    func depth() async throws {
        let folder = try TemporaryFolder()
        try folder.write("s.jsonl", userLine("1"))
        try folder.write(String(repeating: "d/", count: 20) + "deep.jsonl", userLine("2"))
        let imported = Imported()
        let report = try await imported.run(folder.path)
        #expect(report.addedCount == 1)
        #expect(report.unreadable.count == 1)
        #expect(report.unreadable[0].line == 0)
    }

    @Test("A foreign file throws if it is named, and is reported if it is found in a folder")
    func foreign() async throws {
        let folder = try TemporaryFolder()
        try folder.write("s.jsonl", userLine("1"))
        let foreign = try folder.write(
            "t.jsonl", String(contentsOfFile: Fixtures.path("foreign.jsonl"), encoding: .utf8))
        let binary = try folder.write("u.jsonl", Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
        let imported = Imported()
        for path in [foreign, binary] {
            let error = await #expect(throws: RecollectError.self) { try await imported.run(path) }
            #expect(error?.code == .unreadable)
        }
        #expect(try await imported.sessions().isEmpty)
        let report = try await imported.run(folder.path)
        #expect(report.addedCount == 1)
        #expect(report.unreadable.map(\.file) == [foreign, binary])
    }

    @Test("A path with nothing to import throws")
    func nothing() async throws {
        let folder = try TemporaryFolder()
        let imported = Imported()
        for path in [folder.path, folder.path + "/missing"] {
            let error = await #expect(throws: RecollectError.self) { try await imported.run(path) }
            #expect(error?.code == .notFound)
        }
        let report = try await imported.run(folder.write("new.jsonl", ""))
        #expect(report == ImportReport())
    }

    @Test("The lists of unreadable lines and of kinds are bounded, their counts are not")
    func boundedReport() async throws {
        let folder = try TemporaryFolder()
        let bad = (0..<3_000).map { "{\"type\":\"kind\($0)\"}\n{broken\n" }.joined()
        let report = try await Imported().run(folder.write("s.jsonl", userLine("1") + bad))
        #expect(report.unreadable.count == 1_000)
        #expect(report.unreadableCount == 3_000)
        #expect(report.skippedLines.count <= 101)
        #expect(report.skippedLines.values.reduce(0, +) == 3_000)
    }

    @Test("Files beyond the limit of an import are reported once, not one by one")
    func tooManyFiles() throws {
        /// Lists too many transcripts, and opens none.
        struct Many: TranscriptFormat {
            let name = "a heap"

            func transcripts(at path: String) throws -> [TranscriptFile] {
                (0..<TranscriptFiles.countLimit + 3).map { number in
                    TranscriptFile(path: "\(path)/\(number)", byteCount: 0) { throw CocoaError(.fileNoSuchFile) }
                }
            }
        }
        let folder = try TemporaryFolder()
        let found = try TranscriptFiles.find(in: [folder.write("heap", "")], formats: [Many()])
        #expect(found.files.count == TranscriptFiles.countLimit)
        #expect(found.unreadable.map(\.reason) == ["more than 200000 files: import the folders one by one"])
    }
}
