#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectSQLite
    import RecollectTestSupport
    import Testing

    @Suite("Chats with lines of input", .needs(.processes))
    struct ChatCommandTests {
        private func messages(_ recall: RecallProcess, _ session: String) async throws -> [JSONValue] {
            try await recall.run("show", session, "--json").json().arrayValue ?? []
        }

        private func sessions(_ recall: RecallProcess) async throws -> [String] {
            try await recall.run("sessions", "--json").json().arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
        }

        @Test("One message gets one reply, on standard output only, and both are saved")
        func once() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run("chat", "Note:", "Tycho is a crater")
            #expect(outcome.code == 0, "\(outcome.messages)")
            #expect(!outcome.output.isEmpty && outcome.messages.isEmpty)
            let session = try #require(try await sessions(recall).first)
            let messages = try await messages(recall, session)
            #expect(messages.map { $0["role"] } == ["user", "assistant"])
            #expect(messages.first?["text"] == "Note: Tycho is a crater")
            #expect(messages.last?["agentId"] == "scribe")
            #expect(messages.last?["text"]?.stringValue.map { outcome.output == $0 + "\n" } == true)
            #expect(FileManager.default.fileExists(atPath: recall.store + "/journal"))
            #expect(!FileManager.default.fileExists(atPath: recall.store + "/chat-history"))
        }

        @Test("A chat continues the last session or a named one, or starts a new one")
        func continuing() async throws {
            let recall = try RecallProcess()
            _ = try await recall.run("chat", "note: one")
            _ = try await recall.run("chat", "note: two")
            #expect(try await sessions(recall).count == 1)
            _ = try await recall.run("chat", "--new", "note: three")
            let ids = try await sessions(recall)
            #expect(ids.count == 2)
            _ = try await recall.run("chat", "--session", String(ids[1].prefix(9)), "note: four")
            #expect(try await messages(recall, ids[1]).count == 6)
            #expect(try await messages(recall, ids[0]).count == 2)
            let unknown = try await recall.run("chat", "--session", "zzzz", "note: five")
            #expect(unknown.code == 1 && unknown.messages.contains("recall sessions"))
        }

        @Test("Each line of the input is a turn, except blank lines")
        func lines() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run(["chat"], input: "note: one\n\n  \nnote: two\n//three is noted\nnote: 四")
            #expect(outcome.code == 0, "\(outcome.messages)")
            let messages = try await messages(recall, try #require(try await sessions(recall).first))
            #expect(
                messages.filter { $0["role"] == "user" }.map { $0["text"] }
                    == ["note: one", "note: two", "/three is noted", "note: 四"])
            #expect(messages.count == 8)
            #expect(try await recall.run(["chat"], input: "").code == 0)
        }

        @Test("Four chats in one session at the same time take turns, and none of them is interrupted")
        func sharedSession() async throws {
            let recall = try RecallProcess()
            _ = try await recall.run("chat", "note: begin")
            let session = try #require(try await sessions(recall).first)
            let lines = (0..<4).map { chat in (0..<6).map { "note: \(chat).\($0)" } }
            // The runs only read its environment.
            nonisolated(unsafe) let shared = recall
            try await withThrowingTaskGroup(of: Void.self) { group in
                for chat in lines {
                    group.addTask {
                        let outcome = try await shared.run(
                            ["chat", "--session", session], input: chat.joined(separator: "\n"))
                        #expect(outcome.code == 0, "\(outcome.messages)")
                    }
                }
                try await group.waitForAll()
            }
            let messages = try await messages(recall, session)
            #expect(messages.map { $0["role"] } == (0..<25).flatMap { _ in ["user", "assistant"] as [JSONValue] })
            let texts = messages.filter { $0["role"] == "user" }.compactMap { $0["text"]?.stringValue }
            for chat in lines { #expect(texts.filter(chat.contains) == chat) }
            #expect(messages.allSatisfy { $0["metadata"]?["interrupted"] == nil })
        }

        @Test("With --json, each event is printed on a line of its own")
        func json() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run(["chat", "--json"], input: "note: one\n/agents\nnote: two\n")
            #expect(outcome.code == 0, "\(outcome.messages)")
            let events = try outcome.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
            let kinds = events.compactMap { $0["event"]?.stringValue }
            #expect(kinds.first == "session" && kinds.count == events.count)
            #expect(kinds.filter { $0 == "began" }.count == 2 && kinds.filter { $0 == "final" }.count == 2)
            #expect(outcome.messages.contains("historian"), "output other than events goes to standard error")
            let began = try #require(events.first { $0["event"] == "began" })
            let final = try #require(events.first { $0["event"] == "final" })
            #expect(final["message"]?["id"] == began["replyId"])
            #expect(final["message"]?["agentId"] == "scribe")
            let session = try #require(events.first?["id"]?.stringValue)
            #expect(try await messages(recall, session).map { $0["id"] }[..<2] == [began["inputId"], began["replyId"]])
        }

        @Test("Undo moves the last turn to a branch, and the printed command restores it")
        func undo() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run(["chat"], input: "note: one\nnote: two\n/undo\n")
            #expect(outcome.code == 0, "\(outcome.messages)")
            let session = try #require(try await sessions(recall).first)
            #expect(try await messages(recall, session).map { $0["text"] }.first == "note: one")
            #expect(try await messages(recall, session).count == 2)
            #expect(outcome.messages.contains("Undone: note: two"))
            let command = try #require(outcome.messages.split(separator: "\n").last { $0.contains("recall restore") })
            let words = command.split(separator: " ").drop { $0 != "restore" }.map(String.init)
            #expect(try await recall.run(words).code == 0)
            #expect(try await messages(recall, session).count == 4)
            let nothing = try await recall.run(["chat", "--new"], input: "/undo\n")
            #expect(nothing.code == 1 && nothing.messages.contains("nothing to undo"))
        }

        @Test("Fork continues the chat in a new session")
        func fork() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run(["chat"], input: "note: one\n/fork\nnote: two\n")
            #expect(outcome.code == 0, "\(outcome.messages)")
            let ids = try await sessions(recall)
            #expect(ids.count == 2)
            #expect(try await messages(recall, ids[0]).count == 4)
            #expect(try await messages(recall, ids[1]).count == 2)
            #expect(try await recall.run(["chat", "--new"], input: "/fork\n").code == 1)
        }

        @Test("Sessions are listed, and opened by an ID prefix; a failing command ends the run")
        func switching() async throws {
            let recall = try RecallProcess()
            _ = try await recall.run("chat", "note: first of all")
            let first = try #require(try await sessions(recall).first)
            let outcome = try await recall.run(
                ["chat", "--new"],
                input: "note: elsewhere\n/sessions\n/sessions \(first.prefix(9))\nnote: back\n/new\nnote: new\n")
            #expect(outcome.code == 0, "\(outcome.messages)")
            #expect(outcome.messages.contains("SESSION") && outcome.messages.contains("note: elsewhere"))
            #expect(try await messages(recall, first).count == 4)
            #expect(try await sessions(recall).count == 3)
            let failing = try await recall.run(["chat"], input: "/sessions zzzz\nnote: never said\n")
            #expect(failing.code == 1 && failing.output.isEmpty)
            #expect(try await recall.run("search", "never", "--json").json() == [])
        }

        @Test("Export writes the same as recall export, and never overwrites a file")
        func export() async throws {
            let recall = try RecallProcess()
            let files = ["a.md", "b.jsonl", "c.json"].map { recall.folder + "/" + $0 }
            let commands = files.map { "/export \($0)\n" }.joined()
            #expect(try await recall.run(["chat"], input: "note: one\n" + commands).code == 0)
            let session = try #require(try await sessions(recall).first)
            for (file, format) in zip(files, ["markdown", "jsonl", "json"]) {
                let exported = try await recall.run("export", session, "--format", format).output
                #expect(try String(contentsOfFile: file, encoding: .utf8) == exported)
            }
            for (argument, problem) in [
                (files[0], "already"), (recall.folder + "/x.txt", ".md"), (recall.folder + "/no/x.md", "no/x.md"),
            ] {
                let outcome = try await recall.run(["chat"], input: "/export \(argument)\n")
                #expect(outcome.code == 1 && outcome.messages.contains(problem), "\(outcome.messages)")
            }
            let empty = try await recall.run(["chat", "--new"], input: "/export \(recall.folder)/d.md\n")
            #expect(empty.code == 1 && !FileManager.default.fileExists(atPath: recall.folder + "/d.md"))
        }

        @Test("Export reports the attachments with missing bytes, as recall export does")
        func exportWithMissingAttachment() async throws {
            let recall = try RecallProcess()
            let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: recall.store))
            let picture = Attachment(mediaType: "image/png", content: .inline(Data([1, 2, 3])))
            try await history.append(
                [ConversationMessage(id: "m", role: .user, parts: [.text("see"), .attachment(picture)])],
                to: Scope(userId: "local", sessionId: "with picture", agentId: "scribe"))
            await history.close()
            try FileManager.default.removeItem(atPath: recall.store + "/attachments")
            let outcome = try await recall.run(
                ["chat", "--session", "with"], input: "/export \(recall.folder)/a.jsonl\n")
            #expect(
                outcome.messages.contains("attachment \(Attachment.sha256(of: Data([1, 2, 3])))")
                    && outcome.messages.contains("missing or damaged"), "\(outcome.messages)")
        }

        @Test("Search, agents and help print their results; an unknown command explains the double slash")
        func telling() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run(
                ["chat"], input: "note: about harbours\n/search harbours\n/agents\n/help\n/quit\nnote: zebra\n")
            #expect(outcome.code == 0, "\(outcome.messages)")
            for text in ["«harbours»", "historian", "scribe", "/undo", "//text"] {
                #expect(outcome.messages.contains(text))
            }
            #expect(
                try await recall.run("search", "zebra", "--json").json() == [],
                "no line after /quit is sent")
            let unknown = try await recall.run(["chat"], input: "/etc/passwd is a file\n")
            #expect(unknown.code == 1 && unknown.messages.contains("//text"))
            #expect(try await recall.run(["chat"], input: "/new session\n").messages.contains("/new takes no arg"))
        }

        @Test("Agents are read from a file, and errors name its line", arguments: ["agents.yaml", "agents.json"])
        func agentsFile(name: String) async throws {
            let recall = try RecallProcess()
            let yaml = "agents:\n- kind: scribe\n  name: Secretary\n  description: Takes notes.\n"
            let json = #"{"agents": [{"kind": "scribe", "name": "Secretary", "description": "Takes notes."}]}"#
            let file = try recall.write(name, name.hasSuffix("json") ? json : yaml)
            #expect(try await recall.run("chat", "--agents", file, "note: one").code == 0)
            let session = try #require(try await sessions(recall).first)
            #expect(try await messages(recall, session).last?["agentId"] == "secretary")
            let bad = try recall.write("bad.yaml", "agents:\n- kind: scribe\n- kind: scribe\n")
            let outcome = try await recall.run("chat", "--agents", bad, "note: two")
            #expect(outcome.code == 1 && outcome.messages.contains("bad.yaml:3: duplicate agent 'Scribe'"))
            #expect(try await recall.run("chat", "--agents", recall.folder + "/none", "x").messages.contains("/none"))
        }

        @Test("A model without a key is an error that names the environment variable for it")
        func missingKey() async throws {
            let recall = try RecallProcess()
            let outcome = try await recall.run("chat", "--model", "m", "Hello")
            #expect(outcome.code == 1 && outcome.messages.contains("OPENAI_API_KEY"))
            recall.environment["OPENAI_BASE_URL"] = "nonsense"
            #expect(try await recall.run("chat", "--model", "m", "Hello").messages.contains("OPENAI_BASE_URL"))
        }

        @Test(
            "Contradictory options exit with code 64 and the usage",
            arguments: [
                ["chat", "--new", "--session", "a"], ["chat", "--agents", "f", "--model", "m"],
                ["chat", "--base-url", "http://localhost"], ["chat", "--model", "m", "--base-url", "localhost"],
                ["chat", " "],
                ["chat", "--journal", ""],
            ])
        func usage(arguments: [String]) async throws {
            let outcome = try await RecallProcess().run(arguments)
            #expect(outcome.code == 64)
            #expect(outcome.messages.contains("Usage:"))
        }
    }
#endif
