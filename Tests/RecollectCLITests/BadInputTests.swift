#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    @Suite("Invalid input", .needs(.processes))
    struct BadInputTests {
        @Test("Importing files that are not transcripts prints one line and exits with code 1")
        func foreignFiles() async throws {
            let recall = try RecallProcess()
            let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) })
            let paths = [
                try recall.write("binary.jsonl", bytes), try recall.write("notes.txt", "just words\nand more\n"),
                try recall.write("other.json", "{\"a\":1}"), try recall.write("folder/x.txt", "no transcripts"),
                recall.folder + "/missing", "/dev/null", "",
            ]
            for path in paths {
                let target = path.hasSuffix("x.txt") ? recall.folder + "/folder" : path
                let outcome = try await recall.run("import", target)
                #expect(outcome.code == 1, "\(target)")
                #expect(outcome.output.isEmpty)
                #expect(outcome.messages.hasPrefix("recall: "))
                #expect(outcome.messages.split(separator: "\n").count == 1, "\(outcome.messages)")
            }
            #expect(try await recall.run("sessions", "--json").json() == [])
        }

        @Test("An argument that is not UTF-8 is refused, because several would look the same")
        func brokenArguments() async throws {
            let recall = try RecallProcess()
            let script = try recall.write("run.sh", "exec \"$1\" sessions --user \"$(printf '\\377')\"\n")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [script, try RecallProcess.executable().path]
            process.environment = recall.environment
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 64)
        }

        @Test("An empty file and an incomplete last line are not errors")
        func unfinished() async throws {
            let recall = try RecallProcess()
            let empty = try await recall.run("import", recall.write("empty.jsonl", ""), "--json")
            #expect(empty.code == 0)
            #expect(try empty.json()["messages"] == 0)
            let torn = Lines.user("a1", "whole") + Lines.user("a2", "half").prefix(40)
            let outcome = try await recall.run("import", recall.write("torn.jsonl", torn), "--json")
            #expect(outcome.code == 0)
            #expect(try (outcome.json()["added"], outcome.json()["unfinished"]) == (1, 1))
        }

        @Test("A line larger than any message is reported, and the rest is imported")
        func hugeLine() async throws {
            let recall = try RecallProcess()
            let path = try recall.write("huge.jsonl", Lines.user("a1", "before"))
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.seekToEnd()
            let megabyte = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<65 { try file.write(contentsOf: megabyte) }
            try file.write(contentsOf: Data(("\n" + Lines.user("a2", "after")).utf8))
            try file.close()
            let outcome = try await recall.run("import", path, "--json")
            #expect(outcome.code == 2)
            #expect(try outcome.json()["added"] == 2)
            #expect(try outcome.json()["unreadable"]?.arrayValue?.first?["line"] == 2)
        }

        @Test("A store that is a file or a foreign database is left unchanged, with a clear message")
        func badStores() async throws {
            let recall = try RecallProcess()
            let transcript = try recall.write("s.jsonl", Lines.user("a1", "hello"))
            let file = try recall.write("a-file", "not a folder")
            let outcome = try await recall.run("import", "--store", file, transcript)
            #expect(outcome.code == 1)
            #expect(outcome.messages.contains(file))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "not a folder")

            let header = Data("SQLite format 3\0".utf8) + Data([0x10, 0, 1, 1, 0, 64, 32, 32]) + Data(count: 4_072)
            let database = try recall.write("foreign/history.sqlite", header)
            for command in ["sessions", "doctor"] {
                let outcome = try await recall.run(command, "--store", recall.folder + "/foreign")
                #expect(outcome.code == 1)
                #expect(outcome.messages.contains("history.sqlite"))
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == header)
        }

        @Test("Reading a folder without a history does not create one")
        func folderOfSomethingElse() async throws {
            let recall = try RecallProcess()
            try recall.write("photos/a.png", "not a history")
            for command in ["sessions", "doctor"] {
                let outcome = try await recall.run(command, "--store", recall.folder + "/photos")
                #expect(outcome.code == 1)
                #expect(outcome.messages.contains("no history found at"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: recall.folder + "/photos") == ["a.png"])
        }

        @Test("An empty ID names no session, even if there is only one")
        func emptyId() async throws {
            let recall = try RecallProcess()
            for (count, session) in [(1, "11111111-aaaa"), (2, "22222222-bbbb")] {
                let line = Lines.user("a\(count)", "hello", session: session)
                #expect(try await recall.run("import", recall.write("s.jsonl", line)).code == 0)
                for command in [
                    ["delete", "--yes", ""], ["discard", ""], ["show", ""], ["chat", "--session", "", "hi"],
                ] {
                    let outcome = try await recall.run(command)
                    #expect(outcome.code == 1, "\(command)")
                    #expect(outcome.messages.contains("an empty ID matches no session"), "\(outcome.messages)")
                }
                #expect(try await recall.run("sessions", "--json").json().arrayValue?.count == count)
            }
        }

        @Test(
            "A folder without write permission is reported in a clear message",
            .disabled(if: getuid() == 0, "root may write everywhere"))
        func readOnly() async throws {
            let recall = try RecallProcess()
            let transcript = try recall.write("s.jsonl", Lines.user("a1", "hello"))
            let folder = recall.folder + "/locked"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
            let outcome = try await recall.run("import", "--store", folder + "/store", transcript)
            #expect(outcome.code == 1)
            #expect(outcome.messages.contains("permission"))
        }

        @Test("A damaged database is salvaged and reported, and the command continues")
        func damaged() async throws {
            let recall = try RecallProcess()
            let transcript = try recall.write("s.jsonl", Lines.user("a1", "hello"))
            try recall.write("store/history.sqlite", "this was a database once")
            let outcome = try await recall.run("import", transcript)
            #expect(outcome.code == 0)
            #expect(outcome.messages.contains("the damaged file is now"))
            let setAside = try FileManager.default.contentsOfDirectory(atPath: recall.store)
                .filter { $0.hasPrefix("history.damaged") }
            #expect(setAside.count == 1)
            #expect(try await recall.run("sessions", "--json").json().arrayValue?.count == 1)
        }

        @Test("A loss is reported, with exit code 2, until the file that was set aside is removed")
        func loss() async throws {
            let recall = try RecallProcess()
            let text = (0..<500).map { Lines.user("\($0)", String(repeating: "word ", count: 400)) }.joined()
            #expect(try await recall.run("import", recall.write("s.jsonl", text)).code == 0)
            _ = try await recall.run("search", "word")
            let path = recall.store + "/history.sqlite"
            let database = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            let size = try database.seekToEnd()
            try database.seek(toOffset: size / 4096 / 2 * 4096)
            try database.write(contentsOf: Data(repeating: 0x67, count: 16 * 4096))
            try database.close()
            #expect(try await recall.run("doctor", "--repair").code == 2)
            let report = try await recall.run("doctor", "--json")
            #expect(report.code == 2)
            let losses = try #require(report.json().objectValue?["losses"]?.arrayValue)
            let loss = try #require(losses.first?.objectValue)
            let setAside = try #require(loss["setAside"]?.stringValue)
            #expect(loss["sessions"]?.arrayValue?.count == 1)
            for command in [["sessions"], ["sessions", "--json"], ["doctor"]] {
                let outcome = try await recall.run(command)
                #expect(outcome.code == 2)
                #expect((outcome.output + outcome.messages).contains(setAside))
            }
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: recall.store + "/" + setAside + suffix)
            }
            #expect(try await recall.run("sessions").code == 0)
            #expect(try await recall.run("doctor").code == 0)
        }

        @Test("An export skips a missing attachment, names it, and exits with code 2")
        func missingAttachment() async throws {
            let recall = try RecallProcess()
            let picture = #"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#
            let line = Lines.user("a1", "hello").replacingOccurrences(
                of: #""hello""#, with: #"[{"type":"text","text":"hello"},\#(picture)]"#)
            #expect(try await recall.run("import", recall.write("s.jsonl", line + Lines.user("a2", "later"))).code == 0)
            let listed = try await recall.run("sessions", "--json").json()
            let session = try #require(listed.arrayValue?.first?.objectValue?["id"]?.stringValue)
            try FileManager.default.removeItem(atPath: recall.store + "/attachments")
            let outcome = try await recall.run("export", session, "-f", "jsonl")
            #expect(outcome.code == 2)
            #expect(outcome.output.contains("later"))
            #expect(outcome.messages.contains("recall: attachment "))
        }

        @Test("For an unreadable database, doctor reports only its files")
        func damagedInside() async throws {
            let recall = try RecallProcess()
            // More than the log holds, so that most of it is in the database itself.
            let text = (0..<500).map { Lines.user("\($0)", String(repeating: "word ", count: 4_000)) }.joined()
            #expect(try await recall.run("import", recall.write("s.jsonl", text)).code == 0)
            // Most of the messages, beyond everything that opening reads.
            let path = recall.store + "/history.sqlite"
            for log in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + log) }
            let database = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            let size = try database.seekToEnd()
            try #require(size > 1_000_000)
            try database.seek(toOffset: 4096 * 100)
            try database.write(contentsOf: Data(repeating: 0x67, count: Int(size) - 4096 * 100))
            try database.close()
            let outcome = try await recall.run("doctor")
            #expect(outcome.code == 2)
            #expect(outcome.output.contains("SQLite 3."))
            #expect(!outcome.output.contains("Contents") && !outcome.output.contains("Search index"))
        }

        @Test("Control characters in imported text are not printed")
        func escapes() async throws {
            let recall = try RecallProcess()
            let evil = "\u{1B}]0;owned\u{7}\u{9B}31m\u{202E}\rtext"
            let path = try recall.write("s.jsonl", Lines.user("a1", evil, session: "s\u{1B}[2J"))
            #expect(try await recall.run("import", path).code == 0)
            for command in ["sessions", "show", "search"] {
                let outcome =
                    switch command {
                    case "sessions": try await recall.run("sessions")
                    case "show": try await recall.run("show", "s")
                    default: try await recall.run("search", "text")
                    }
                #expect(outcome.output.contains("text"))
                for command in ["\u{1B}", "\u{7}", "\u{9B}", "\u{202E}", "\r"] {
                    #expect(!outcome.output.contains(command))
                }
            }
        }

        @Test("A command ends without a message if the reader of its output ends")
        func closedPipe() async throws {
            let recall = try RecallProcess()
            let text = (0..<2_000).map { Lines.user("\($0)", String(repeating: "word ", count: 50)) }.joined()
            #expect(try await recall.run("import", recall.write("s.jsonl", text)).code == 0)
            let messages = recall.folder + "/messages"
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c", "{ \"$0\" show 1 2>\"$1\"; echo $? >>\"$1\"; } | head -n 1", try RecallProcess.executable().path,
                messages,
            ]
            shell.environment = recall.environment
            shell.standardOutput = FileHandle.nullDevice
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                shell.terminationHandler = { _ in done.resume() }
                do { try shell.run() } catch { done.resume(throwing: error) }
            }
            #expect(try String(contentsOfFile: messages, encoding: .utf8) == "0\n")
        }
    }
#endif
