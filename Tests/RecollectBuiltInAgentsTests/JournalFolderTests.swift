import Foundation
import RecollectAgents
import RecollectBuiltInAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Markdown journal")
struct JournalFolderTests {
    private let folder: TemporaryFolder
    private let journal: JournalFolder
    private let ada = JournalID(userId: "ada", agentId: "scribe")

    init() throws {
        folder = try TemporaryFolder()
        journal = JournalFolder(baseURL: folder.url, timeZone: .gmt)
    }

    private func entry(_ text: String, id: String = UUID().uuidString, minutes: Double = 0) -> JournalEntry {
        JournalEntry(id: id, date: morning.addingTimeInterval(60 * minutes), text: text)
    }

    private func texts(_ query: JournalQuery = JournalQuery()) async throws -> [String] {
        try await journal.entries(query, in: ada).map(\.text)
    }

    private func file() throws -> String { try String(contentsOf: folder.page(), encoding: .utf8) }

    @Test("The journal has one readable file a day")
    func format() async throws {
        try await journal.append(entry("Landlord wants\n\n## the reading", id: "A-1 b"), to: ada)
        #expect(
            try file() == """
                # 2026-11-21

                ## 09:12 <!-- note A-1%20b 2026-11-21T09:12:07.123Z -->

                > Landlord wants
                >
                > ## the reading

                """)
    }

    @Test("Every text, ID and date is read back byte by byte, whatever Markdown it contains")
    func roundTrip() async {
        await Seeds.run(3) { seed in
            let owner = JournalID(userId: "\(seed)", agentId: "scribe")
            var generator = SeededGenerator(seed: seed)
            let pieces = [
                "## 09:12 <!-- note x 2026-11-21T09:12:07.123Z -->", "# heading", "```", "~~~", "> quoted", ">", "<!--",
                "-->", "\n", "\n\n",
                "\r\n", "\r", " ", "\t", "\\## ", "漢字", "e\u{301}", "\u{0}", "\u{2028}", "- item", "text", "~~struck~~",
                "",
            ]
            var saved: [JournalEntry] = []
            for number in 0..<30 {
                let text = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator) ?? ""
                }
                let name = "\(number)" + (pieces.randomElement(using: &generator) ?? "")
                let date = morning.addingTimeInterval(Double(number) + Double.random(in: 0..<1, using: &generator))
                var entry = JournalEntry(id: name, date: date, text: text.joined())
                try await journal.append(entry, to: owner)
                if Bool.random(using: &generator) {
                    entry.struckAt = morning
                    try await journal.strike(entry, at: morning, in: owner)
                }
                saved.append(entry)
            }
            let read = try await journal.entries(JournalQuery(includesStruck: true, limit: 100), in: owner)
            #expect(read.map(\.id) == saved.map(\.id))
            for (left, right) in zip(read, saved) {
                #expect(Array(left.text.utf8) == Array(right.text.utf8))
                #expect(Array(left.id.utf8) == Array(right.id.utf8))
                #expect(left.date == right.date && left.struckAt == right.struckAt)
            }
        }
    }

    @Test("A truncated file keeps its whole entries and accepts new ones")
    func cut() async throws {
        try await journal.append(entry("first ## note", id: "1"), to: ada)
        let firstLength = try file().utf8.count
        try await journal.append(entry("second\nnote", id: "2", minutes: 1), to: ada)
        let whole = Array(try file().utf8)
        for length in firstLength..<whole.count {
            try folder.write(String(decoding: whole.prefix(length), as: UTF8.self))
            try await journal.append(entry("third", id: "3", minutes: 2), to: ada)
            let read = try await texts()
            #expect(read.first == "first ## note" && read.last == "third", "cut at \(length): \(read)")
            #expect(read.count <= 3)
        }
    }

    @Test("Entries written in an editor are read, and their text stays unchanged")
    func people() async throws {
        let written = """
            # My Saturday
            Some thoughts of my own.

            ## 10:30
            Called the plumber.
            Comes on Monday.

            ## 11:05 Mara
            called back.

            ## Not a time
            Ignored.

            ## ~~8:05~~
            > struck by hand
            """
        try folder.write(written)
        try await journal.append(entry("noted", minutes: 240), to: ada)
        #expect(try file().hasPrefix(written + "\n"))
        let read = try await journal.entries(JournalQuery(includesStruck: true), in: ada)
        #expect(
            read.map(\.text) == [
                "struck by hand", "Called the plumber.\nComes on Monday.", "Mara\ncalled back.", "noted",
            ])
        #expect(read.map { $0.struckAt != nil } == [true, false, false, false])
        #expect(read[1].date == morning.addingTimeInterval(78 * 60 - 7.123).wholeMilliseconds)
        // Their IDs are the same in each read: they can be struck, and are not appended again.
        for entry in read[1...2] {
            try await journal.append(entry, to: ada)
            try await journal.strike(entry, at: morning, in: ada)
            try await journal.append(entry, to: ada)
        }
        #expect(try await texts() == ["noted"])
        let struck = try await journal.entries(JournalQuery(includesStruck: true), in: ada)
        #expect(struck.map(\.text) == read.map(\.text) && struck.map(\.id) == read.map(\.id))
        #expect(try file().contains("Called the plumber.\nComes on Monday."))
        #expect(try file().contains("## ~~11:05~~ Mara <!-- note "))
    }

    @Test("Files with Windows line breaks and a paragraph added below a note are read")
    func edited() async throws {
        try await journal.append(entry("a note", id: "1"), to: ada)
        try folder.write(try file().replacingOccurrences(of: "\n", with: "\r\n") + "\r\nand more")
        let read = try await journal.entries(JournalQuery(), in: ada)
        #expect(read.map(\.id) == ["1"])
        #expect(read.first?.text.hasPrefix("a note") == true && read.first?.text.hasSuffix("and more") == true)
    }

    @Test("Headings of a workspace journal are read, and striking an entry keeps all of their text")
    func workspace() async throws {
        try folder.write(
            """
            # 2026-11-21

            ## 09:12 <!-- note A 2026-11-21T09:12:07.123Z by my%20scribe mood fine -->

            > by an agent

            ## 10:30 Lunch <!-- note c0ffee --> with Mara

            > merged before anyone knew its moment

            ## ~~11:00~~ <!-- note B 2026-11-21T11:00:00.000Z struck 2026-11-21T12:00:00.000Z by x -->

            """)
        let read = try await journal.entries(JournalQuery(includesStruck: true), in: ada)
        #expect(read.map(\.id) == ["A", "c0ffee", "B"])
        #expect(read.map(\.text) == ["by an agent", "Lunch with Mara\nmerged before anyone knew its moment", ""])
        #expect(read[1].date == morning.addingTimeInterval(78 * 60 - 7.123).wholeMilliseconds)
        #expect(read.map { $0.struckAt != nil } == [false, false, true])
        for entry in read { try await journal.strike(entry, at: morning, in: ada) }
        #expect(
            try file().contains(
                "## ~~09:12~~ <!-- note A 2026-11-21T09:12:07.123Z struck 2026-11-21T09:12:07.123Z by my%20scribe mood fine -->"
            ))
        #expect(
            try file().contains(
                "## ~~10:30~~ Lunch with Mara <!-- note c0ffee 2026-11-21T10:30:00.000Z struck 2026-11-21T09:12:07.123Z -->"
            ))
        #expect(try await texts() == [])
    }

    @Test("An ID is appended once, struck entries stay in the file, and striking an unknown ID throws")
    func identity() async throws {
        let note = entry("once", id: "1")
        for _ in 0..<3 { try await journal.append(note, to: ada) }
        #expect(try await texts() == ["once"])
        try await journal.strike(note, at: morning, in: ada)
        try await journal.strike(note, at: morning.addingTimeInterval(60), in: ada)
        #expect(try await texts() == [])
        let struck = try await journal.entries(JournalQuery(includesStruck: true), in: ada)
        #expect(struck.map(\.text) == ["once"] && struck.first?.struckAt == morning)
        #expect(try file().contains("~~09:12~~"))
        await #expect(throws: RecollectError.self) {
            try await journal.strike(entry("", id: "2"), at: morning, in: ada)
        }
    }

    @Test("Queries match words and times, and return the latest entries in order")
    func queries() async throws {
        for (number, text) in ["Café in Rome", "boiler is loud", "boiler repaired", "cafe closed"].enumerated() {
            try await journal.append(entry(text, minutes: Double(number) * 24 * 60), to: ada)
        }
        #expect(try await texts(JournalQuery(words: ["CAFE"])) == ["Café in Rome", "cafe closed"])
        #expect(try await texts(JournalQuery(words: ["boiler", "rep"])) == ["boiler repaired"])
        #expect(try await texts(JournalQuery(limit: 2)) == ["boiler repaired", "cafe closed"])
        #expect(try await texts(JournalQuery(limit: 0)) == [])
        let day = morning.addingTimeInterval(86_400).wholeMilliseconds
        #expect(try await texts(JournalQuery(from: day, until: day.addingTimeInterval(86_400))) == ["boiler is loud"])
    }

    @Test("Users and agents have separate journals, whatever their IDs, and the files are private")
    func scopes() async throws {
        let ids = ["", "a/b", "..", "Bob", "bob", "é", "e\u{301}", String(repeating: "x", count: 300)]
        for user in ids { try await journal.append(entry(user), to: JournalID(userId: user, agentId: "scribe")) }
        for user in ids {
            let read = try await journal.entries(JournalQuery(), in: JournalID(userId: user, agentId: "scribe"))
            #expect(read.map { Array($0.text.utf8) } == [Array(user.utf8)])
            #expect(try await journal.entries(JournalQuery(), in: JournalID(userId: user, agentId: "b")).isEmpty)
        }
        try await journal.append(entry("mode"), to: ada)
        let modes = try [folder.page(), folder.page().deletingLastPathComponent()].map {
            try FileManager.default.attributesOfItem(atPath: $0.path)[.posixPermissions] as? Int
        }
        #expect(modes == [0o600, 0o700])
    }

    @Test("An entry is found after its user has moved to another time zone")
    func travel() async throws {
        let late = entry("late", id: "late", minutes: 14 * 60)
        try await journal.append(late, to: ada)
        let tokyo = JournalFolder(baseURL: folder.url, timeZone: try #require(TimeZone(identifier: "Asia/Tokyo")))
        try await tokyo.append(late, to: ada)
        #expect(try await tokyo.entries(JournalQuery(from: late.date), in: ada) == [late])
        try await tokyo.strike(late, at: morning, in: ada)
        #expect(try await texts() == [])
    }

    @Test("A folder in place of a journal file makes reads and writes throw")
    func foreign() async throws {
        try FileManager.default.createDirectory(at: folder.page(), withIntermediateDirectories: true)
        await #expect(throws: RecollectError.self) { try await journal.append(entry("x"), to: ada) }
        await #expect(throws: RecollectError.self) { _ = try await journal.entries(JournalQuery(), in: ada) }
    }

    @Test("Two concurrent processes lose no entry", .needs(.processes))
    func processes() async throws {
        let workers = try ["one", "two"].map { try Worker(["journal", folder.url.path, $0, "40"]) }
        for worker in workers {
            let said = await worker.finish()
            #expect(worker.endedWell && said == (0..<40).map { "noted \($0)" })
        }
        let read = try await texts(JournalQuery(limit: 1000))
        #expect(read.sorted() == ["one", "two"].flatMap { name in (0..<40).map { "\(name) \($0)" } }.sorted())
    }

    @Test("A killed process loses no acknowledged entry and leaves no partial entry", .needs(.processes))
    func kill() async throws {
        for round in 0..<3 {
            let worker = try Worker(["journal", folder.url.path, "\(round)", "100000"])
            _ = await worker.wait(forLines: 10 + round * 7)
            worker.kill()
            let said = await worker.finish().count
            let read = try await texts(JournalQuery(words: ["\(round) "], limit: 100_000)).filter {
                $0.hasPrefix("\(round) ")
            }
            #expect(read == (0..<read.count).map { "\(round) \($0)" })
            #expect(read.count >= said && read.count <= said + 1)
        }
        try await journal.append(entry("after"), to: ada)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: folder.page().deletingLastPathComponent().path)
        #expect(names == ["2026-11-21.md"])
    }
}
