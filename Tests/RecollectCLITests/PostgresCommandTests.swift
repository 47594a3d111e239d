#if CommandLine && Postgres
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @Suite(
        "Histories in PostgreSQL", .needs(.processes),
        .needs(Need("PostgreSQL: `apt-get install postgresql`") { PostgresTestServer.isInstalled }))
    struct PostgresCommandTests {
        private static let server = Task { try await PostgresTestServer.start() }
        private static let agentSquad = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("RecollectTranscriptsTests/Fixtures/agent-squad").path

        private let recall: RecallProcess
        private let url: String
        private var database: String { url.split(separator: "/").last.map(String.init) ?? "" }

        init() async throws {
            recall = try RecallProcess()
            url = try await Self.server.value.createDatabase()
            recall.environment["RECOLLECT_STORE"] = url
            recall.environment["HOME"] = recall.folder
            recall.environment["XDG_DATA_HOME"] = recall.folder + "/data"
        }

        /// Runs SQL in the database.
        private func execute(_ sql: String) async throws -> String {
            try await Self.server.value.execute(sql, database: database)
        }

        @Test("The URL of a database takes the place of a folder in every command, and no command prints its password")
        func everyCommand() async throws {
            var outcomes: [RecallProcess.Outcome] = []
            func run(_ arguments: String..., code: Int32 = 0) async throws -> RecallProcess.Outcome {
                let outcome = try await recall.run(arguments)
                #expect(outcome.code == code, "\(arguments): \(outcome.messages)")
                outcomes.append(outcome)
                return outcome
            }
            let early = try await run("sessions", code: 1)
            #expect(early.messages.contains("the tables of the history do not exist"))
            #expect(early.messages.contains("recall postgres init"))
            #expect(try await run("postgres", "migrate", code: 1).messages.contains("recall postgres init"))
            #expect(try await run("postgres", "init").output.contains("Created the tables, in version 1: 127.0.0.1:"))
            #expect(try await run("postgres", "init").output.contains("The tables already exist"))
            #expect(try await run("postgres", "migrate", "--json").json()["steps"] == 0)

            let file = try recall.write(
                "t.jsonl",
                Lines.user("a1", "Where does the puffin nest?") + Lines.assistant("a2", "On the cliffs of Røst."))
            #expect(try await run("import", file).output.contains("2 new messages in 1 session"))
            #expect(try await run("import", file, "--json").json()["added"] == 0)
            #expect(try await run("sessions", "--json").json().arrayValue?.first?["messageCount"] == 2)
            #expect(try await run("search", "puffin nest", "--json").json().arrayValue?.first?["messageId"] == "a1")
            #expect(try await run("show", "11111111").output.contains("On the cliffs"))
            #expect(try await run("set", "11111111", "--title", "Birds", "--tag", "sea").code == 0)
            #expect(try await run("sessions", "--tag", "sea").output.contains("Birds"))
            #expect(try await run("fork", "11111111", "--at", "a1", "--json").code == 0)
            #expect(try await run("export", "11111111", "--format", "markdown").output.contains("puffin"))
            #expect(try await run("discard", "11111111-aaaa").code == 0)
            #expect(try await run("restore", "11111111-aaaa").code == 0)
            #expect(try await run("branches", "11111111-aaaa").code == 0)
            #expect(try await run("compactions", "11111111-aaaa").code == 0)
            #expect(try await run("chat", "--new", "Note: buy rope").output.isEmpty == false)
            // The test server is not durable.
            let check = try await run("postgres", "check", "--json", code: 2).json()
            #expect((check["problems"]?.arrayValue ?? []).allSatisfy { $0["kind"] == "durability" }, "\(check)")
            #expect(try await run("doctor", code: 1).messages.contains("recall postgres check"))
            let refusal = try await run("postgres", "expire", "--before", "2001-01-01", code: 1).messages
            #expect(refusal.contains("nothing was deleted") && refusal.contains("--yes"))
            let expired = try await run("postgres", "expire", "--before", "2001-01-01", "--yes", "--json").json()
            #expect(expired["messageCount"] == 0 && expired["sessionCount"] == 0)
            for date in ["2200-01-01", "3m"] {
                let recent = try await run("postgres", "expire", "--before", date, "--yes", code: 64)
                #expect(recent.messages.contains("at least a day ago"))
            }
            let one = try await run("postgres", "expire", "--before", "2001-01-01", "--yes", "--user", "ana", code: 64)
            #expect(one.messages.contains("all users"))
            let deleted = try await run("delete", "11111111-aaaa", "--yes")
            #expect(deleted.output.contains("until its next VACUUM"))
            #expect(try await run("delete", "11111111-aaaa", "--yes", code: 1).messages.contains("no session"))

            for outcome in outcomes {
                for word in ["recollect%20test", "recollect test", "recollect:"] {
                    #expect(!outcome.output.contains(word) && !outcome.messages.contains(word), "\(outcome)")
                }
            }
        }

        @Test("Migrating to a database and back preserves all users, messages and details")
        func migration() async throws {
            let (first, second) = (recall.folder + "/first", recall.folder + "/second")
            #expect(try await recall.run("import", Self.agentSquad, "--store", first).code == 0)
            #expect(try await recall.run("postgres", "init").code == 0)
            let there = try await recall.run("migrate", "--from", first, "--json")
            #expect(there.code == 0, "\(there.messages)")
            let report = try there.json()
            #expect((report["sessions"], report["messages"], report["added"]) == (3, 8, 8))
            #expect(report["users"] == ["Bob@example.com", "ada"])
            #expect(report["to"]?.stringValue?.hasPrefix("127.0.0.1:") == true)
            #expect(try await recall.run("migrate", "--from", first, "--json").json()["added"] == 0)
            let back = try await recall.run("migrate", "--to", second, "--json")
            #expect(back.code == 0, "\(back.messages)")
            for user in ["Bob@example.com", "ada"] {
                let sessions = try await recall.run("sessions", "--json", "--user", user, "--store", first).output
                #expect(try await recall.run("sessions", "--json", "--user", user).output == sessions)
                #expect(
                    try await recall.run("sessions", "--json", "--user", user, "--store", second).output == sessions)
            }
            let itself = try await recall.run("migrate", "--from", url, "--to", url)
            #expect(itself.code == 1 && itself.messages.contains("cannot be migrated to itself"))
        }

        @Test("The printed SQL makes the same tables as init")
        func script() async throws {
            let script = try await recall.run("postgres", "sql").output
            // As the owner of the database: the tables belong to it.
            _ = try await execute("SET ROLE recollect;\n" + script)
            let report = try await recall.run("postgres", "init", "--json").json()
            #expect((report["schemaVersion"], report["steps"]) == (1, 0))
            let catalog = """
                SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
                WHERE table_schema = 'recollect' ORDER BY 1, 2
                """
            let other = try await Self.server.value.createDatabase()
            #expect(try await recall.run("postgres", "init", "--store", other).code == 0)
            let name = other.split(separator: "/").last.map(String.init) ?? ""
            let tables = try await execute(catalog)
            #expect(!tables.isEmpty)
            #expect(try await Self.server.value.execute(catalog, database: name) == tables)
        }

        @Test("A check finds each kind of damage, and changes nothing")
        func check() async throws {
            #expect(try await recall.run("postgres", "init").code == 0)
            let file = try recall.write(
                "t.jsonl",
                Lines.user("a1", "Where does the puffin nest?") + Lines.assistant("a2", "On the cliffs of Røst."))
            #expect(try await recall.run("import", file).code == 0)
            func kinds() async throws -> Set<String> {
                let outcome = try await recall.run("postgres", "check", "--json")
                let problems = try outcome.json()["problems"]?.arrayValue ?? []
                return Set(problems.compactMap { $0["kind"]?.stringValue }).subtracting(["durability"])
            }
            #expect(try await kinds() == [])
            for (kind, damage) in [
                ("messageCount", "UPDATE recollect.session SET message_count = message_count + 1"),
                ("position", "UPDATE recollect.session SET last_position = 0"),
                ("position", "UPDATE recollect.session SET added = 0"),
                ("owner", "UPDATE recollect.message SET scope = 999"),
                ("owner", "UPDATE recollect.session SET branch_of = 4242"),
                ("schema", "DROP INDEX recollect.message_by_term"), ("schema", "DROP TABLE recollect.compaction"),
                ("feed", "UPDATE recollect.message SET sequence = 1::bigint << 62 WHERE message_id = 'a1'"),
                ("feed", "DELETE FROM recollect.feed"),
                ("contentDamaged", "UPDATE recollect.session SET metadata = '{bad'"),
                ("contentDamaged", "UPDATE recollect.message SET text = '\\xff' WHERE message_id = 'a1'"),
                ("owner", "INSERT INTO recollect.tag (user_id, session, tag) VALUES ('local', 1, 'x')"),
                ("contentDamaged", "UPDATE recollect.message SET parts = '[{', text = NULL WHERE message_id = 'a2'"),
                ("contentDamaged", "UPDATE recollect.message SET parts = NULL, text = NULL WHERE message_id = 'a2'"),
                ("searchTerms", "UPDATE recollect.message SET terms = 'puffin' WHERE message_id = 'a1'"),
                (
                    "attachmentMissing",
                    """
                    INSERT INTO recollect.attachment_use (user_id, sha256, sequence)
                    SELECT user_id, 'ab', sequence FROM recollect.message WHERE message_id = 'a1'
                    """
                ),
                (
                    "attachmentDamaged",
                    "INSERT INTO recollect.attachment (user_id, sha256, byte_count) VALUES ('local', 'ab', 3)"
                ),
            ] {
                let copy = database + "_copy"
                _ = try await Self.server.value.execute("CREATE DATABASE \(copy) TEMPLATE \(database) OWNER recollect")
                _ = try await Self.server.value.execute(damage, database: copy)
                let saved = recall.environment["RECOLLECT_STORE"]
                recall.environment["RECOLLECT_STORE"] = try await Self.server.value.url(database: copy)
                #expect(try await kinds().contains(kind), "\(damage)")
                #expect(try await recall.run("postgres", "check").code == 2)
                recall.environment["RECOLLECT_STORE"] = saved
                _ = try await Self.server.value.execute("DROP DATABASE \(copy)")
            }
        }

        @Test("A mistyped URL is an error without its password, and makes no folder")
        func mistypedURL() async throws {
            for url in [
                "POSTGRES://pw:secret@127.0.0.1:1/x", " postgres://pw:secret@127.0.0.1:1/x", "postgres:/pw:secret@h/x",
                "store:postgres://pw:secret@127.0.0.1:1/x", "files:postgresql://pw:secret@127.0.0.1:1/x",
                "host=127.0.0.1 port=1 password=secret",
            ] {
                for arguments in [
                    ["sessions", "--store", url], ["import", "x", "--store", url], ["migrate", "--to", url],
                ] {
                    let outcome = try await recall.run(arguments)
                    #expect(outcome.code == 1, "\(arguments): \(outcome)")
                    #expect(!(outcome.output + outcome.messages).contains("secret"), "\(outcome)")
                }
            }
        }

        @Test("A server that accepts no writes is named as such, with a way to read from it")
        func readOnly() async throws {
            #expect(try await recall.run("postgres", "init").code == 0)
            _ = try await execute("ALTER DATABASE \(database) SET default_transaction_read_only = on")
            let outcome = try await recall.run("sessions")
            #expect(outcome.code == 1 && outcome.messages.contains("target_session_attrs=any"), "\(outcome.messages)")
            let reading = try await recall.run("sessions", "--store", url + "?target_session_attrs=any")
            #expect(reading.code == 0, "\(reading.messages)")
        }

        @Test("A wrong password, database, port or URL is a clear error without the password")
        func wrongAddress() async throws {
            for (url, words) in [
                (url.replacingOccurrences(of: "recollect%20test", with: "secret"), ["password", "127.0.0.1"]),
                (url.replacingOccurrences(of: database, with: "nowhere"), ["nowhere", "does not exist"]),
                ("postgres://recollect:secret@127.0.0.1:1/x?connect_timeout=2", ["127.0.0.1:1/x"]),
                ("postgres://recollect:sec/ret@127.0.0.1:1/x", ["invalid", "percent-encoded"]),
                ("postgres://[::1/x", ["invalid"]),
            ] {
                let outcome = try await recall.run("sessions", "--store", url)
                #expect(outcome.code == 1)
                for word in words { #expect(outcome.messages.contains(word), "\(outcome.messages)") }
                #expect(!outcome.messages.contains("secret") && !outcome.messages.contains("sec/ret"))
            }
        }
    }
#endif
