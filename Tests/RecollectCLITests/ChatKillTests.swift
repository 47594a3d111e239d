#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectSQLite
    import RecollectTestServer
    import RecollectTestSupport
    import Testing

    @Suite("Killed chats", .needs(.processes))
    struct ChatKillTests {
        @Test("There are fifty points for a kill")
        func count() {
            #expect(KillPoint.all.count == 50)
        }

        @Test(
            "A kill at any point of a reply loses no finished message, and the next turn works",
            arguments: KillPoint.all)
        func kill(at point: KillPoint) async throws {
            let recall = try RecallProcess()
            let model = try await ScriptedTurns(point)
            let agents = try recall.write("agents.yaml", model.agentsFile)
            let before = [
                ConversationMessage(id: "u0", role: .user, text: "Where is the harbour?"),
                ConversationMessage(id: "a0", role: .assistant, text: "In the north."),
            ]
            let id = SessionKey(userId: "local", sessionId: "harbours")
            try await withHistory(recall) { try await $0.append(before, to: id.scope(agentId: "navigator")) }

            let arguments = ["chat", "--json", "--agents", agents, "--session", "harbours", "And the pier?"]
            let running = try RunningRecall(recall, arguments)
            switch point.sign {
            case .asked(let count): try await model.asked[count - 1].wait()
            case .printed(let kind, let count): try await running.wait(for: kind, count: count)
            }
            let end = await running.end(by: SIGKILL)
            #expect(end.wasKilled || point.isFlowing, "if the server continues, the turn may end first")

            let next = try await recall.run(["chat", "--agents", agents, "--session", "harbours", "And now?"])
            #expect(next.code == 0, "\(next.messages)")
            #expect(next.output == "All is well.\n")
            try await check(point, recall, id, before: before)
            try check(request: try #require(model.server.requests.last))
            try await model.server.stop()
        }

        @Test("Reply text read by another process survives a kill of the streaming process")
        func keepsPieces() async throws {
            let recall = try RecallProcess()
            let point = try #require(KillPoint.all.first { $0.testDescription == "after piece 9" })
            let model = try await ScriptedTurns(point)
            let agents = try recall.write("agents.yaml", model.agentsFile)
            let running = try RunningRecall(recall, ["chat", "--json", "--agents", agents, "And the pier?"])
            let printed = try await running.wait(for: "text", count: 9)
            let session = try #require(printed.first?["id"]?.stringValue)
            let id = SessionKey(userId: "local", sessionId: session)
            let wanted = KillPoint.pieces.prefix(9).joined()
            try await withHistory(recall) { history in
                // Pieces are saved within a second.
                while try await history.streamingReplies(in: id).first?.message.text != wanted {
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(await running.end(by: SIGKILL).wasKilled)
            }
            #expect(try await recall.run("chat", "--agents", agents, "And now?").output == "All is well.\n")
            let shown = try await recall.run("show", session, "--json").json().arrayValue
            #expect(shown?[1]["text"] == .string(wanted))
            #expect(shown?[1]["metadata"]?["interrupted"] == true)
            try await model.server.stop()
        }

        private func check(
            _ point: KillPoint, _ recall: RecallProcess, _ id: SessionKey, before: [ConversationMessage]
        ) async throws {
            try await withHistory(recall) { history in
                let messages = try await history.messages(of: id, agentId: nil, page: PageRequest(limit: .max))
                    .elements.map(\.message)
                #expect(messages.prefix(2).map(\.id) == before.map(\.id))
                #expect(messages.prefix(2).map(\.parts) == before.map(\.parts))
                #expect(messages.map(\.role) == [.user, .assistant, .user, .assistant, .user, .assistant])
                try #require(messages.count == 6)
                #expect(messages[2].text == "And the pier?" && messages[4].text == "And now?")
                let reply = messages[3]
                let whole = KillPoint.pieces.joined()
                #expect(whole.hasPrefix(reply.text), "\(reply.text)")
                if point.isFinished {
                    #expect(reply.text == whole && !reply.isInterrupted)
                } else if !point.isFlowing {
                    #expect(reply.isInterrupted)
                }
                #expect(messages[5].text == "All is well." && !messages[5].isInterrupted)
                #expect(try await history.streamingReplies(in: id).isEmpty)
            }
        }

        /// Checks the rules of model servers: user and assistant alternate, and each call is directly followed by its
        /// result.
        private func check(request: ModelRequest) throws {
            var messages = request.messages[...]
            if messages.first?["role"] == "system" { messages.removeFirst() }
            #expect(messages.last?["content"]?.stringValue?.contains("And now?") == true)
            var last = "assistant"
            var calls: Set<String> = []
            for message in messages {
                let role = try #require(message["role"]?.stringValue)
                let opened = message["tool_calls"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
                if role == "tool" {
                    #expect(
                        calls.remove(message["tool_call_id"]?.stringValue ?? "") != nil, "a result without its call")
                } else {
                    #expect(calls.isEmpty, "calls without results: \(calls)")
                    #expect(role != last || last == "tool", "\(role) twice in a row")
                    calls = Set(opened)
                }
                last = role
            }
            #expect(calls.isEmpty && last == "user")
        }

        private func withHistory(
            _ recall: RecallProcess, _ body: (SQLiteHistoryStore) async throws -> Void
        ) async throws {
            let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: recall.store))
            try await body(history)
            await history.close()
        }
    }

    /// A model server that answers one turn as `point` defines, and the next turn completely.
    private struct ScriptedTurns {
        let server: ModelServer
        /// Opened by the turn's first and second request.
        let asked: [Gate]

        init(_ point: KillPoint) async throws {
            let asked = [Gate(), Gate()]
            let count = Locked(0)
            self.asked = asked
            server = try await ModelServer.start { request in
                if request.messages.last?["content"]?.stringValue?.contains("And now?") == true {
                    return .text(["All ", "is ", "well."])
                }
                let index = count.withLock { count in
                    defer { count += 1 }
                    return count
                }
                asked[min(index, 1)].open()
                // A request without an answer gets nothing, not even a head.
                guard index < point.answers.count else { return .raw([.silence]) }
                let goesOn = point.isFlowing || index < point.answers.count - 1 || point.endsInCall(index)
                return .stream(point.answers[index] + (goesOn ? [] : [.silence]))
            }
        }

        /// A single agent, so that no classification is needed.
        var agentsFile: String {
            """
            model: test-model
            base_url: \(server.baseURL)
            agents:
              - name: Navigator
                description: Knows harbours.
                tools: [search_history]
            """
        }
    }

    extension KillPoint {
        /// Whether an answer is a complete tool call, after which the server gets another request.
        fileprivate func endsInCall(_ index: Int) -> Bool {
            guard case .send(let bytes) = answers[index].last, case .send(let end) = ModelReply.Step.done else {
                return false
            }
            return bytes == end
        }
    }
#endif
