import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Journal merge")
struct JournalMergeTests {
    private let day = """
        # 2026-11-21

        ## 09:12 <!-- note A 2026-11-21T09:12:07.123Z -->

        > first

        ## 10:00 <!-- note B 2026-11-21T10:00:00.000Z -->

        > second

        """

    private func merged(base: String? = nil, _ versions: String...) throws -> String {
        let forwards = JournalMerge.merged(base: base.map { Array($0.utf8) }, versions: versions.map { Array($0.utf8) })
        let backwards = JournalMerge.merged(
            base: base.map { Array($0.utf8) }, versions: versions.reversed().map { Array($0.utf8) })
        #expect(forwards == backwards)
        return String(decoding: try #require(forwards), as: UTF8.self)
    }

    private func page(_ entries: (id: String, minute: Int, text: String)...) -> String {
        let day = JournalDay(of: morning, in: .gmt)
        var page = JournalPage(day: day)
        for entry in entries {
            page.append(
                JournalEntry(
                    id: entry.id, date: morning.addingTimeInterval(Double(60 * entry.minute)), text: entry.text))
        }
        return String(decoding: page.bytes, as: UTF8.self)
    }

    private func entries(_ text: String) -> [JournalEntry] {
        JournalPage(day: JournalDay(of: morning, in: .gmt), bytes: Array(text.utf8)).entries().map(\.whole)
    }

    @Test("journal: a day begun on two devices becomes one file with each entry once, in order")
    func bothBegan() throws {
        let both = try merged(
            page(("C", 0, "phone"), ("A", 20, "phone again")), page(("B", 10, "tablet"), ("C", 0, "phone")))
        #expect(both == page(("C", 0, "phone"), ("B", 10, "tablet"), ("A", 20, "phone again")))
    }

    @Test("The merge of a single file written by Recollect is that file")
    func canonical() throws {
        #expect(try merged(day) == day)
        #expect(try merged("") == "")
        let page = page(
            ("A", 0, ""), ("B", 1, "\n# x\r\n```\n## 09:12\n\n> q\n"), ("", 2, "<!-- note"), ("é/..", 3, "-->"))
        #expect(try merged(page) == page)
    }

    @Test("A changed text wins over an unchanged one, and two changed texts of one entry are both kept")
    func texts() throws {
        let left = day.replacingOccurrences(of: "second", with: "on the left")
        let right = day.replacingOccurrences(of: "second", with: "on the right")
        #expect(try merged(base: day, left, day) == left)
        let both = try merged(base: day, left, right)
        #expect(both.contains("on the left") && both.contains("on the right") && !both.contains("second"))
        #expect(entries(both).map(\.id) == ["A", "B"])
        // The choice of one alternative is accepted. Two different choices have the same result on both devices.
        #expect(try merged(base: both, left, both) == left)
        #expect([left, right].contains(try merged(base: both, left, right)))
    }

    @Test("An entry deleted in one version and unchanged in the others stays deleted; other entries stay")
    func deletions() throws {
        let without = page(("A", 0, "first"))
        let with = page(("A", 0, "first"), ("B", 10, "second"))
        let edited = page(("A", 0, "first"), ("B", 10, "other"))
        let struck = with.replacingOccurrences(
            of: "## 09:22 <!-- note B 2026-11-21T09:22:07.123Z -->",
            with: "## ~~09:22~~ <!-- note B 2026-11-21T09:22:07.123Z struck 2026-11-21T12:00:00.000Z -->")
        #expect(try merged(base: with, without, with) == without)
        #expect(try merged(base: with, without, edited) == edited)
        #expect(try merged(base: with, without, struck) == struck)
        #expect(try merged(without, with) == with)
    }

    @Test("An entry struck out in one version is struck out in the merge, with the earliest date")
    func strikes() throws {
        let early = day.replacingOccurrences(
            of: "## 10:00 <!-- note B 2026-11-21T10:00:00.000Z",
            with: "## ~~10:00~~ <!-- note B 2026-11-21T10:00:00.000Z struck 2026-11-21T11:00:00.000Z")
        let late = early.replacingOccurrences(of: "T11:", with: "T12:")
        let byHand = day.replacingOccurrences(of: "## 10:00", with: "## ~~10:00~~")
        for base in [nil, day] {
            #expect(try merged(base: base, day, early) == early)
            #expect(try merged(base: base, late, early) == early)
            #expect(try merged(base: base, byHand, late) == late)
            #expect(try merged(base: base, byHand, day) == byHand)
        }
        #expect(entries(byHand).map { $0.struckAt != nil } == [false, true])
    }

    @Test("An entry written by hand gets an id derived from its content, and keeps its layout")
    func people() throws {
        let written = """
            # 2026-11-21
            Thoughts of my own.

            ## 7:30 Run in the rain
            Five kilometres.
            ```
            # not a heading
            ```

            ## Plans
            - tea

            """
        let once = try merged(written)
        #expect(once.hasPrefix("# 2026-11-21\n\nThoughts of my own.\n\n## 07:30 Run in the rain <!-- note "))
        #expect(once.hasSuffix(" -->\n\nFive kilometres.\n```\n# not a heading\n```\n\n## Plans\n- tea\n"))
        #expect(try merged(once, written) == once)
        #expect(try merged(written, day).contains("Run in the rain"))
        #expect(
            try merged(base: once, once.replacingOccurrences(of: "tea", with: "coffee"), written).contains("coffee"))
        let id = try #require(entries(once).first?.id)
        #expect(entries(once.replacingOccurrences(of: "Five", with: "Six")).first?.id == id)
    }

