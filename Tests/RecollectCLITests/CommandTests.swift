#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    @Suite("Commands of recall", .needs(.processes))
    struct CommandTests {
        /// Imports a history of two sessions.
        private func imported() async throws -> RecallProcess {
            let recall = try RecallProcess()
            let summary: JSONValue = ["type": "summary", "summary": "A map of the moon", "leafUuid": "a2"]
            try recall.write(
                "in/one.jsonl",
                Lines.user("a1", "Where is the crater Tycho?") + Lines.assistant("a2", "In the southern highlands.")
                    + summary.jsonString + "\n" + "{\"type\":\"progress\"}\n")
            try recall.write(
                "in/two.jsonl", Lines.user("b1", "静かの海はどこですか", session: "22222222-bbbb", at: 30))
            let outcome = try await recall.run("import", recall.folder + "/in")
            #expect(outcome.code == 0)
            return recall
        }

        @Test("Import reports its results, and a second import adds nothing")
        func importing() async throws {
            let recall = try await imported()
            let again = try await recall.run("import", recall.folder + "/in", "--json")
            #expect(again.code == 0)
            let report = try again.json()
            #expect(report["sessions"] == 2)
            #expect(report["messages"] == 3)
            #expect(report["added"] == 0)
            #expect(report["unchanged"] == 3)
            #expect(report["skippedLines"] == ["progress": 1, "summary": 1])
            #expect(report["unreadable"] == [])
            let text = try await recall.run("import", recall.folder + "/in")
            #expect(text.output.contains("0 new messages in 2 sessions; 3 were already stored"))
            #expect(text.messages.isEmpty)
        }

        @Test("Unreadable lines are listed, and the exit code is 2")
        func unreadable() async throws {
            let recall = try RecallProcess()
            let path = try recall.write("s.jsonl", Lines.user("a1", "hello") + "{torn\n" + Lines.user("a2", "again"))
            let json = try await recall.run("import", path, "--json")
            #expect(json.code == 2)
            #expect(try json.json()["added"] == 2)
            let entry = try #require(json.json()["unreadable"]?.arrayValue?.first)
            #expect(entry["file"] == .string(path))
            #expect(entry["line"] == 2)
            #expect(entry["reason"]?.stringValue?.isEmpty == false)
            let text = try await recall.run("import", path)
            #expect(text.code == 2)
            #expect(text.messages.contains("\(path):2: "))
        }

        @Test("Sessions are listed, latest first, in aligned columns")
        func sessions() async throws {
            let recall = try await imported()
            let json = try await recall.run("sessions", "--json").json().arrayValue ?? []
            #expect(json.map { $0["id"] } == ["22222222-bbbb", "11111111-aaaa"])
            let session = try #require(json.last)
            for key in [
                "id", "title", "createdAt", "lastActivityAt", "messageCount", "agents", "workingDirectory", "gitBranch",
            ] {
                #expect(session[key] != nil, "\(key)")
            }
            #expect(session["title"] == "A map of the moon")
            #expect(session["createdAt"] == 1_770_109_200_000)
            #expect(session["lastActivityAt"] == 1_770_109_201_000)
            #expect(session["messageCount"] == 2)
            #expect(session["agents"] == ["claude"])
            #expect(session["workingDirectory"] == "/home/ada/atlas")
            #expect(session["gitBranch"] == "main")
            #expect(json.first?["title"] == .null)
            let lines = try await recall.run("sessions").output.split(separator: "\n")
            #expect(lines.count == 3)
            #expect(lines[0].hasPrefix("SESSION   LAST ACTIVITY"))
            #expect(lines[1].hasPrefix("22222222  ") && lines[1].hasSuffix("静かの海はどこですか"))
            #expect(lines[2].hasSuffix("A map of the moon"))
            #expect(try await recall.run("sessions", "--json", "--limit", "1").json().arrayValue?.count == 1)
            #expect(try await recall.run("sessions", "--json", "--user", "eve").json() == [])
        }

        @Test("A session is shown by any unique prefix of its ID")
        func show() async throws {
            let recall = try await imported()
            let json = try await recall.run("show", "1", "--json").json().arrayValue ?? []
            #expect(json.map { $0["id"] } == ["a1", "a2"])
            #expect(
                Set(json[1].objectValue?.keys ?? [:].keys) == [
                    "id", "role", "agentId", "timestamp", "text", "parts", "metadata",
                ])
            #expect(json[1]["text"] == "In the southern highlands.")
            #expect(json[1]["metadata"]?["model"] == "m")
            let text = try await recall.run("show", "11111111-aaaa").output
            #expect(text.contains("A map of the moon"))
            #expect(text.contains("assistant  3 Feb 2026 09:00:01\nIn the southern highlands."))
            let last = try await recall.run("show", "1", "--json", "--last", "1").json().arrayValue
            #expect(last?.map { $0["id"] } == ["a2"])
            let unknown = try await recall.run("show", "9")
            #expect((unknown.code, unknown.output) == (1, ""))
            #expect(unknown.messages.contains("recall sessions"))
        }

        @Test("A short ID in a list or search result identifies its session, even if other IDs begin alike")
        func shortIds() async throws {
            let recall = try RecallProcess()
            let ids = ["session-1", "session-10", "session-2-a", "session-2-b", "e\u{301}", "\u{E9}", "other"]
            let lines = ids.enumerated().map { Lines.user("u\($0)", "word\($0)", session: $1, at: $0) }
            #expect(try await recall.run("import", recall.write("s.jsonl", lines.joined())).code == 0)
            for (number, id) in ids.enumerated() {
                let found = try await recall.run("search", "word\(number)").output
                let short = String(found.prefix { $0 != " " })
                let shown = try await recall.run("show", short, "--json")
                #expect(try shown.json().arrayValue?.map { $0["id"] } == [.string("u\(number)")], "\(id) as \(short)")
            }
            let listed = try await recall.run("sessions", "--limit", "2").output.split(separator: "\n").dropFirst()
            #expect(listed.map { $0.prefix { $0 != " " } } == ["other", "\u{E9}"])
            let ambiguous = try await recall.run("show", "session-2")
            #expect(ambiguous.code == 1)
            #expect(ambiguous.messages.contains("session-2-a") && ambiguous.messages.contains("session-2-b"))
            let all = try await recall.run("sessions").output.split(separator: "\n").dropFirst()
            #expect(all.contains { $0.hasPrefix("session-10  ") } && all.contains { $0.hasPrefix("session-2-a") })
        }

        @Test("An agent without messages in a session is an error that names the session's agents")
        func unknownAgent() async throws {
            let recall = try await imported()
            let outcome = try await recall.run("show", "1", "--agent", "cloud")
            #expect((outcome.code, outcome.output) == (1, ""))
            #expect(outcome.messages.contains("'claude'"))
            #expect(try await recall.run("show", "1", "--agent", "claude").code == 0)
        }

        @Test("Search finds words, parts of words and Japanese, and accepts any text")
        func search() async throws {
            let recall = try await imported()
            let hits = try await recall.run("search", "tycho", "--json").json().arrayValue ?? []
            let hit = try #require(hits.first)
            #expect(
                Set(hit.objectValue?.keys ?? [:].keys) == [
                    "sessionId", "agentId", "messageId", "role", "timestamp", "snippet", "score", "matchedWords",
                    "missingWords", "correctedWords",
                ])
            #expect((hit["sessionId"], hit["messageId"], hit["role"]) == ("11111111-aaaa", "a1", "user"))
            #expect(hit["snippet"]?.stringValue?.contains("«Tycho»") == true)
            let text = try await recall.run("search", "静か").output
            #expect(text.hasPrefix("22222222  user claude  "))
            #expect(text.contains("«静か»"))
            let both = try await recall.run("search", "the").output
            #expect(both.components(separatedBy: "11111111  ").count == 3, "several hits of a session have short IDs")
            let question = try await recall.run("search", "When did we see Tycho and Kepler's comet?").output
            #expect(question.hasPrefix("Messages with some of these words, or next to them:\n\n11111111  "))
            let some = try await recall.run("search", "tycho unicorn").output
            #expect(some.hasPrefix("No message has all of these words; without “unicorn”, "))
            #expect(question.contains("In the southern highlands."), "the answer beside the message with the word")
            #expect(question.contains("without “see”, “Kepler”, “comet”") && !question.contains("“When”"))
            #expect(try await recall.run("search", "--json", "--", "tycho -crater", "-the").json() == [])
            let oldest = ["search", "the", "--sort", "oldest", "--per-session", "1", "--context", "1", "--json"]
            let dated = try await recall.run(oldest).json()
            let times = dated.arrayValue?.compactMap { $0["timestamp"]?.integerValue } ?? []
            #expect(times == times.sorted() && dated.arrayValue?.first?["after"]?.arrayValue?.count == 1)
            let grouped = try await recall.run("search", "the", "--per-session", "3").output
            #expect(grouped.components(separatedBy: "11111111  ").count == 2, "each session has one heading")
            #expect(try await recall.run("search", "the", "--skip", "9999").output == "There are no more hits.\n")
            let misspelled = try await recall.run("search", "tyhco").output
            #expect(misspelled.hasPrefix("Corrected “tyhco” to “tycho”.\n\n11111111  "))
            for odd in ["\"", "a AND", "*", "(", "NEAR(", "", "col:x", "-"] {
                let outcome = try await recall.run("search", "--json", "--", odd)
                #expect(outcome.code == 0, "\(odd): \(outcome.messages)")
            }
            #expect(try await recall.run("search", "tycho", "--role", "assistant", "--json").json() == [])
            #expect(try await recall.run("search", "tycho", "--session", "2", "--json").json() == [])
            #expect(try await recall.run("search", "tycho", "--from", "2026-02-04", "--json").json() == [])
        }

        @Test("An export imported into another history gives the same messages")
        func export() async throws {
            let recall = try await imported()
            let before = try await recall.run("show", "1", "--json").output
            let lines = try await recall.run("export", "1", "--format", "jsonl")
            #expect(lines.code == 0)
            let path = try recall.write("export.jsonl", lines.output)
            recall.environment["RECOLLECT_STORE"] = recall.folder + "/other"
            #expect(try await recall.run("import", path).code == 0)
            #expect(try await recall.run("show", "1", "--json").output == before)
            let json = try await recall.run("export", "1", "--format", "json").json()
            #expect(json["session"]?["title"] == "A map of the moon")
            #expect(json["messages"]?.arrayValue?.count == 2)
            let markdown = try await recall.run("export", "1", "--format", "markdown").output
            #expect(markdown.hasPrefix("# A map of the moon\n"))
        }

        @Test("Doctor reports versions and sizes, and that there are no problems")
        func doctor() async throws {
            let recall = try await imported()
            let outcome = try await recall.run("doctor", "--json")
            #expect(outcome.code == 0)
            let report = try outcome.json()
            #expect(report["directory"] == .string(recall.store))
            #expect((report["sessionCount"], report["messageCount"], report["userCount"]) == (2, 3, 1))
            #expect(report["problems"] == [])
            #expect(report["version"]?.stringValue?.isEmpty == false)
            #expect(report["sqliteVersion"]?.stringValue?.isEmpty == false)
            #expect(report["databaseBytes"]?.integerValue ?? 0 > 0)
            let text = try await recall.run("doctor", "--repair")
            #expect(text.code == 0)
            #expect(text.output.contains("No problems found."))
        }

        @Test("Doctor reports a missing attachment and exits with code 2")
        func doctorProblem() async throws {
            let recall = try RecallProcess()
            let png: JSONValue = [
                "type": "user", "uuid": "i", "sessionId": "s", "timestamp": "2026-02-03T09:00:00.000Z",
                "message": [
                    "role": "user",
                    "content": [
                        ["type": "image", "source": ["type": "base64", "media_type": "image/png", "data": "aGVsbG8="]]
                    ],
                ],
            ]
            let path = try recall.write("s.jsonl", png.jsonString + "\n")
            #expect(try await recall.run("import", path).code == 0)
            #expect(try await recall.run("export", "s").output.contains("aGVsbG8="))
            try FileManager.default.removeItem(atPath: recall.store + "/attachments")
            let report = try await recall.run("doctor", "--json")
            #expect(report.code == 2)
            #expect(try report.json()["problems"]?.arrayValue?.first?["kind"] == "attachmentMissing")
        }

        @Test("The --store option overrides the store from the environment")
        func storeOption() async throws {
            let recall = try await imported()
            let other = recall.folder + "/other"
            let missing = try await recall.run("sessions", "--store", other)
            #expect(missing.code == 1)
            #expect(missing.messages.contains(other))
            #expect(!FileManager.default.fileExists(atPath: other))
            #expect(try await recall.run("import", "--store", other, recall.folder + "/in/two.jsonl").code == 0)
            #expect(try await recall.run("sessions", "--store", other, "--json").json().arrayValue?.count == 1)
            #expect(try await recall.run("sessions", "--json").json().arrayValue?.count == 2)
        }

        @Test("Output to a file has no colors, pager or progress bar")
        func plain() async throws {
            let recall = try await imported()
            recall.environment["PAGER"] = "echo paged; cat"
            for arguments in [["sessions"], ["show", "1"], ["search", "moon"], ["doctor"]] {
                let outcome =
                    try await arguments.count == 1
                    ? recall.run(arguments[0]) : recall.run(arguments[0], arguments[1])
                #expect(!(outcome.output + outcome.messages).contains("\u{1B}"))
                #expect(!outcome.output.contains("paged"))
            }
        }

        @Test(
            "Invalid arguments exit with code 64 and the usage",
            arguments: [
                ["nope"], ["import"], ["show"], ["sessions", "--limit", "0"], ["export", "1", "--format", "pdf"],
            ])
        func usage(arguments: [String]) async throws {
            let recall = try RecallProcess()
            let outcome =
                switch arguments.count {
                case 1: try await recall.run(arguments[0])
                case 3: try await recall.run(arguments[0], arguments[1], arguments[2])
                default: try await recall.run(arguments[0], arguments[1], arguments[2], arguments[3])
                }
            #expect(outcome.code == 64)
            #expect(outcome.messages.contains("Usage:"))
        }

        @Test("Help and version exit with code 0")
        func help() async throws {
            let recall = try RecallProcess()
            let help = try await recall.run("--help")
            #expect(help.code == 0)
            #expect(help.output.contains("Exit codes:"))
            #expect(try await recall.run("--version").code == 0)
        }
    }
#endif
