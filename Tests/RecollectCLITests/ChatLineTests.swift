#if CommandLine
    import Foundation
    import RecollectCore
    import Testing

    @testable import RecollectCLI

    @Suite("Chat input")
    struct ChatLineTests {
        @Test(
            "A slash starts a command, and two slashes start text",
            arguments: [
                ("hello", ChatLine.message("hello")), (" /help", .message(" /help")), ("//etc", .message("/etc")),
                ("/help", .command("help", argument: "")),
                ("/search  two words ", .command("search", argument: "two words")),
                ("/", .command("", argument: "")), ("/sessions\t3f", .command("sessions", argument: "3f")),
            ])
        func lines(line: String, expected: ChatLine) {
            #expect(ChatLine(line) == expected)
        }

        @Test(
            "A paste is text with line feeds, regardless of the terminal's line endings",
            arguments: [
                ("one\rtwo\r", "one\ntwo"), ("one\r\ntwo", "one\ntwo"), ("\ta\u{1B}[31mb\u{7}", "\ta[31mb"),
                ("漢字\n\n", "漢字"),
            ])
        func pastes(bytes: String, expected: String) {
            #expect(LineEditor.text(ofPaste: Array(bytes.utf8)) == expected)
        }

        @Test("Arguments in printed commands are quoted for a shell")
        func shellWords() {
            #expect(ShellWord("3f1c-9a.b_c").description == "3f1c-9a.b_c")
            #expect(ShellWord("").description == "''")
            #expect(ShellWord("it's $HOME").description == "'it'\\''s $HOME'")
        }

        @Test("Typed lines are saved for the next chat, bounded in number and private to the user")
        func typedLines() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("typed-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("chat-history")
            #expect(TypedLines(in: folder, of: "local").load().isEmpty)
            for line in ["one", "two\nlines", "漢字 \"quoted\""] { TypedLines(in: folder, of: "local").append(line) }
            #expect(TypedLines(in: folder, of: "local").load() == ["one", "two\nlines", "漢字 \"quoted\""])
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // An incomplete last line is skipped.
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            try handle.write(contentsOf: Data("\"half".utf8))
            try handle.close()
            #expect(TypedLines(in: folder, of: "local").load().count == 3)
            try FileManager.default.removeItem(at: file)
            for number in 0...2 * TypedLines.limit { TypedLines(in: folder, of: "local").append("\(number)") }
            let saved = TypedLines(in: folder, of: "local").load()
            #expect(saved.count == TypedLines.limit && saved.last == "\(2 * TypedLines.limit)")
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == TypedLines.limit)
            // Each user has separate lines.
            TypedLines(in: folder, of: "bob").append("mine")
            #expect(TypedLines(in: folder, of: "bob").load() == ["mine"])
            #expect(TypedLines(in: folder, of: "eve").load().isEmpty)
            #expect(TypedLines(in: folder, of: "local").load() == saved)
        }
    }
#endif