    @Test("A last line without a newline counts as a cut heading only if the version is a prefix of the base")
    func lastLineLikeHeading() throws {
        let base = day + "\n## 09:00 Planning trip <!-- note ABCD -->\n\n> alpha\n"
        let typed = base + "\n## 09:00 Plan"
        let both = try merged(base: base, typed, base + "> one\n")
        #expect(["Planning trip", "> alpha", "> one"].allSatisfy(both.contains))
        #expect(entries(both).count == entries(day).count + 2)
    }

    @Test("A merge with a truncated file has all entries, without a cut heading that is whole in the base")
    func cut() throws {
        let whole = Array((day + "\n## 11:05 Ünal <!-- note %F0%9F%94%A5 -->\n\n> größer\n> 🔥\n").utf8)
        let expected = entries(String(decoding: whole, as: UTF8.self)).map(\.id)
        for length in 0...whole.count {
            let cut = Array(whole.prefix(length))
            let both = try #require(JournalMerge.merged(base: nil, versions: [cut, whole]), "cut at \(length)")
            let ids = entries(String(decoding: both, as: UTF8.self)).map(\.id)
            // A heading without an id may be an entry of its own.
            #expect(Set(ids).isSuperset(of: expected) && ids.count <= expected.count + 1, "cut at \(length)")
            let left = try #require(JournalMerge.merged(base: whole, versions: [cut, whole]), "cut at \(length)")
            #expect(
                Set(entries(String(decoding: left, as: UTF8.self)).map(\.id)).isSubset(of: expected), "cut at \(length)"
            )
        }
    }

    @Test(
        "A last line without a newline that looks like the beginning of a heading stays",
        arguments: ["#42", "# 12:30", "## 14:00", "## 10:30 - 11:45", "##", "# Ideas <!-- note to myself", "## 1"])
    func numbersAtTheEnd(line: String) throws {
        for text in [day + line, day + "\n" + line] {
            let result = try merged(text, page(("C", 5, "tea")))
            #expect(result.contains(line), "\(result)")
            #expect(try merged(base: day, text, day + page(("C", 5, "tea"))).contains(line))
        }
    }

    @Test(
        "Two changed texts of an entry are both kept, even if one is a prefix of the other",
        arguments: [
            ("Dose: 5 mg", "Dose: 1", "Dose: 10 mg"), ("Call", "Call at 1", "Call at 15"),
            ("?", "yes", "yes, but not before May"),
        ])
    func beginnings(base: String, one: String, other: String) throws {
        let result = try merged(base: page(("A", 0, base)), page(("A", 0, one)), page(("A", 0, other)))
        let lines = result.lines
        #expect(lines.contains { $0.hasSuffix(one) } && lines.contains { $0.hasSuffix(other) }, "\(result)")
        #expect(result.contains("recollect:both"))
    }

    @Test(
        "journal: a line that is a prefix of lines in the base and in another version stays",
        arguments: [
            ("715", "715\n71", "715\n710"),
            ("Call Ann about the boat", "Call Ann about the boat\nCall", "Call Ann about the boat\nCall Bob"),
            ("bread\nmilk and honey", "bread\nmilk an", "bread\nmilk and honey\ntea"),
        ])
    func beginningsOfLines(base: String, one: String, other: String) throws {
        let result = try merged(base: page(("A", 0, base)), page(("A", 0, one)), page(("A", 0, other)))
        let lines = Set(result.lines.map { $0.replacingOccurrences(of: "> ", with: "") })
        #expect(lines.isSuperset(of: one.lines + other.lines), "\(result)")
    }

    @Test("concurrent-edits: an entry changed by both versions is merged by lines, with or without an id")
    func lines() throws {
        let text = (1...6).map { "line \($0)\n" }.joined()
        for heading in ["## 10:10 Walk <!-- note A -->", "## 10:10 Walk"] {
            let base = "\(heading)\n\n\(text)"
            let one = base.replacing("line 2", with: "line two")
            let other = base.replacing("line 5\n", with: "").replacing("Walk", with: "Long walk") + "line 7\n"
            let lines = try merged(base: base, one, other).lines
            #expect(
                lines.filter { $0.hasPrefix("line") } == ["line 1", "line two", "line 3", "line 4", "line 6", "line 7"])
            #expect(lines.count { $0.hasPrefix("## 10:10 Long walk <!-- note ") } == 1)
        }
    }

    @Test("Of two entries with one ID in all versions, a text in the other is dropped in every merge of the versions")
    func repeatedID() throws {
        let twice = page((id: "A", minute: 0, text: "Tea"), (id: "A", minute: 0, text: "Tea\nMilk"))
        let last = page((id: "D", minute: 180, text: "third"))
        let (one, other) = (
            try merged(twice, page((id: "B", minute: 60, text: "left"))),
            try merged(twice, twice)
        )
        #expect(entries(other).map(\.text) == ["Tea\nMilk"])
        let all = try merged(one, other, last)
        #expect(entries(all).map(\.text) == ["Tea\nMilk", "left", "third"])
        #expect(try merged(merged(one, other), last) == all)
    }

    @Test("An entry extended by both versions again and again grows only by the new lines", arguments: 0..<4)
    func growth(kind: Int) throws {
        func extended(_ text: String, with line: String) -> String {
            switch kind {
            case 0: text + "\(line)\n"
            case 1: text.replacing(/## 10:10(.*)/) { "## 10:10\($0.output.1)\n\n\(line)" }
            case 2:
                text.replacing(/## 10:10(.*?)( <!--.*|$)/.anchorsMatchLineEndings()) {
                    "## 10:10 \(line)\($0.output.2)"
                }
            default: "\(line)\n\(text)"
            }
        }
        var text = "## 10:10 Walk\n\nline 1\n"
        var counts: [Int] = []
        for round in 1...8 {
            text = try merged(base: text, extended(text, with: "here \(round)"), extended(text, with: "there \(round)"))
            counts.append(text.lines.count)
        }
        #expect((counts.last ?? 0) <= 8 * 14, "\(counts)\n\(text)")
    }

    @Test("journal: headings in a code block are text of their entry")
    func codeBlock() throws {
        let log = "## 09:00 Log\n\n~~~\n## 08:00 start\n\n## 08:30 stop\n~~~\n\nDone.\n"
        let both = try merged(base: log, log, log + "\n## 10:00 Tea\n")
        #expect(entries(both).map(\.text) == ["Log\n~~~\n## 08:00 start\n\n## 08:30 stop\n~~~\n\nDone.", "Tea"])
        #expect(entries(log).count == 1)
        // Without its end, or with an entry written by Recollect in it, it is no code block.
        let open = log.replacing("~~~\n\nDone.\n", with: "\n\(day)")
        #expect(entries(open).map(\.text) == ["Log\n~~~", "start", "stop", "first", "second"])
        #expect(entries(open + "~~~\n").count == 5)
        #expect(entries(try merged(base: open, open + "~~~\n", open)).count == 5)
        // Searching for ends takes linear time.
        let fences = "## 09:00 Log\n" + String(repeating: "```a\n", count: 20_000)
        #expect(entries(fences + day).count == 3)
        let falling = (3..<2_000).reversed().map { String(repeating: "`", count: $0) + "\n" }.joined()
        #expect(entries("## 09:00 Log\n" + falling + day).count == 3)
        // A shorter fence does not end a block, and one of the other kind neither.
        let nested = "````\n```\n~~~~~\n## 08:00 x\n```\n````\n## 09:00 y\n```\n## 10:00 z\n```\n"
        #expect(
            entries("## 07:00 Log\n" + nested + day).map(\.text) == [
                "Log\n````\n```\n~~~~~\n## 08:00 x\n```\n````", "y\n```\n## 10:00 z\n```", "first", "second",
            ])
    }

    @Test("journal: entries of a person with one content are several entries")
    func equalEntries() throws {
        let base = String(repeating: "## 09:00 +1\n\n", count: 3)
        let both = try merged(base: base, base, base + "## 10:00 Milk\n")
        #expect(entries(both).map(\.text) == ["+1", "+1", "+1", "Milk"])
        #expect(try merged(both, base) == both)
        // One of them is deleted, or struck out.
        let fewer = try merged(base: base, base, String(base.dropFirst("## 09:00 +1\n\n".count)))
        #expect(entries(fewer).map(\.text) == ["+1", "+1"])
        let struck = "## ~~09:00~~ Tea\n\n## 09:00 Tea\n"
        let kept = entries(try merged(base: "## 09:00 Tea\n", struck, "## 09:00 Tea\n\n## 11:00 Milk\n"))
        #expect(kept.map(\.text) == ["Tea", "Tea", "Milk"])
        #expect(kept.map { $0.struckAt != nil } == [true, false, false])
    }

    @Test("Line endings, Unicode normalization and an appended paragraph do not cause a conflict")
    func sameness() throws {
        let composed = page(("A", 0, "café\nat noon"))
        let windows = composed.replacingOccurrences(of: "\n", with: "\r\n")
        #expect(try merged(composed, windows) == composed)
        #expect(try merged(composed, "\u{FEFF}" + composed) == composed)
        let both = try merged(composed, page(("A", 0, "cafe\u{301}\nat noon")))
        #expect(entries(both).map(\.text) == ["café\nat noon"])
        #expect(try merged(composed, composed + "\nand tea\n") == composed + "\nand tea\n")
    }

    @Test("A version that is not text prevents a merge, and a base that is not text is ignored")
    func binary() {
        #expect(JournalMerge.merged(base: nil, versions: [Array(day.utf8), [0xFF, 0xFE, 0x41]]) == nil)
        #expect(JournalMerge.merged(base: [0xFF, 0x41], versions: [Array(day.utf8)]) == Array(day.utf8))
    }

    @Test("Unknown fields of a heading are preserved")
    func foreignMessages() throws {
        let newer = day.replacingOccurrences(of: "000Z -->", with: "000Z by scribe mood fine -->")
        #expect(try merged(base: day, newer, day) == newer)
        #expect(try merged(newer, day) == newer)
    }

    @Test("concurrent-edits: a comment of a person in a heading stays as written")
    func comments() throws {
        for comment in [
            "<!-- note cooked by Ann and eaten by Bob -->", "<!-- note für Geburtstag -->", "<!-- note 買い物 -->",
            "<!-- note my_file.txt by José -->", "<!-- note to self -->",
            "<!-- note A 2026-11-21T09:12:00.000Z by José -->",
        ] {
            // With a date, it is the comment of an entry. Two entries would have one ID.
            let other = comment.contains("Z by") ? "" : " \(comment)"
            let base = "# 2026-11-21\n\n## 09:12 Lunch \(comment)\n\nbread\n\n## 11:00 Tea\(other)\n\ntea\n"
            let one = base.replacing("bread", with: "bread and butter")
            let both = try merged(base: base, one, base.replacing("tea", with: "green tea"))
            let headings = both.split(separator: "\n").filter { $0.hasPrefix("## ") }
            // A merge adds the ID of an entry.
            #expect(headings.count == 2 && headings[0].contains(comment), "\(both)")
            #expect(other.isEmpty || headings.last?.contains(other) == true, "\(both)")
            #expect(both.contains("bread and butter") && both.contains("green tea"))
        }
    }
}
