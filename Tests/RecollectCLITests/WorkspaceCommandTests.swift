#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    @Suite("Workspace commands", .needs(.processes))
    struct WorkspaceCommandTests {
        /// The command with its own workspace and application data.
        private func made() async throws -> RecallProcess {
            let recall = try RecallProcess()
            recall.environment["RECOLLECT_WORKSPACE"] = recall.folder + "/shared"
            recall.environment["HOME"] = recall.folder + "/home"
            recall.environment["XDG_DATA_HOME"] = recall.folder + "/home/data"
            #expect(try await recall.run("workspace", "init").code == 0)
            return recall
        }

        private func version(_ recall: RecallProcess, _ path: String) async throws -> String {
            let file = try await recall.run("workspace", "cat", path, "--json").json()
            return try #require(file["version"]?.stringValue)
        }

        @Test("The init command creates a workspace; the other commands do not, and refer to init")
        func makes() async throws {
            let recall = try await made()
            #expect(FileManager.default.fileExists(atPath: recall.folder + "/shared"))
            let again = try await recall.run("workspace", "init", "--json")
            #expect(try again.code == 0 && again.json()["files"] == 0)
            for command in [
                ["ls"], ["status"], ["cat", "x.md"], ["write", "x.md", "y", "--new"], ["journal", "x"], ["watch"],
            ] {
                let absent = try await recall.run(["workspace"] + command + ["--root", recall.folder + "/absent"])
                #expect(absent.code == 1 && absent.messages.contains("recall workspace init"), "\(command)")
            }
            #expect(!FileManager.default.fileExists(atPath: recall.folder + "/absent"))
            // Recollect stores nothing in the folder itself.
            #expect(try FileManager.default.contentsOfDirectory(atPath: recall.folder + "/shared").isEmpty)
        }

        @Test("Without --root and RECOLLECT_WORKSPACE, the user's default workspace is used")
        func defaultRoot() async throws {
            let recall = try await made()
            recall.environment["RECOLLECT_WORKSPACE"] = ""
            let root = try #require(
                try await recall.run("workspace", "init", "--json").json()["root"]?.stringValue)
            #expect(root.hasSuffix("Recollect/Workspace") && !root.contains("/shared"))
            #if os(Linux)
                #expect(root.hasPrefix(recall.folder))
            #endif
        }

        @Test("The write command prints versions, cat prints the bytes, and ls names the authors")
        func roundTrip() async throws {
            let recall = try await made()
            let first = try await recall.run("workspace", "write", "Notes/tea.md", "Assam", "--new")
            #expect(first.code == 0, "\(first.messages)")
            let version = first.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(version.count == 64)
            let piped = try await recall.run(
                ["workspace", "write", "Notes/tea.md", "--replacing", String(version.prefix(8)), "--agent", "scribe"],
                input: "Darjeeling\r\nno end of line")
            #expect(piped.code == 0, "\(piped.messages)")
            #expect(try await recall.run("workspace", "write", "Notes/tea.md", "--append", "sugar").code == 0)
            let cat = try await recall.run("workspace", "cat", "Notes/tea.md", "--print-version")
            #expect(cat.output == "Darjeeling\r\nno end of line\nsugar\n")
            let current = try await self.version(recall, "Notes/tea.md")
            #expect(cat.messages == current + "\n")
            _ = try await recall.run(["workspace", "write", "Notes/raw.bin", "--new"], input: "")
            try Data("theirs".utf8).write(to: URL(fileURLWithPath: recall.folder + "/shared/theirs.md"))
            #expect(
                try await recall.run("workspace", "ls", "-R").output
                    == "Notes/\nNotes/raw.bin\nNotes/tea.md\ntheirs.md\n")
            let listed = try await recall.run("workspace", "ls", "Notes/", "--json").json().arrayValue
            #expect(listed?.map { $0["path"] } == ["Notes/raw.bin", "Notes/tea.md"])
            #expect(listed?.last?["author"] == "you" && listed?.last?["state"] == "local")
            let long = try await recall.run("workspace", "ls", "-l", "theirs.md").output
            #expect(long.contains("elsewhere") && long.contains("6 bytes"), "\(long)")
            // No scan followed this edit, and it is still not attributed to the user.
            try Data("t".utf8).write(to: URL(fileURLWithPath: recall.folder + "/shared/Notes/tea.md"))
            let foreign = try await recall.run("workspace", "ls", "-l", "Notes/tea.md").output
            #expect(foreign.contains("elsewhere") && foreign.contains(" 1 byte "), "\(foreign)")
        }

        @Test("stale-version: a stale version is refused with exit code 1, and the difference is printed")
        func staleVersion() async throws {
            let recall = try await made()
            let file = URL(fileURLWithPath: recall.folder + "/shared/context.md")
            #expect(
                try await recall.run(["workspace", "write", "context.md", "--new"], input: "kept\nold line\n").code == 0
            )
            let version = try await version(recall, "context.md")
            try Data("kept\nnew line\n".utf8).write(to: file)
            let stale = try await recall.run("workspace", "write", "context.md", "mine", "--replacing", version)
            #expect(stale.code == 1 && stale.output.isEmpty)
            let current = try await self.version(recall, "context.md")
            #expect(stale.messages.contains("- old line") && stale.messages.contains("+ new line"), "\(stale.messages)")
            #expect(stale.messages.contains(current) && !stale.messages.contains("kept"))
            let there = try await recall.run("workspace", "write", "context.md", "mine", "--new")
            #expect(there.code == 1 && there.messages.contains(current))
            let gone = try await recall.run("workspace", "write", "absent.md", "mine", "--replacing", version)
            #expect(gone.code == 1 && gone.messages.contains("absent.md does not exist; create it"), "\(gone)")
            let unknown = try await recall.run("workspace", "write", "context.md", "mine", "--replacing", "00000000")
            #expect(unknown.code == 1 && unknown.messages.contains("it is now version \(current)"))
            #expect(try String(contentsOf: file, encoding: .utf8) == "kept\nnew line\n")
        }

        @Test("Paths outside the workspace, credentials and invalid options are refused with a readable error")
        func refusals() async throws {
            let recall = try await made()
            for path in ["../x.md", "/etc/passwd", "a/../../x.md", "~/x.md", ".hidden", "a\\b"] {
                for command in [["cat", path], ["write", path, "x", "--new"], ["ls", path]] {
                    let refused = try await recall.run(["workspace"] + command)
                    #expect(refused.code == 1 && !refused.messages.isEmpty, "\(command)")
                }
            }
            let secret = "ghp" + "_" + "k7Qz91LmX0aB4cD8eF2gH6iJ3nP5rS9tU1vW"
            let credential = try await recall.run("workspace", "write", "keys.md", "Use \(secret)", "--append")
            #expect(credential.code == 1 && credential.messages.contains("GitHub"))
            #expect(!credential.messages.contains(secret))
            for options in [[], ["--new", "--append"], ["--replacing", "abc"]] {
                #expect(try await recall.run(["workspace", "write", "x.md", "y"] + options).code == 64)
            }
            let item = try await recall.run("workspace", "write", "x.md", "- item", "--append")
            #expect(item.code == 64 && item.messages.contains("put -- between"), "\(item)")
            #expect(try await recall.run("workspace", "write", "--append", "--", "list.md", "- item").code == 0)
            let other = try await recall.run("workspace", "write", "--", "list.md", "- item")
            #expect(other.code == 64 && !other.messages.contains("put -- between"), "\(other)")
            try FileManager.default.removeItem(atPath: recall.folder + "/shared/list.md")
            #expect(try await recall.run("workspace", "cat", "absent.md").code == 1)
            #expect(try await recall.run("workspace", "write", "folder/", "x", "--new").code == 1)
            try recall.write("shared/folder/x.md", "x")
            let folder = try await recall.run("workspace", "cat", "folder")
            #expect(folder.code == 1 && folder.messages.contains("folder is a folder"), "\(folder)")
            try FileManager.default.removeItem(atPath: recall.folder + "/shared/folder")
            let around = try await recall.run("workspace", "status", "--root", recall.folder)
            #expect(around.code == 1 && around.messages.contains("is inside the workspace"), "\(around)")
            #expect(try await recall.run("workspace", "ls", "--root", "").code == 64)
            #expect(try await recall.run("workspace", "ls", "-R").output.isEmpty)
        }

        @Test("Status reports the files, and a mass deletion with code 2 until it is accepted")
        func status() async throws {
            let recall = try await made()
            for index in 0..<6 {
                #expect(try await recall.run("workspace", "write", "\(index).md", "text", "--new").code == 0)
            }
            let status = try await recall.run("workspace", "status", "--json")
            #expect(try status.code == 0 && status.json()["files"] == 6 && status.json()["isMassDeletion"] == false)
            #expect(try status.json()["notUploaded"] == [] && status.json()["overQuota"] == [])
            #expect(try status.json()["unreadable"] == [] && status.json()["ignoredCount"] == 0)
            try recall.write("shared/in/what?.md", "text")
            let around = try await recall.run("workspace", "status", "--json")
            #expect(try around.json()["ignored"] == ["in/what?.md"] && around.json()["ignoredCount"] == 1)
            let output = try await recall.run("workspace", "status").output
            #expect(
                output.contains("6 files") && output.contains("1 name\n") && output.contains("in/what?.md\n"),
                "\(output)")
            for index in 0..<5 { try FileManager.default.removeItem(atPath: recall.folder + "/shared/\(index).md") }
            let vanished = try await recall.run("workspace", "status")
            #expect(vanished.code == 2 && vanished.output.contains("--accept-deletions"), "\(vanished)")
            #expect(vanished.messages.isEmpty)
            #expect(try await recall.run("workspace", "status", "--accept-deletions").code == 0)
            #expect(try await recall.run("workspace", "status", "--json").json()["files"] == 1)
        }

        @Test("Resolve merges conflict copies and prints the outcome")
        func resolve() async throws {
            let recall = try await made()
            #expect(try await recall.run("workspace", "resolve").output == "No conflicts.\n")
            for (name, text) in [("", "left"), (".sync-conflict-20260203-090000-ABCDEFG", "right")] {
                let file = URL(fileURLWithPath: recall.folder + "/shared/context\(name).md")
                try Data("# About\n\nFrom the \(text).\n".utf8).write(to: file)
            }
            #expect(try await recall.run("workspace", "status", "--json").json()["conflicted"] == ["context.md"])
            let preview = try await recall.run("workspace", "resolve", "--preview", "--json")
            #expect(try await recall.run("workspace", "ls").output.split(separator: "\n").count == 2)
            let resolved = try await recall.run("workspace", "resolve", "--json")
            #expect(resolved.code == 0, "\(resolved.messages)")
            #expect(try preview.json() == resolved.json())
            #expect(try resolved.json().arrayValue?.map { $0["assumedDeleted"] } == [[]])
            #expect(try resolved.json().arrayValue?.map { $0["path"] } == ["context.md"])
            let text = try await recall.run("workspace", "cat", "context.md").output
            #expect(text.contains("From the left.") && text.contains("From the right."))
            #expect(try await recall.run("workspace", "ls").output == "context.md\n")
            #expect(try await recall.run("workspace", "resolve", "--json").json() == [])
            try recall.write("shared/context.sync-conflict-20260203-100000-ABCDEFG.md", text)
            let early = try await recall.run("workspace", "resolve")
            #expect(early.code == 2 && early.output.hasPrefix("context.md: not resolved yet"), "\(early)")
            let restored = try await recall.run("workspace", "restore", "--conflict", "context.md", "--json").json()
            let saved = try #require(restored.arrayValue?.first?["kept"]?.arrayValue?.compactMap { $0.stringValue })
            var texts: Set<String> = []
            for path in saved { texts.insert(try await recall.run("workspace", "cat", path).output) }
            #expect(texts == ["# About\n\nFrom the left.\n", "# About\n\nFrom the right.\n"])
            let none = try await recall.run("workspace", "restore", "--conflict", saved[0])
            #expect(none.code == 1 && none.messages.contains("no conflict of"), "\(none)")
        }

        @Test("Journal writes entries and prints those of a day, separately for the user and each agent")
        func journal() async throws {
            let recall = try await made()
            let none = try await recall.run("workspace", "journal")
            #expect(none.code == 0 && none.output.hasPrefix("No entries on 2"), "\(none)")
            #expect(try await recall.run("workspace", "journal", "--json").json() == [])

            let added = try await recall.run("workspace", "journal", "Bought tea.", "--json")
            #expect(added.code == 0, "\(added.messages)")
            let entry = try added.json()
            let piped = try await recall.run(["workspace", "journal", "-"], input: "Saw a\n\n# heron\n\n")
            #expect(piped.code == 0, "\(piped.messages)")
            #expect(try await recall.run("workspace", "journal", "Ann likes tea.", "--agent", "scribe").code == 0)

            // A test that runs at midnight has its entries on two days.
            let date = try #require(entry["date"]?.integerValue)
            let day = JournalDay(of: Date(timeIntervalSince1970: Double(date) / 1000), in: .gmt).name
            let both = [day, "0d"].map { ["--day", $0] }
            var read: [JSONValue] = []
            for day in both {
                for found in try await recall.run(["workspace", "journal", "--json"] + day).json().arrayValue ?? []
                where !read.contains(found) { read.append(found) }
            }
            #expect(read.first == entry && read.map { $0["text"] } == ["Bought tea.", "Saw a\n\n# heron"])
            let shown = try await recall.run("workspace", "journal", "--day", day).output
            #expect(
                shown.wholeMatch(of: /[0-9:]{5}  Bought tea\.\n([0-9:]{5}  Saw a\n\n {7}# heron\n)?/) != nil, "\(shown)"
            )
            let file = try await recall.run("workspace", "cat", "Journal/user/\(day).md")
            #expect(file.output.contains("Bought tea.") && !file.output.contains("Ann likes tea."))
            let agents = try await recall.run("workspace", "journal", "--agent", "scribe", "--day", day, "--json")
            #expect(try agents.json().arrayValue?.allSatisfy { $0["text"] == "Ann likes tea." } == true)
            #expect(
                try await recall.run("workspace", "journal", "--agent", "other", "--day", day, "--json").json() == [])
            #expect(try await recall.run("workspace", "ls", "Journal").output == "Journal/agent/\nJournal/user/\n")
        }

        @Test("A day's file written by hand is read, and invalid entries are refused with a readable error")
        func journalByHand() async throws {
            let recall = try await made()
            try recall.write("shared/Journal/user/2026-02-03.md", "## 09:12\n\nBy hand.\n")
            let read = try await recall.run("workspace", "journal", "--day", "2026-02-03")
            #expect(read.output == "09:12  By hand.\n", "\(read)")
            let id = try await recall.run("workspace", "journal", "--day", "2026-02-03", "--json").json()
            #expect(id.arrayValue?.map { $0["date"] } == [1_770_109_920_000])
            for arguments in [["x", "--day", "2026-02-03"], ["--day", "some day"], ["--agent", ""]] {
                #expect(try await recall.run(["workspace", "journal"] + arguments).code == 64, "\(arguments)")
            }
            let secret = "ghp" + "_" + "k7Qz91LmX0aB4cD8eF2gH6iJ3nP5rS9tU1vW"
            for text in ["", " \n", "Use \(secret)"] {
                let refused = try await recall.run(["workspace", "journal", "-"], input: text)
                #expect(refused.code == 1 && !refused.messages.isEmpty && !refused.messages.contains(secret), "\(text)")
            }
            #expect(try await recall.run("workspace", "ls", "-R").output.contains("Journal/user/2026-02-03.md"))
            #expect(try await recall.run("workspace", "journal", "--json").json() == [])
        }

        @Test("Watch prints external and own changes as they happen")
        func watch() async throws {
            let recall = try await made()
            let running = try RunningRecall(recall, ["workspace", "watch", "--json"])
            #expect(try await running.wait(for: "watching").last?["path"] != nil)
            #expect(try await recall.run("workspace", "write", "own.md", "text", "--new").code == 0)
            let own = try await running.wait(for: "added").last
            #expect((own?["path"], own?["isOwn"]) == ("own.md", true))
            try Data("theirs".utf8).write(to: URL(fileURLWithPath: recall.folder + "/shared/theirs.md"))
            let theirs = try await running.wait(for: "added").last
            #expect((theirs?["path"], theirs?["isOwn"]) == ("theirs.md", false))
            await running.end(by: SIGTERM)
        }
    }
#endif
