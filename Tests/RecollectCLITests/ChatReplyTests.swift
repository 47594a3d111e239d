#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestServer
    import RecollectTestSupport
    import Testing

    @Suite("Chats with model replies", .needs(.processes))
    struct ChatReplyTests {
        private static let yaml = """
            model: test-model
            base_url: SERVER
            agents:
              - name: Navigator
                description: Knows routes, tides and harbours.
              - name: Cook
                description: Knows recipes, soups and bread.
            """

        private func agents(_ recall: RecallProcess, _ server: ModelServer, _ yaml: String = Self.yaml) throws -> String
        {
            let text = yaml.replacingOccurrences(of: "SERVER", with: server.baseURL.absoluteString)
            return try recall.write("agents.yaml", text)
        }

        private func messages(_ recall: RecallProcess) async throws -> [JSONValue] {
            let sessions = try await recall.run("sessions", "--json").json().arrayValue ?? []
            let session = try #require(sessions.first?["id"]?.stringValue)
            return try await recall.run("show", session, "--json").json().arrayValue ?? []
        }

        private func terminal(_ recall: RecallProcess, _ arguments: String...) throws -> TestTerminal {
            var environment = recall.environment
            environment["TERM"] = "xterm"
            environment["LC_ALL"] = "C.UTF-8"
            environment["NO_COLOR"] = "1"
            return try TestTerminal(RecallProcess.executable(), ["chat"] + arguments, environment: environment)
        }

        @Test("Ctrl-C stops the reply, closes the connection, and keeps the partial reply and typed text")
        func stopping() async throws {
            let recall = try RecallProcess()
            let server = try await ModelServer.start { request in
                guard request.messages.last?["content"] == "Soup?" else { return .text(["Good ", "day."]) }
                return .stream([
                    .delta(["reasoning_content": "Let me see."]), .delta(["content": "Take leeks, "]),
                    .delta(["content": "then 漢字"]), .silence,
                ])
            }
            let terminal = try terminal(recall, "--agents", try agents(recall, server))
            try await terminal.expect("› ")
            terminal.type("Soup?\r")
            try await terminal.expect("▌ Cook")
            try await terminal.expect("Let me see.")
            // The last character is held back until the next one, which may be an accent, or the end.
            try await terminal.expect("Take leeks, then 漢")
            terminal.type("typed ahead")
            terminal.type("\u{3}")
            let shown = try await terminal.expect("interrupted")
            #expect(shown.hasPrefix("字\r\n"))
            #expect(!shown.contains("typed ahead"), "not in the middle of the reply")
            try await terminal.expect("typed ahead")
            try await server.requests[0].closed()
            terminal.type("\r")
            try await terminal.expect("Good day.")
            try await terminal.expect("› ")
            terminal.type("\u{4}")
            #expect(await terminal.end() == 0)
            let messages = try await messages(recall)
            #expect(messages.map { $0["role"] } == ["user", "assistant", "user", "assistant"])
            #expect(messages[1]["text"] == "Take leeks, then 漢字")
            #expect(messages[1]["metadata"]?["interrupted"] == true)
            #expect(messages[2]["text"] == "typed ahead")
            try await server.stop()
        }

        @Test(
            "A signal during a reply saves the reply and ends the chat with the signal's exit code",
            arguments: [SIGTERM, SIGHUP, SIGINT])
        func ending(signal: Int32) async throws {
            let recall = try RecallProcess()
            let server = try await ModelServer.start { _ in .stream([.delta(["content": "Half"]), .silence]) }
            let running = try RunningRecall(
                recall, ["chat", "--json", "--agents", try agents(recall, server), "Soup?"])
            try await running.wait(for: "text")
            let end = await running.end(by: signal)
            #expect(end.code == 128 + signal && !end.wasKilled)
            let messages = try await messages(recall)
            #expect(messages.map { $0["text"] } == ["Soup?", "Half"])
            #expect(messages.last?["metadata"]?["interrupted"] == true)
            try await server.stop()
        }

        @Test("A stopped reply that cannot be saved is reported")
        func stoppedAndDeleted() async throws {
            let recall = try RecallProcess()
            let server = try await ModelServer.start { _ in .stream([.delta(["content": "Half"]), .silence]) }
            let running = try RunningRecall(
                recall, ["chat", "--json", "--agents", try agents(recall, server), "Soup?"])
            try await running.wait(for: "text")
            let session = try #require(
                try await recall.run("sessions", "--json").json().arrayValue?.first?["id"]?.stringValue)
            #expect(try await recall.run("delete", session, "--yes").code == 0)
            let end = await running.end(by: SIGINT)
            #expect(end.code == 128 + SIGINT)
            try await running.wait(for: "failed")
            try await server.stop()
        }

        @Test("An agent with the tool memory works in the workspace, and its notes have versions by it")
        func memory() async throws {
            let recall = try RecallProcess()
            recall.environment["RECOLLECT_WORKSPACE"] = recall.folder + "/shared"
            recall.environment["HOME"] = recall.folder + "/home"
            recall.environment["XDG_DATA_HOME"] = recall.folder + "/home/data"
            let commands: [JSONValue] = [
                ["command": "view", "path": "/memories"],
                ["command": "create", "path": "/memories/soups.md", "file_text": "# Soups\n\n- leek\n"],
                [
                    "command": "str_replace", "path": "/memories/soups.md", "old_str": "leek",
                    "new_str": "leek, with bread",
                ],
                ["command": "insert", "path": "/memories/soups.md", "insert_line": 3, "insert_text": "- pea"],
                ["command": "rename", "old_path": "/memories/soups.md", "new_path": "/memories/recipes/soups.md"],
                ["command": "view", "path": "/memories/recipes/soups.md"],
                ["command": "view", "path": "/memories/soups.md"],
                ["command": "delete", "path": "/memories/recipes"],
            ]
            let server = try await ModelServer.start { request in
                let done = request.messages.count { $0["role"] == "tool" }
                guard done < commands.count else { return .text(["Noted."]) }
                return .toolCalls([(id: "call-\(done)", name: "memory", arguments: commands[done])])
            }
            let yaml = Self.yaml.replacingOccurrences(
                of: "    description: Knows recipes", with: "    tools: [memory]\n    description: Knows recipes")
            let outcome = try await recall.run(
                "chat", "--json", "--agents", try agents(recall, server, yaml), "Which soup?")
            #expect(outcome.code == 0, "\(outcome.messages)")
            let results = outcome.output.split(separator: "\n").compactMap { line -> JSONValue? in
                guard let event = try? JSONValue(parsing: String(line)),
                    event["event"] == "toolResult"
                else { return nil }
                return event["content"]
            }
            let heading = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"
            #expect(
                results == [
                    .string(heading + "\n0B\t/memories"), "File created successfully at: /memories/soups.md",
                    "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\t# Soups\n     2\t\n     3\t- leek, with bread\n     4\t",
                    "The file /memories/soups.md has been edited.",
                    "Successfully renamed /memories/soups.md to /memories/recipes/soups.md",
                    "Here's the content of /memories/recipes/soups.md with line numbers:\n     1\t# Soups\n     2\t\n     3\t- leek, with bread\n     4\t- pea\n     5\t",
                    ["error": "The path /memories/soups.md does not exist. Please provide a valid path."],
                    "Successfully deleted /memories/recipes",
                ], "\(outcome.output)")
            let trash = try await recall.run("workspace", "trash", "--json").json().arrayValue ?? []
            #expect(trash.map { $0["path"] } == ["Memories/recipes/soups.md"] && trash.map { $0["author"] } == ["cook"])
            // The tool is declared with its schema.
            let tools = server.requests.last?.body["tools"]?.arrayValue ?? []
            #expect(tools.map { $0["function"]?["name"] } == ["memory"])
            try await server.stop()
        }

        @Test("A failed turn is reported and saved, later lines are sent, and the exit code is 1")
        func failing() async throws {
            let recall = try RecallProcess()
            let server = try await ModelServer.start { request in
                request.messages.last?["content"] == "bad" ? .status(400, "no such thing") : .text(["Fine."])
            }
            let outcome = try await recall.run(["chat", "--agents", try agents(recall, server)], input: "bad\ngood\n")
            #expect(outcome.code == 1)
            #expect(outcome.output == "Fine.\n")
            #expect(outcome.messages.contains("400"), "\(outcome.messages)")
            #expect(try await messages(recall).filter { $0["role"] == "user" }.map { $0["text"] } == ["bad", "good"])
            try await server.stop()
        }

        @Test("After a restart, each agent has its own history, and follow-ups go to the previous agent")
        func restart() async throws {
            let recall = try RecallProcess()
            let server = try await ModelServer.start { request in
                let system = request.messages.first?["content"]?.stringValue ?? ""
                return .text([system.contains("Cook") ? "The soup needs bread." : "The harbour lies north."])
            }
            let file = try agents(recall, server)
            func say(_ text: String) async throws -> JSONValue? {
                let outcome = try await recall.run("chat", "--agents", file, text)
                #expect(outcome.code == 0, "\(outcome.messages)")
                return try await messages(recall).last?["agentId"]
            }
            #expect(try await say("Which soup for tonight?") == "cook")
            #expect(try await say("yes") == "cook")
            #expect(try await say("When is the tide in the harbour?") == "navigator")
            #expect(try await say("and tomorrow?") == "navigator")
            #expect(try await say("Back to the soup: which bread?") == "cook")
            #expect(try await say("ok, 2") == "cook")
            let sent = server.requests.map { request in
                request.messages.filter { $0["role"] == "user" }.compactMap { $0["content"]?.stringValue }
            }
            #expect(sent.last == ["Which soup for tonight?", "yes", "Back to the soup: which bread?", "ok, 2"])
            #expect(sent[3] == ["When is the tide in the harbour?", "and tomorrow?"])
            try await server.stop()
        }

        @Test("An assistant with a model has the history tools, and its key is sent only to its server")
        func assistant() async throws {
            let recall = try RecallProcess()
            _ = try await recall.run("chat", "note: the harbour lies north")
            let server = try await ModelServer.start(replies: [
                .toolCalls([("call_0", "search_history", ["query": "harbour"])]), .text(["North."]),
            ])
            recall.environment["OPENAI_API_KEY"] = "sk-test"
            recall.environment["OPENAI_BASE_URL"] = server.baseURL.absoluteString
            let outcome = try await recall.run("chat", "--new", "--model", "test-model", "Good evening")
            #expect(outcome.code == 0, "\(outcome.messages)")
            #expect(outcome.output == "North.\n")
            let requests = server.requests
            #expect(requests.count == 2)
            #expect(requests.allSatisfy { $0.header("authorization") == "Bearer sk-test" })
            let tools = requests[0].body["tools"]?.arrayValue?.compactMap { $0["function"]?["name"]?.stringValue }
            #expect(tools == ["search_history", "read_session", "take_note", "read_notes"])
            let result = requests[1].messages.last { $0["role"] == "tool" }
            #expect(result?["content"]?.stringValue?.contains("harbour lies north") == true)
            // A server configured without a key variable gets no key.
            let bare = try agents(recall, server, "model: m\nbase_url: SERVER\nagents:\n- {name: A, description: b}\n")
            #expect(try await recall.run("chat", "--agents", bare, "Hello").code == 0)
            #expect(server.requests.last?.header("authorization") == nil)
            try await server.stop()
        }
    }
#endif
