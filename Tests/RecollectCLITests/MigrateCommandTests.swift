#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    @Suite("Migration, and import of other programs' histories", .needs(.processes))
    struct MigrateCommandTests {
        private static let agentSquad = fixture("RecollectTranscriptsTests/Fixtures/agent-squad")
        private static let claudeCodeUI = fixture("RecollectClaudeCodeUITests/Fixtures/claude-code-ui-5")

        private static func fixture(_ path: String) -> String {
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent(path).path
        }

        @Test("Import detects the format, and preserves IDs, dates and titles; a second import adds nothing")
        func detection() async throws {
            let recall = try RecallProcess()
            let file = Self.claudeCodeUI + "/claude_code_sessions.sqlite"
            let first = try await recall.run("import", file, "--json")
            #expect(first.code == 0, "\(first.messages)")
            #expect(try first.json()["added"] == 5)
            let folder = try await recall.run("import", Self.claudeCodeUI, "--json").json()
            #expect((folder["added"], folder["unchanged"]) == (0, 5))
            let squad = try await recall.run("import", Self.agentSquad)
            #expect(squad.output.contains("8 new messages in 3 sessions"))
            #expect(squad.output.contains("Bob@example.com, ada"))
            let sessions = try await recall.run("sessions", "--json").json().arrayValue ?? []
            #expect(sessions.map { $0["preview"] } == ["How far is the moon?", "Name the crater at the south."])
            #expect(sessions.last?["id"] == "11111111-0000-4000-8000-000000000001")
            #expect(sessions.last?["createdAt"] == 1_770_109_200_000)
            #expect(try await recall.run("sessions", "--json", "--user", "ada").json().arrayValue?.count == 2)
            #expect(try await recall.run("search", "Tycho", "--json").json().arrayValue?.isEmpty == false)
        }

        @Test("Import with --user takes only that user from a folder with several users")
        func oneUser() async throws {
            let recall = try RecallProcess()
            let report = try await recall.run("import", Self.agentSquad, "--user", "ada", "--json").json()
            #expect((report["users"], report["added"]) == (["ada"], 7))
        }

        @Test("Migrating to another store, to chat files and back preserves all messages")
        func stores() async throws {
            let recall = try RecallProcess()
            #expect(try await recall.run("import", Self.agentSquad).code == 0)
            #expect(try await recall.run("import", Self.claudeCodeUI).code == 0)
            let (other, files, third) = (recall.folder + "/other", recall.folder + "/chats", recall.folder + "/third")

            let moved = try await recall.run("migrate", "--to", other, "--json")
            #expect(moved.code == 0, "\(moved.messages)")
            let report = try moved.json()
            #expect((report["sessions"], report["messages"], report["added"], report["unchanged"]) == (5, 13, 13, 0))
            #expect(report["users"] == ["Bob@example.com", "ada", "local"])
            #expect((report["from"], report["to"]) == (.string(recall.store), .string(other)))
            let again = try await recall.run("migrate", "--from", recall.store, "--to", "store:" + other)
            #expect(
                again.output.contains("0 new messages in 0 sessions; 13 were already stored. Verified 5 sessions."))
            #expect(
                try await recall.run("sessions", "--json", "--store", other).output
                    == recall.run("sessions", "--json").output)

            #expect(
                try await recall.run("migrate", "--from", other, "--to", "files:" + files, "--json").json()["added"]
                    == 13)
            // Detected as chat files.
            #expect(try await recall.run("migrate", "--from", other, "--to", files, "--json").json()["added"] == 0)
            let back = try await recall.run("migrate", "--from", "files:" + files, "--to", third, "--json")
            #expect(back.code == 0, "\(back.messages)")
            #expect(try back.json()["added"] == 13)
            for id in ["session-1", "s"] {
                let user = id == "s" ? "Bob@example.com" : "ada"
                #expect(
                    try await recall.run("show", id, "--json", "--user", user, "--store", third).output
                        == recall.run("show", id, "--json", "--user", user).output)
            }
        }

        @Test("Migration with --user moves only that user")
        func user() async throws {
            let recall = try RecallProcess()
            #expect(try await recall.run("import", Self.agentSquad).code == 0)
            let report = try await recall.run("migrate", "--to", recall.folder + "/other", "--user", "ada", "--json")
                .json()
            #expect((report["users"], report["added"]) == (["ada"], 7))
        }

        @Test("Invalid sources and targets are refused with an explanation, and nothing is created")
        func refused() async throws {
            let recall = try RecallProcess()
            #expect(try await recall.run("migrate").code == 64)
            #expect(try await recall.run("migrate", "--to", "files:").code == 64)
            let nothing = try await recall.run(
                "migrate", "--from", recall.folder + "/none", "--to", recall.folder + "/a")
            #expect((nothing.code, nothing.output) == (1, ""))
            #expect(nothing.messages.contains("none"))
            let empty = try await recall.run("migrate", "--to", recall.folder + "/a")
            #expect(empty.code == 1)
            #expect(empty.messages.contains(recall.store))
            let same = try await recall.run(
                "migrate", "--to",
                "store:" + recall.folder + "/../" + (recall.folder as NSString).lastPathComponent + "/store")
            #expect(same.code == 1)
            #expect(same.messages.contains("itself"))
            let files = try await recall.run(
                "migrate", "--from", Self.agentSquad, "--to", "files:" + recall.folder + "/b")
            #expect(files.code == 1)
            #expect(files.messages.contains("import"))
            let foreign = try recall.write("notes.txt", "hello")
            #expect(try await recall.run("migrate", "--from", foreign).code == 1)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: recall.folder).filter {
                    !$0.hasSuffix(".out") && !$0.hasSuffix(".err")
                }.allSatisfy { ["notes.txt", "store"].contains($0) })
        }

        @Test("Different content under one ID is an error that names the session, and the rest is moved")
        func conflict() async throws {
            let recall = try RecallProcess()
            let other = recall.folder + "/other"
            let lines = Lines.user("a1", "hello") + Lines.user("b1", "x", session: "2222")
            let (ours, theirs) = (
                try recall.write("a.jsonl", lines), try recall.write("b.jsonl", Lines.user("a1", "changed"))
            )
            for user in ["local", "zoe"] {
                #expect(try await recall.run("import", ours, "--user", user).code == 0)
            }
            #expect(try await recall.run("import", theirs, "--store", other).code == 0)
            let outcome = try await recall.run("migrate", "--to", other)
            #expect(outcome.code == 1)
            #expect(outcome.messages.contains("11111111-aaaa"))
            for user in ["local", "zoe"] {
                let sessions = try await recall.run("sessions", "--json", "--store", other, "--user", user)
                #expect(try sessions.json().arrayValue?.count == 2)
            }
        }
    }
#endif
