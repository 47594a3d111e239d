#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    @Suite("Workspace commands for versions, trash and recovery", .needs(.processes))
    struct WorkspaceVersionsCommandTests {
        /// The command with its own workspace and application data, and a file that was written, appended to, and
        /// edited by another program.
        private func made() async throws -> RecallProcess {
            let recall = try RecallProcess()
            recall.environment["RECOLLECT_WORKSPACE"] = recall.folder + "/shared"
            recall.environment["HOME"] = recall.folder + "/home"
            recall.environment["XDG_DATA_HOME"] = recall.folder + "/home/data"
            #expect(try await recall.run("workspace", "init").code == 0)
            #expect(try await recall.run("workspace", "write", "茶.md", "Assam", "--new").code == 0)
            let added = try await recall.run("workspace", "write", "茶.md", "sugar", "--append", "--agent", "scribe")
            #expect(added.code == 0, "\(added.messages)")
            try recall.write("shared/茶.md", "theirs\n")
            return recall
        }

        private func listed(_ recall: RecallProcess, _ arguments: String...) async throws -> [JSONValue] {
            let outcome = try await recall.run(["workspace"] + arguments + ["--json"])
            #expect(outcome.code == 0, "\(outcome.messages)")
            return try outcome.json().arrayValue ?? []
        }

        private func text(_ recall: RecallProcess) async throws -> String {
            try await recall.run("workspace", "cat", "茶.md").output
        }

        @Test("The versions command lists a file's versions, including external edits, and cat prints each")
        func versions() async throws {
            let recall = try await made()
            let versions = try await listed(recall, "versions", "茶.md")
            #expect(versions.map { $0["kind"] } == ["edited", "written", "written"])
            #expect(versions.map { $0["author"] } == ["elsewhere", "scribe", "you"])
            #expect(versions.map { $0["bytes"] } == [7, 12, 6])
            #expect(versions[1]["parents"] == [versions[2]["version"] ?? .null])
            let second = try #require(versions[1]["version"]?.stringValue)
            let shown = try await recall.run("workspace", "cat", "茶.md", "--as-of", String(second.prefix(8)))
            #expect(shown.output == "Assam\nsugar\n", "\(shown.messages)")
            let lines = try await recall.run("workspace", "versions", "茶.md").output.split(separator: "\n")
            #expect(lines.count == 4 && lines[0].hasPrefix("VERSION   WHEN"))
            #expect(lines[2].hasPrefix("\(second.prefix(8))  ") && lines[2].hasSuffix("  written  12 bytes  scribe"))
            for arguments in [["versions", "absent.md"], ["cat", "茶.md", "--as-of", "00000000"]] {
                let refused = try await recall.run(["workspace"] + arguments)
                #expect(refused.code == 1 && refused.messages.contains("version"), "\(refused)")
            }
        }

        @Test("Recover restores leftovers and contents missing from a damaged log; status reports the damage")
        func recover() async throws {
            let recall = try await made()
            #expect(try await recall.run("workspace", "recover").output == "Nothing to recover.\n")
            let state = recall.folder + "/home/data/Recollect/Workspaces"
            let names = try FileManager.default.contentsOfDirectory(atPath: state)
            let log = "\(state)/\(try #require(names.first))/log"
            try Data().write(to: URL(fileURLWithPath: log))
            let status = try await recall.run("workspace", "status")
            #expect(status.code == 0 && status.messages.contains("log.damaged-"), "\(status)")
            #expect(try await recall.run("workspace", "ls").code == 0)
            try recall.write("shared/.syncthing.recollect-0123456789abcdef01234567-茶.md.tmp", "foreign\n")
            let recovery = try await recall.run("workspace", "recover", "--json").json()
            #expect(recovery["files"]?.arrayValue?.count == 1 && recovery["removedLeftovers"] == 0)
            #expect(recovery["damagedLogs"]?.arrayValue?.count == 1)
            let found = try #require(recovery["contents"]?.arrayValue)
            #expect(!found.isEmpty)
            #expect(try await recall.run("workspace", "ls").output.contains("茶 (kept "))
            let output = try await recall.run("workspace", "recover").output
            #expect(output.contains("damaged log") && output.split(separator: "\n").count == 1)
        }

        @Test("Restore brings back the previous or a named version, and can be undone")
        func restore() async throws {
            let recall = try await made()
            let restored = try await recall.run("workspace", "restore", "茶.md")
            #expect(restored.code == 0 && restored.output.hasPrefix("Restored 茶.md"), "\(restored)")
            #expect(try await text(recall) == "Assam\nsugar\n")
            let replaced = try #require(restored.output.firstMatch(of: /--as-of ([0-9a-f]{8})\n/)?.1)
            #expect(
                try await recall.run("workspace", "restore", "茶.md", "--as-of", String(replaced).uppercased()).code == 0
            )
            #expect(try await text(recall) == "theirs\n")
            let versions = try await listed(recall, "versions", "茶.md")
            let first = try #require(versions.last?["version"]?.stringValue)
            let json = try await listed(recall, "restore", "茶.md", "--as-of", first, "--agent", "scribe")
            #expect(
                json == [
                    [
                        "path": "茶.md", "version": .string(first), "bytes": 6,
                        "replaced": versions[0]["version"] ?? .null,
                    ]
                ])
            #expect(try await listed(recall, "versions", "茶.md").first?["author"] == "scribe")
            _ = try await recall.run("workspace", "write", "only.md", "once", "--new")
            for arguments in [["only.md"], ["absent.md"], ["茶.md", "absent.md"], ["茶.md", "--as-of", "00000000"]] {
                let refused = try await recall.run(["workspace", "restore"] + arguments)
                #expect(refused.code == 1 && refused.output.isEmpty && !refused.messages.isEmpty, "\(refused)")
            }
            #expect(try await text(recall) == "Assam\n", "no file is restored if one cannot be")
            for arguments in [
                [], ["a.md", "b.md", "--as-of", "12345678"], ["a.md", "--as-of", ""], ["a.md", "--agent", ""],
            ] {
                #expect(try await recall.run(["workspace", "restore"] + arguments).code == 64, "\(arguments)")
            }
        }

        @Test("Redact erases a version, which stays listed and cannot be read or restored")
        func redact() async throws {
            let recall = try await made()
            let versions = try await listed(recall, "versions", "茶.md")
            let second = String(try #require(versions[1]["version"]?.stringValue).prefix(8))
            let unasked = try await recall.run("workspace", "redact", "茶.md", second)
            #expect(unasked.code == 1 && unasked.messages.contains("--yes"), "\(unasked)")
            #expect(try await recall.run("workspace", "cat", "茶.md", "--as-of", second).code == 0)
            let done = try await recall.run("workspace", "redact", "茶.md", second, "--yes", "--agent", "cleaner")
            #expect(done.code == 0 && done.output == "Redacted version \(second) of 茶.md\n", "\(done)")
            let after = try await listed(recall, "versions", "茶.md")
            #expect(after.map { $0["redactedBy"] } == [.null, "cleaner", .null])
            #expect(after[1]["redacted"]?.integerValue != nil && after[1]["bytes"] == .null)
            let lines = try await recall.run("workspace", "versions", "茶.md").output.split(separator: "\n")
            #expect(lines[2].hasPrefix(second) && lines[2].contains("  redacted  ") && lines[2].hasSuffix("scribe"))
            for arguments in [
                ["cat", "茶.md", "--as-of", second], ["restore", "茶.md"], ["restore", "茶.md", "--as-of", second],
            ] {
                let refused = try await recall.run(["workspace"] + arguments)
                #expect(refused.code == 1 && refused.messages.contains("redacted"), "\(refused)")
            }
            let current = try #require(versions[0]["version"]?.stringValue)
            let refused = try await recall.run("workspace", "redact", "茶.md", current, "--yes")
            #expect(refused.code == 1 && refused.messages.contains("current content of 茶.md"), "\(refused)")
            let first = try #require(versions[2]["version"]?.stringValue)
            let json = try await recall.run("workspace", "redact", "茶.md", first, "--yes", "--json").json()
            #expect(json == ["version": .string(first), "paths": ["茶.md"]])
            for arguments in [["茶.md", ""], ["茶.md", first, "--json"], ["茶.md"]] {
                #expect(try await recall.run(["workspace", "redact"] + arguments).code == 64, "\(arguments)")
            }
        }

        @Test("A write that was only begun is listed, but has no author and cannot be restored")
        func begun() async throws {
            let recall = try await made()
            _ = try await recall.run("workspace", "status")
            let home = try FileManager.default.subpathsOfDirectory(atPath: recall.folder + "/home")
            let log = try #require(home.first { $0.hasSuffix("/log") })
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: recall.folder + "/home/" + log))
            try file.seekToEnd()
            let hash = String(repeating: "0", count: 64)
            try file.write(contentsOf: Data("?\t4102444800000\twritten\t\(hash)\t\tuser\t茶.md\t\n".utf8))
            try file.close()
            let versions = try await listed(recall, "versions", "茶.md")
            #expect(versions.map { $0["kind"] } == ["begun", "edited", "written", "written"])
            #expect((versions.first?["version"], versions.first?["bytes"]) == (.string(hash), .null))
            #expect(try await listed(recall, "ls").first?["author"] == "elsewhere")
            #expect(try await recall.run("workspace", "restore", "茶.md", "--as-of", "0000").code == 1)
            #expect(try await recall.run("workspace", "restore", "茶.md").code == 0)
            #expect(try await text(recall) == "Assam\nsugar\n")
        }

        @Test("Delete moves files to the trash, which also lists external deletions; restore brings both back")
        func trash() async throws {
            let recall = try await made()
            #expect(try await recall.run("workspace", "trash").output == "The trash is empty.\n")
            #expect(try await listed(recall, "trash").isEmpty)
            try recall.write("shared/theirs.md", "text")
            let refused = try await recall.run("workspace", "delete", "茶.md", "absent.md")
            #expect(refused.code == 1 && refused.messages.contains("absent.md"))
            #expect(try await text(recall) == "theirs\n", "no file is deleted if one is not found")
            let deleted = try await recall.run("workspace", "delete", "茶.md", "茶.md", "--agent", "scribe")
            #expect(deleted.code == 0 && deleted.output.hasPrefix("Moved 茶.md to the trash\nTo undo: "), "\(deleted)")
            #expect(try await recall.run("workspace", "ls").output == "theirs.md\n")
            _ = try await recall.run("workspace", "status")
            try FileManager.default.removeItem(atPath: recall.folder + "/shared/theirs.md")
            let files = try await listed(recall, "trash")
            #expect(files.map { $0["path"] } == ["theirs.md", "茶.md"])
            #expect(files.map { $0["author"] } == ["elsewhere", "scribe"])
            #expect(files.map { $0["kind"] } == ["removed", "trashed"] && files.map { $0["bytes"] } == [4, 7])
            let line = try await recall.run("workspace", "trash").output.split(separator: "\n").last
            #expect(line?.hasSuffix("  7 bytes  scribe     茶.md") == true)
            #expect(try await recall.run("workspace", "restore", "茶.md", "theirs.md").code == 0)
            #expect(try await text(recall) == "theirs\n")
            #expect(try await listed(recall, "trash").isEmpty)
        }

        @Test("The mv command moves a file to a path or into a folder, and never overwrites a file")
        func moving() async throws {
            let recall = try await made()
            #expect(try await recall.run("workspace", "mv", "茶.md", "Notes/").output == "Moved 茶.md to Notes/茶.md\n")
            let json = try await recall.run("workspace", "mv", "Notes/茶.md", "tea.md", "--json").json()
            #expect(json == ["path": "Notes/茶.md", "newPath": "tea.md"])
            #expect(try await recall.run("workspace", "mv", "tea.md", "Notes").code == 0)
            #expect(try await recall.run("workspace", "ls", "-R").output == "Notes/\nNotes/tea.md\n")
            #expect(try await listed(recall, "versions", "tea.md").first?["otherPath"] == "Notes/tea.md")
            let versions = try await recall.run("workspace", "versions", "tea.md").output.split(separator: "\n")
            #expect(versions[1].hasSuffix("  you, to Notes/tea.md") && versions[2].hasSuffix("  you, from Notes/茶.md"))
            _ = try await recall.run("workspace", "write", "other.md", "other", "--new")
            let taken = try await recall.run("workspace", "mv", "other.md", "Notes/tea.md")
            #expect(taken.code == 1 && taken.messages.contains("Notes/tea.md already exists"), "\(taken)")
            for arguments in [["absent.md", "x.md"], ["Notes", "More"], ["other.md", "../x.md"]] {
                let refused = try await recall.run(["workspace", "mv"] + arguments)
                #expect(refused.code == 1 && !refused.messages.isEmpty, "\(arguments)")
            }
            #expect(try await recall.run("workspace", "cat", "other.md").output == "other\n")
        }
    }
#endif
