#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectSQLite
    import RecollectTestSupport
    import Testing

    @testable import RecollectCLI

    @Suite("Session library commands", .needs(.processes))
    struct LibraryCommandTests {
        /// Imports three sessions, latest last: `aaaaaaaa-1`, `bbbbbbbb-2`, `cccccccc-3`.
        private func imported() async throws -> RecallProcess {
            let recall = try RecallProcess()
            let lines =
                Lines.user("a1", "Where is Tycho?", session: "aaaaaaaa-1", at: 0)
                + Lines.assistant("a2", "In the south.", session: "aaaaaaaa-1", at: 1)
                + Lines.user("b1", "Zinc or tin?", session: "bbbbbbbb-2", at: 10)
                + Lines.user("c1", "About harbours", session: "cccccccc-3", at: 20)
            #expect(try await recall.run("import", recall.write("s.jsonl", lines)).code == 0)
            return recall
        }

        private func ids(_ recall: RecallProcess, _ arguments: String...) async throws -> [String] {
            let outcome = try await recall.run(["sessions", "--json"] + arguments)
            #expect(outcome.code == 0, "\(outcome.messages)")
            return try outcome.json().arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
        }

        @Test("Set changes title, tags, pin, archive mark and read mark, and can revert each")
        func set() async throws {
            let recall = try await imported()
            let set = try await recall.run(
                "set", "aaaa", "--title", "The moon", "--tag", "sky", "--tag", "night", "--pin", "--unread", "--json")
            #expect(set.code == 0, "\(set.messages)")
            let session = try #require(set.json().arrayValue?.first)
            #expect((session["title"], session["displayTitle"]) == ("The moon", "The moon"))
            #expect(session["tags"] == ["night", "sky"])
            #expect((session["isPinned"], session["isUnread"], session["isArchived"]) == (true, true, false))
            let line = try await recall.run("sessions", "--tag", "sky").output.split(separator: "\n")
            #expect(line.count == 2 && line[1].hasSuffix("The moon"))
            #expect(line[1].contains("  PU  ") && line[1].contains("  night, sky  "), "\(line)")
            let back = try await recall.run(
                "set", "aaaa", "--title", "", "--untag", "sky", "--no-pin", "--read", "--json"
            ).json().arrayValue?.first
            #expect((back?["title"], back?["displayTitle"]) == (.null, "Where is Tycho?"))
            #expect((back?["isPinned"], back?["isUnread"], back?["tags"]) == (false, false, ["night"]))
            #expect(try await recall.run("set", "aaaa", "bbbb", "--tag", "x", "--archive").code == 0)
            #expect(try await ids(recall) == ["cccccccc-3"])
            #expect(try await ids(recall, "--archived") == ["bbbbbbbb-2", "aaaaaaaa-1"])
            #expect(try await ids(recall, "--all").count == 3)
            #expect(try await recall.run("set", "aaaa", "bbbb", "--no-archive").code == 0)
            #expect(try await ids(recall).count == 3)
        }

        @Test("Lists are filtered and sorted as requested")
        func filters() async throws {
            let recall = try await imported()
            #expect(try await recall.run("set", "bbbb", "--pin", "--unread", "--tag", "a", "--tag", "b").code == 0)
            #expect(try await ids(recall) == ["cccccccc-3", "bbbbbbbb-2", "aaaaaaaa-1"])
            #expect(try await ids(recall, "--reverse").first == "aaaaaaaa-1")
            #expect(try await ids(recall, "--sort", "title") == ["cccccccc-3", "aaaaaaaa-1", "bbbbbbbb-2"])
            #expect(try await ids(recall, "--sort", "messages").first == "aaaaaaaa-1")
            #expect(try await ids(recall, "--sort", "created", "--limit", "1") == ["cccccccc-3"])
            #expect(try await ids(recall, "--pinned") == ["bbbbbbbb-2"])
            #expect(try await ids(recall, "--unread") == ["bbbbbbbb-2"])
            #expect(try await ids(recall, "--tag", "a", "--tag", "b") == ["bbbbbbbb-2"])
            #expect(try await ids(recall, "--tag", "a", "--tag", "c").isEmpty)
            #expect(try await ids(recall, "--agent", "nobody").isEmpty)
            #expect(try await ids(recall, "--agent", "claude").count == 3)
            #expect(try await ids(recall, "--search", "south") == ["aaaaaaaa-1"])
            #expect(try await ids(recall, "--since", "2026-02-03T09:00:10Z") == ["cccccccc-3", "bbbbbbbb-2"])
            #expect(try await ids(recall, "--until", "2026-02-03T09:00:10") == ["aaaaaaaa-1"])
            #expect(try await ids(recall, "--since", "2026-02-04").isEmpty)
            #expect(try await recall.run("sessions", "--tag", "c").output.contains("--all"))
        }

        @Test("Discarded sessions are hidden until restored, and have unambiguous short IDs")
        func discarding() async throws {
            let recall = try await imported()
            let more = Lines.user("d1", "Alike", session: "aaaaaaaa-2", at: 30)
            #expect(try await recall.run("import", recall.write("t.jsonl", more)).code == 0)
            #expect(try await recall.run("discard", "aaaaaaaa-1", "bbbb").output.contains("Where is Tycho?"))
            #expect(try await ids(recall) == ["aaaaaaaa-2", "cccccccc-3"])
            #expect(try await ids(recall, "--discarded") == ["bbbbbbbb-2", "aaaaaaaa-1"])
            #expect(try await recall.run("search", "tycho", "--json").json() == [])
            // A short ID in this list must not match a session outside it.
            let listed = try await recall.run("sessions", "--discarded").output.split(separator: "\n")
            #expect(listed.last?.hasPrefix("aaaaaaaa-1  ") == true)
            #expect(try await recall.run("show", "bbbb").output.contains("discarded "))
            let unknown = try await recall.run("restore", "cccc")
            #expect(unknown.code == 1)
            #expect(unknown.messages.contains("--discarded"))
            #expect(try await recall.run("restore", "bbbb", "zzzz").code == 1)
            #expect(try await ids(recall, "--discarded").count == 2, "no session is restored if one is not found")
            #expect(try await recall.run("restore", "bbbb", "aaaa").code == 0)
            #expect(try await ids(recall, "--discarded").isEmpty)
            #expect(try await ids(recall).count == 4)
        }

        @Test("Delete refuses without a terminal for its question, and deletes with --yes")
        func deleting() async throws {
            let recall = try await imported()
            let refused = try await recall.run("delete", "aaaa")
            #expect((refused.code, refused.output) == (1, ""))
            #expect(refused.messages.contains("--yes"))
            #expect(try await ids(recall).count == 3)
            let unknown = try await recall.run("delete", "--yes", "aaaa", "zzzz")
            #expect(unknown.code == 1)
            #expect(try await ids(recall).count == 3, "no session is deleted if one is not found")
            let deleted = try await recall.run("delete", "--yes", "aaaa")
            let lines = deleted.output.split(separator: "\n")
            #expect(lines.first == "Deleted aaaaaaaa  Where is Tycho? (2 messages)")
            // On a busy machine, the next command continues the erasure.
            #expect(lines.last?.hasPrefix("Eras") ?? false, "\(deleted.output)")
            let json = try await recall.run("delete", "--yes", "--json", "bbbb", "bbbbbbbb-2").json()
            let erasure = try #require(json.arrayValue?.first?["erasure"]?.stringValue)
            #expect(["erased", "pending"].contains(erasure))
            #expect(
                json == [["id": "bbbbbbbb-2", "messageCount": 1, "erasure": .string(erasure), "setAside": []]])
            #expect(try await ids(recall) == ["cccccccc-3"])
            #expect(try await recall.run("search", "tycho", "--json").json() == [])
            var proof = try await recall.run("doctor", "--find-traces", "Tycho")
            for _ in 0..<50 where proof.code != 0 { proof = try await recall.run("doctor", "--find-traces", "Tycho") }
            #expect((proof.code, proof.output) == (0, "The word was not found.\n"))
        }

        @Test("Delete reports that typed lines stay in chat-history, and doctor --find-traces searches them")
        func typedLines() async throws {
            let recall = try await imported()
            TypedLines(in: URL(fileURLWithPath: recall.store), of: "local").append("about a secretword")
            let sessions = try await recall.run("sessions", "--json").json().arrayValue ?? []
            let id = try #require(sessions.first?["id"]?.stringValue)
            let outcome = try await recall.run("delete", id, "--yes")
            #expect(outcome.code == 0 && outcome.output.contains("remain in chat-history"))
            let proof = try await recall.run("doctor", "--find-traces", "secretword")
            #expect(proof.code == 2 && proof.output.contains("chat-history"))
        }

        @Test("With closed standard streams, nothing is written into the history's files")
        func closedStreams() async throws {
            let recall = try await imported()
            let script = try recall.write("run.sh", "\"$1\" doctor --repair --json <&- >&- 2>&-\nexit 0\n")
            for _ in 0..<5 {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/bin/sh")
                process.arguments = [script, try RecallProcess.executable().path]
                process.environment = recall.environment
                try process.run()
                process.waitUntilExit()
                let lock = try Data(contentsOf: URL(fileURLWithPath: recall.store + "/history.lock"))
                #expect(lock.isEmpty)
            }
            #expect(try await recall.run("doctor").code == 0)
        }

        @Test("Doctor with --find-traces reports the locations of a word, but no text around it")
        func proving() async throws {
            let recall = try await imported()
            let proof = try await recall.run("doctor", "--find-traces", "tycho")
            #expect(proof.code == 2)
            #expect(proof.output.contains("in use   message  history.sqlite  session aaaaaaaa"), "\(proof.output)")
            #expect(!proof.output.contains("Where is"))
            let json = try await recall.run("doctor", "--find-traces", "tycho", "--json").json()
            #expect(json.arrayValue?.contains { $0["kind"] == "message" && $0["isLive"] == true } == true)
            #expect(try await recall.run("doctor", "--find-traces", "ty").code == 1)
        }

        @Test("A fork ends with the message named by an ID prefix")
        func forking() async throws {
            let recall = try await imported()
            let fork = try await recall.run("fork", "aaaa", "--at", "a1", "--into", "other", "--json").json()
            #expect(fork.arrayValue?.map { $0["id"] } == ["other"])
            #expect(try await recall.run("show", "other", "--json").json().arrayValue?.map { $0["id"] } == ["a1"])
            let whole = try await recall.run("fork", "aaaa", "--json").json().arrayValue?.first
            #expect(whole?["messageCount"] == 2)
            let ambiguous = try await recall.run("fork", "aaaa", "--at", "a")
            #expect(ambiguous.code == 1)
            #expect(ambiguous.messages.contains("  a1\n  a2"))
            #expect(try await recall.run("fork", "aaaa", "--at", "x").messages.contains("--ids"))
            #expect(try await recall.run("fork", "aaaa", "--into", "other").code == 1)
            #expect(try await recall.run("show", "aaaa", "--ids").output.contains("09:00:01  a2\n"))
        }

        @Test("Branches are listed, shown and restored, and so are the messages that replaced them")
        func branching() async throws {
            let recall = try await imported()
            #expect(try await recall.run("branches", "aaaa").output == "The session has no branches.\n")
            let id = SessionKey(userId: "local", sessionId: "aaaaaaaa-1")
            let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: recall.store))
            let branch = try await history.branch(id, from: "a2").sessionId
            try await history.append(
                [ConversationMessage(id: "a3", role: .assistant, text: "In the north.")],
                to: id.scope(agentId: "claude"))
            await history.close()
            let listed = try await recall.run("branches", "aaaa").output.split(separator: "\n")
            #expect(listed.count == 2)
            #expect(listed[1].hasPrefix("\(branch.prefix(8))  ") && listed[1].hasSuffix("In the south."))
            let json = try await recall.run("branches", "aaaa", "--json").json().arrayValue?.first
            #expect(json?["branchPoint"] == ["sessionId": "aaaaaaaa-1", "messageId": "a1"])
            let short = String(branch.prefix(8))
            let shown = try await recall.run("show", "aaaa", "--branch", short).output
            #expect(shown.contains("a branch of aaaaaaaa-1") && shown.contains("In the south."))
            #expect(try await recall.run("discard", branch).code == 1)
            #expect(try await recall.run("restore", "aaaa", "--branch", "zz").code == 1)
            #expect(try await recall.run("restore", "aaaa", "--branch", short).code == 0)
            let messages = try await recall.run("show", "aaaa", "--json").json().arrayValue
            #expect(messages?.map { $0["id"] } == ["a1", "a2"])
            let replaced = try await recall.run("branches", "aaaa").output
            #expect(replaced.contains("In the north.") && !replaced.contains("In the south."))
        }

        @Test("Compactions are shown after their last message, listed, and removed")
        func compactions() async throws {
            let recall = try await imported()
            #expect(try await recall.run("compactions", "aaaa").output == "The session has no compactions.\n")
            let scope = Scope(userId: "local", sessionId: "aaaaaaaa-1", agentId: "claude")
            let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: recall.store))
            let messages = try await history.compactedMessages(of: scope).messages
            let made = try await history.compact(
                Array(messages.prefix(1)), of: scope, into: "about\nTycho", by: "model-x", after: nil)
            await history.close()
            let shown = try await recall.run("show", "aaaa").output
            #expect(shown.contains("Where is Tycho?\n\n— 1 message above summarized by model-x, "))
            #expect(shown.contains(": about Tycho\n\n▌ assistant"), "\(shown)")
            let listed = try await recall.run("compactions", "aaaa").output.split(separator: "\n")
            #expect(listed.count == 2 && listed[1].hasPrefix("\(made.id.prefix(8).lowercased())  "), "\(listed)")
            #expect(listed.last?.hasSuffix("model-x  about Tycho") == true, "\(listed)")
            let json = try await recall.run("compactions", "aaaa", "--json").json().arrayValue?.first
            #expect(json?["id"] == .string(made.id) && json?["summary"] == "about\nTycho")
            #expect(json?["agentId"] == "claude" && json?["messageCount"] == 1 && json?["previousId"] == .null)
            #expect(try await recall.run("compactions", "aaaa", "--remove", "zz").code == 1)
            let removed = try await recall.run("compactions", "aaaa", "--remove", String(made.id.prefix(8)))
            #expect(removed.output == "The session has no compactions.\n", "\(removed.messages)")
            #expect(try await recall.run("show", "aaaa", "--json").json().arrayValue?.count == 2)
        }

        @Test("A streaming reply is shown as such, and as interrupted after it was stopped")
        func replies() async throws {
            let recall = try await imported()
            let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: recall.store))
            let scope = Scope(userId: "local", sessionId: "cccccccc-3", agentId: "claude")
            let reply = try await history.beginReply(
                ConversationMessage(id: "c2", role: .assistant, text: "Harbours are"), in: scope)
            let text = try await recall.run("show", "cccc").output
            #expect(text.contains("still being written\nHarbours are"))
            let json = try await recall.run("show", "cccc", "--json", "--last", "1").json().arrayValue
            #expect(json?.map { $0["id"] } == ["c1", "c2"])
            #expect(json?.last?["metadata"]?["streamingReply"] == true)
            try await reply.interrupt()
            await history.close()
            let after = try await recall.run("show", "cccc").output
            #expect(after.contains("interrupted\nHarbours are") && !after.contains("still being written"))
        }

        @Test(
            "Contradictory options exit with code 64 and the usage",
            arguments: [
                ["set", "a"], ["set", "a", "b", "--title", "t"], ["set", "a", "--tag", ""],
                ["set", "a", "--read", "--unread"], ["set", "a", "--tag", "x", "--untag", "x"],
                ["sessions", "--sort", "size"], ["sessions", "--all", "--archived"], ["sessions", "--since", "soon"],
                ["sessions", "--since", "1d", "--until", "2d"], ["delete", "a", "--json"], ["delete"],
                ["fork", "a", "--into", ""], ["restore", "a", "b", "--branch", "c"],
            ])
        func usage(arguments: [String]) async throws {
            let outcome = try await RecallProcess().run(arguments)
            #expect(outcome.code == 64)
            #expect(outcome.messages.contains("Usage:"))
        }
    }
#endif
