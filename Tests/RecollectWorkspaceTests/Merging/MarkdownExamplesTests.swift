import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// The expected results of merges, case by case.
@Suite("Markdown merge examples")
struct MarkdownExamplesTests {
    private func merged(_ base: String?, _ one: String, _ other: String) -> String {
        (try? file("a.md", base, one, other)) ?? "kept apart"
    }

    private let notes = "# Ada\n\nLikes tea.\n\n- lives in Bergen\n- has a cat\n\n## Work\n\nEngineer.\n"

    @Test("Edits of different lines are both in the merge, and nothing else changes")
    func apart() {
        let one = notes.replacing("Likes tea.", with: "Likes green tea.")
        let other = notes.replacing("Engineer.", with: "Chief engineer.")
        #expect(
            merged(notes, one, other)
                == "# Ada\n\nLikes green tea.\n\n- lives in Bergen\n- has a cat\n\n## Work\n\nChief engineer.\n")
    }

    @Test("concurrent-edits: two edits of one line are both kept in a conflict block")
    func sameLine() {
        let one = notes.replacing("Likes tea.", with: "Likes green tea.")
        let other = notes.replacing("Likes tea.", with: "Likes coffee.")
        let result = merged(notes, one, other)
        #expect(
            result == """
                # Ada

                <!-- recollect:both -->
                *Conflicting changes: keep what is right, and delete the rest.*

                Likes coffee.

                <!-- recollect:or -->

                Likes green tea.

                <!-- recollect:end -->

                - lives in Bergen
                - has a cat

                ## Work

                Engineer.

                """)
        // Keeping one alternative and deleting the rest resolves the block, regardless of other edits meanwhile.
        let solved = one
        let later = result.replacing("Engineer.", with: "Chief engineer.")
        #expect(merged(result, solved, later) == one.replacing("Engineer.", with: "Chief engineer."))
    }

    @Test("Items added to a list by both versions form one list")
    func lists() {
        let one = notes.replacing("- has a cat\n", with: "- has a cat\n- sails\n")
        let other = notes.replacing("- has a cat\n", with: "- has a cat\n- plays chess\n- sails\n")
        #expect(
            merged(notes, one, other) == notes.replacing("- has a cat\n", with: "- has a cat\n- plays chess\n- sails\n")
        )
    }

    @Test("Sections added by both versions are all present, and sections with the same heading are merged")
    func sections() {
        #expect(
            merged(notes, notes + "\n# Plans\n\n- Rome\n", notes + "\n# Plans\n\n- Oslo\n\n# Health\n\nWell.\n")
                == notes + "\n# Plans\n\n- Oslo\n- Rome\n\n# Health\n\nWell.\n")
    }

    @Test("Unchanged lines deleted by one version are deleted, and lines changed by the other version stay")
    func deletions() {
        let without = "# Ada\n\nLikes tea.\n\n- has a cat\n"
        #expect(merged(notes, without, notes + "\nMore.\n") == without + "\n## Work\n\nEngineer.\n\nMore.\n")
        #expect(
            merged(notes, without, notes.replacing("tea", with: "coffee")) == without.replacing("tea", with: "coffee"))
    }

    @Test("concurrent-edits: moved lines stay moved, and concurrent insertions stay beside their neighbors")
    func moves() throws {
        let list = "- a\n- b\n- c\n- d\n"
        #expect(merged(list, "- c\n- a\n- b\n- d\n", list + "- e\n") == "- c\n- a\n- b\n- d\n- e\n")
        #expect(merged(list, "- b\n- a\n- c\n- d\n", "- a\n- b\n- d\n- c\n") == "- b\n- a\n- d\n- c\n")
        #expect(merged(list, "- d\n- a\n- b\n- c\n", "- a\n- x\n- c\n- d\n") == "- d\n- a\n- x\n- c\n")
        let sections = "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n"
        #expect(
            merged(
                sections, "# C\n\nthree\n\n# A\n\none\n\n# B\n\ntwo\n",
                sections.replacing("# C", with: "# New\n\nx\n\n# C"))
                == "\n# C\n\nthree\n\n# A\n\none\n\n# B\n\ntwo\n\n# New\n\nx\n")
        let front = "---\na: 1\nb: 2\nc: 3\n---\ntext\n"
        #expect(
            merged(front, "---\nc: 3\na: 1\nb: 2\n---\ntext\n", front.replacing("b: 2", with: "b: 2\nd: 4"))
                == "---\nc: 3\na: 1\nb: 2\nd: 4\n---\ntext\n")
        #expect(try file("a.txt", "a\nb\nc\n", "c\na\nb\n", "x\na\nb\nc\n") == "x\nc\na\nb\n")
        // The change may belong to the adjacent line that was moved away.
        for (one, other) in [("b\nc\nd\na\n", "a\nb x\nc\nd\n"), ("b\nc\na\nd\n", "a\nx\nb\nc\nd\n")] {
            #expect(try file("a.txt", "a\nb\nc\nd\n", one, other) == nil)
        }
        // A line cannot be moved to both ends.
        #expect(try file("a.txt", "a\nx\nb\n", "x\na\nb\n", "a\nb\nx\n") == nil)
    }

    @Test(
        "concurrent-edits: a changed line that another version moved, or moved a line past, prevents a merge",
        arguments: [
            ("- a\n- b\n- c\n", "- c\n- a\n- b\n", "- a\n- b\n- c!\n"),
            ("- a\n- b\n- c\n- d\n", "- a\n- d\n- b\n- c\n", "- a\n- b!\n- c\n- d\n"),
            ("- a\n- b\n- c\n- d\n", "- a\n- c\n- d\n- b\n", "- a\n- b!\n- c\n- d\n"),
            ("a\n\nb\n\nc\n", "c\n\na\n\nb\n", "a\n\nb\n\nc!\n"),
            ("a\n\nb\n\nc\n\nd\n", "a\n\nd\n\nb\n\nc\n", "a\n\nb!\n\nc\n\nd\n"),
            ("a\nb\nc\n", "a\nc\nb\n", "a\nb\nc!\n"),
            ("# a\n# b\n# c\n", "# a\n# c\n# b\n", "# a\n# b!\n# c\n"),
            ("# a\nx\n## b\ny\n## c\nz\n", "# a\nx\n## c\nz\n## b\ny\n", "# a\nx\n## b!\ny\n## c\nz\n"),
        ])
    func changedAndMoved(base: String, moved: String, changed: String) throws {
        #expect(try file("a.md", base, moved, changed) == nil)
        #expect(try file("a.txt", base, moved, changed) == nil)
    }

    @Test("concurrent-edits: a changed line stays after its predecessor if another line moved past both")
    func changedBesideMoves() throws {
        let list = "- a\n- b\n- c\n- d\n"
        for name in ["a.md", "a.txt"] {
            #expect(
                try file(name, list, "- d\n- a\n- b\n- c\n", "- a\n- b!\n- c\n- d\n") == "- d\n- a\n- b!\n- c\n")
        }
    }

    @Test("concurrent-edits: a changed heading does not affect the text below it")
    func headings() {
        let text = "# A\n\none\n\n## B\n\ntwo\n"
        let other = text + "\nthree\n"
        for heading in ["### B", "## B ##", "## C", "# B", "B"] {
            #expect(
                merged(text, text.replacing("## B", with: heading), other) == other.replacing("## B", with: heading))
        }
        #expect(
            merged(text, text.replacing("two", with: "## New\n\ntwo"), other)
                == other.replacing("two", with: "## New\n\ntwo"))
    }

    @Test("Without a merge base, nothing counts as deleted")
    func withoutBase() {
        let result = merged(nil, "# A\n\none\n\n- x\n", "# A\n\none\n\n- y\n\n# B\n")
        #expect(result == "# A\n\none\n\n- x\n- y\n\n# B\n")
    }

    @Test("Items and sections added by both versions stay in their common order")
    func order() {
        #expect(merged(nil, "- b\n- a\n- x\n", "- b\n- a\n- c\n") == "- b\n- a\n- c\n- x\n")
        #expect(
            merged("# A\n\n# B\n", "# A\n\n# New\n\n# B\n\nx\n", "# A\n\n# New\n\n# B\n\n# C\n")
                == "# A\n\n# New\n\n# B\n\nx\n\n# C\n")
    }

    @Test("Repeated items and lines of one version are all in the merge, even if the base has one of them")
    func equalItems() {
        let day = "# Day\n\n- took pill\n"
        #expect(
            merged("# Day\n", "# Day\n\n- took pill\n- took pill\n- took pill\n", "# Day\n\n- walk\n")
                == "# Day\n\n- took pill\n- took pill\n- took pill\n- walk\n")
        #expect(merged(day, day + "- walk\n- took pill\n", day + "\nfine\n").lines.count { $0 == "- took pill" } == 2)
        #expect(merged("a\nb\n", "a\nb\nc\na\n", "x\na\nb\n") == "x\na\nb\nc\na\n")
    }

    @Test(
        "concurrent-edits: without a merge base, only different lines are alternatives", arguments: ["a.md", "a.txt"])
    func alignedWithoutBase(name: String) throws {
        let text = (1...6).map { "line \($0)\n" }.joined()
        let one = text.replacing("line 2\n", with: "line two\n").replacing("line 5\n", with: "")
        let other = "new\n" + text
        let merged = try #require(try file(name, nil, one, other)).lines
        #expect(merged == (try file(name, nil, other, one))?.lines)
        #expect(
            merged.filter { $0.hasPrefix("line") } == [
                "line 1", "line 2", "line two", "line 3", "line 4", "line 5", "line 6",
            ])
        #expect(merged.first == "new")
    }

    @Test("concurrent-edits: a line moved by one version stays at both places without a merge base")
    func movedWithoutBase() {
        let result = merged(nil, "a\nb\nc\nx\n", "x\na\nb\nc\n")
        #expect(result == merged(nil, "x\na\nb\nc\n", "a\nb\nc\nx\n"))
        #expect(result == "x\na\nb\nc\nx\n")
    }

    @Test("Lines at the beginning of all versions appear once, even without a merge base")
    func growing() {
        let result = merged(nil, "a\nb\nc\n", "a\nb\nd\n")
        #expect(result.lines.count { $0 == "a" } == 1 && result.contains("c\n") && result.contains("d\n"))
        #expect(merged(nil, "a\nb\nc\n", "a\nb\n") == "a\nb\nc\n")
    }

    @Test("concurrent-edits: two sections with the same heading keep their own text")
    func repeatedHeadings() {
        let diary = "# Monday\n\nrain\n\n# Tuesday\n\nsun\n\n# Monday\n\nsnow\n"
        // The check of the merge would detect an error here, too.
        let versions = [diary.replacing("rain", with: "heavy rain"), diary.replacing("snow", with: "ice")]
        #expect(MarkdownMerge.merged(base: diary, versions: versions, as: .markdown) == nil)
        #expect(
            merged(diary, diary.replacing("rain", with: "heavy rain"), diary.replacing("snow", with: "ice"))
                == diary.replacing("rain", with: "heavy rain").replacing("snow", with: "ice"))
        #expect(
            merged(diary, diary.replacing("# Monday\n\nrain\n\n", with: ""), diary.replacing("snow", with: "ice"))
                == "\n# Tuesday\n\nsun\n\n# Monday\n\nice\n")
    }

    @Test("Of repeated lines, exactly the deleted ones are deleted")
    func repeatedLines() {
        let code = "f {\n1\n}\n\ng {\n2\n}\n\nh {\n3\n}\n"
        #expect(
            merged(code, code.replacing("f {\n1\n}\n\n", with: ""), code.replacing("3", with: "three"))
                == "\ng {\n2\n}\n\nh {\nthree\n}\n")
    }

    @Test("Inline code does not start a code block")
    func codeInLine() {
        let base = "```code``` is this\n\n# A\n\nx\n"
        #expect(merged(base, base + "\ny\n", "z\n\n" + base) == "z\n\n" + base + "\ny\n")
    }

    private func file(_ name: String, _ base: String?, _ one: String, _ other: String) throws -> String? {
        try WorkspaceMerge.merged(
            base: base.map { Array($0.utf8) }, versions: [Array(one.utf8), Array(other.utf8)], at: path(name)
        ).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("concurrent-edits: thousands of conflict blocks side by side keep each alternative once")
    func manyBlocks() throws {
        let alternatives = (0..<2_000).map { ["a\($0)", "b\($0)"] }
        let blocks = alternatives.map { ConflictBlock(alternatives: Set($0)).text + "\n" }.joined(separator: "\n")
        let lines = try #require(try file("a.md", nil, blocks, "other\n")).split(separator: "\n").map(String.init)
        let kept = lines.filter { !$0.hasPrefix("<!--") && !$0.hasPrefix("*") }
        #expect(kept.sorted() == (alternatives.flatMap { $0 } + ["other"]).sorted())
    }

    @Test("concurrent-edits: plain text is merged by lines, and lines similar to headings are ordinary lines")
    func plainText() throws {
        let cmake = """
            # ------
            # Project
            # ------
            project(x)
            # ------
            # Options
            # ------
            option(A)
            if(A)
              add_definitions(-DA)
            endif()
            # ------
            # Targets
            # ------
            add_executable(x main.c)

            """
        let one = cmake.replacing("main.c", with: "main.c more.c")
        let other = cmake.replacing("option(A)\n", with: "option(A)\noption(B)\n")
        #expect(
            try file("CMakeLists.txt", cmake, one, other)
                == one.replacing("option(A)\n", with: "option(A)\noption(B)\n"))
        let robots = "# all\nUser-agent: *\nDisallow: /a\n\n# all\nUser-agent: bot\nDisallow: /b\n"
        #expect(
            try file(
                "robots.txt", robots, robots.replacing("/a", with: "/aa"), robots.replacing("/b", with: "/bb"))
                == robots.replacing("/a", with: "/aa").replacing("/b", with: "/bb"))
    }

    @Test("Front matter is merged by key; of two values of one key, one stays, and the other becomes a comment")
    func frontMatter() throws {
        let base = "---\n# the title\ntitle: Tea\ntags:\n  - a\ndate: 1\n---\n\n# Tea\n\nGreen.\n"
        let one = base.replacing("title: Tea", with: "title: Black tea").replacing("Green", with: "Black")
        let other = base.replacing("  - a\n", with: "  - a\n  - b\n").replacing("date: 1", with: "date: 1\nmood: fine")
        #expect(
            try file("a.md", base, one, other)
                == "---\n# the title\ntitle: Black tea\ntags:\n  - a\n  - b\ndate: 1\nmood: fine\n---\n\n# Tea\n\nBlack.\n"
        )
        let coffee = base.replacing("Tea\ntags", with: "Coffee\ntags")
        let both = one.replacing(
            "# the title\ntitle: Black",
            with: "# recollect:or # the title\n# recollect:or title: Black tea\n# the title\ntitle: Coffee"
        ).replacing("Coffee tea", with: "Coffee")
        #expect(try file("a.md", base, coffee, one) == both)
        #expect(try file("a.md", base, both, one) == both)
        // Without the comment, the conflict is settled.
        #expect(
            try file("a.md", both, coffee.replacing("Green", with: "Black"), both)
                == coffee.replacing("Green", with: "Black"))
        #expect(
            try file("a.md", base, base.replacing("date: 1\n", with: ""), one) == one.replacing("date: 1\n", with: ""))
        #expect(
            try file("a.md", nil, base, base.replacing("date: 1", with: "date: 2"))
                == base.replacing("date: 1", with: "# recollect:or date: 1\ndate: 2"))
        let twice = "---\nx: 1\nx: 2\n---\ntext\n"
        #expect(try file("a.md", twice, twice + "more\n", twice) == twice + "more\n")
        #expect(try file("a.md", twice, twice.replacing("2", with: "3"), twice.replacing("1", with: "0")) == nil)
    }

    @Test("concurrent-edits: different choices among alternatives in front matter are kept apart")
    func chosenAlternatives() throws {
        let both = "---\n# recollect:or place: Rome\nplace: Turin\n---\n\ntext\n"
        func one(_ place: String) -> String { "---\nplace: \(place)\n---\n\ntext\n" }
        #expect(try file("a.md", both, one("Rome"), one("Turin")) == nil)
        #expect(try file("a.md", both, one("Rome"), one("Turin, Italy")) == nil)
        #expect(try file("a.md", both, one("Rome"), "text\n") == nil)
        #expect(try file("a.md", both, one("Rome"), one("Rome")) == one("Rome"))
        #expect(try file("a.md", both, one("Rome"), both) == one("Rome"))
        #expect(try file("a.md", one("Rome"), one("Rome") + "more\n", "text\n") == "text\nmore\n")
    }

    @Test("concurrent-edits: a line stays if each device deletes another one of several equal ones")
    func repeatedLine() throws {
        let base = "# A\n\n- buy bread\n- one\n\n# B\n\n- buy bread\n- two\n"
        let one = base.replacing("# A\n\n- buy bread\n", with: "# A\n\n")
        let other = base.replacing("# B\n\n- buy bread\n", with: "# B\n\n")
        for name in ["a.md", "a.txt"] {
            #expect(try file(name, base, one, other) == nil)
            #expect(try file(name, base, one, base) == one)
        }
        let party = "- 🎂\n- one\n- 🎂\n"
        #expect(try file("a.md", party, "- one\n- 🎂\n", "- 🎂\n- one\n") == nil)
        // A line like the beginning of another is no template.
        let calls = "- call Ann\n- call Anna\n- call Ann\n"
        #expect(try file("a.md", calls, "- call Anna\n- call Ann\n", "- call Ann\n- call Anna\n") == nil)
        // Both devices complete a task of one name. Lines of a template may all be filled in, and marks have no words.
        let tasks = "# A\n\n- [ ] run\n\n# B\n\n- [ ] run\n"
        let done = tasks.replacing("# A\n\n- [ ]", with: "# A\n\n- [x]")
        #expect(
            try file("a.md", tasks, done, tasks.replacing("# B\n\n- [ ]", with: "# B\n\n- [x]"))
                == done.replacing("- [ ]", with: "- [x]"))
        let template = "# Mon\n\nMood:\n\n---\n\n# Tue\n\nMood:\n\n---\n"
        let filled = template.replacing("# Mon\n\nMood:", with: "# Mon\n\nMood: fine")
        let filledElsewhere = template.replacing("# Tue\n\nMood:", with: "# Tue\n\nMood: calm")
        #expect(
            try file("a.md", template, filled, filledElsewhere)
                == filled.replacing("# Tue\n\nMood:", with: "# Tue\n\nMood: calm"))
        let marks = "}\na\n}\nb\n"
        #expect(try file("a.txt", marks, "a\n}\nb\n", "}\na\nb\n") == "a\nb\n")
    }

    @Test("concurrent-edits: a conflict block below front matter gets no blank lines in later merges")
    func blockBelowFrontMatter() throws {
        let (one, other) = ("---\nkey: a\n---\nw7\n", "same\n")
        let first = try #require(try file("a.md", nil, one, other))
        #expect(first.contains("w7") && first.contains("same"))
        #expect(try file("a.md", nil, first, other) == first)
        #expect(try file("a.md", nil, first, one) == first)
    }

    @Test(
        "concurrent-edits: merges of front matter with lines without a key repeat no line",
        arguments: [
            ["---\nx\ntitle: a\n---\n", "---\nw\n---\n"], ["---\nx\n---\ntitle: a\n", "---\ntitle: a\n---\n"],
            ["---\n# c\n  - x\n---\n", "---\ntitle: a\n---\n"], ["---\nx: a\n---\n", "---\nmood: b\n---\n"],
            ["---\nx\ntitle: a\n---\n", "---\nw\ntitle: b\n---\n", "---\nv\ntitle: c\n---\n"],
        ])
    func frontMatterWithoutKeys(versions: [String]) throws {
        let one = versions[0]
        #expect(try file("a.md", one, one.replacing("x", with: "y"), one) == one.replacing("x", with: "y"))
        // Different lines without a key are kept apart.
        let all = try versions.dropFirst().reduce(Optional(one)) { merged, other in
            try merged.flatMap { try file("a.md", nil, $0, other) }
        }
        guard let merged = all else { return }
        for version in versions { #expect(try file("a.md", nil, merged, version) == merged) }
    }

    @Test(
        "A letter with thousands of combining marks prevents a merge, in any kind of text",
        arguments: ["a.md", "a.txt", "Journal/user/2026-11-21.md"])
    func endlessLetters(_ name: String) throws {
        let zalgo = "a" + String(repeating: "\u{301}\u{300}", count: 200_000) + "\n"
        #expect(try file(name, nil, zalgo, "b\n") == nil)
        #expect(try file(name, nil, "a\u{301}\u{300}\n", "b\n") != nil)
    }

    @Test(
        "Texts with more lines than the limit are not merged",
        arguments: ["a.md", "a.txt", "Journal/user/2026-11-21.md"])
    func manyLines(_ name: String) throws {
        let versions = ["a\nb\n", "a\nc\n"].map { Array($0.utf8) }
        let path = try WorkspacePath(name)
        #expect(WorkspaceMerge.mergedAndChecked(base: nil, versions: versions, at: path, maxLineCount: 4) != nil)
        #expect(WorkspaceMerge.mergedAndChecked(base: nil, versions: versions, at: path, maxLineCount: 3) == nil)
    }

    @Test("Code blocks keep their format, and comments in them are not headings")
    func code() {
        let base = "# Use\n\n```sh\n# comment\nmake test\n```\n"
        let result = merged(base, base.replacing("make test", with: "make run"), "Intro\n\n" + base)
        #expect(result == "Intro\n\n# Use\n\n```sh\n# comment\nmake run\n```\n")
    }

    @Test("Each line keeps its writer's Unicode normalization")
    func spelling() throws {
        // U+FA19, a character of names, has no other spelling from which it could be restored.
        let base = "# Cafe\u{301}\n\n\u{FA19}\u{8C37}\n\nend\n"
        let result = merged(base, base.replacing("end", with: "u\u{308}ber"), "- \u{E9}t\u{E9}\n" + base)
        #expect(Array(result.utf8) == Array(("- \u{E9}t\u{E9}\n" + base.replacing("end", with: "u\u{308}ber")).utf8))
        let one = "caf\u{E9}\na\nb\n"
        let other = "cafe\u{301}\nb\nc\n"
        let both = merged("caf\u{E9}\nb\n", one, other)
        #expect(Array(both.utf8) == Array("cafe\u{301}\na\nb\nc\n".utf8))
        #expect(Array(merged("caf\u{E9}\nb\n", both, one).utf8) == Array(both.utf8))
        let twice = "caf\u{E9}\nx\ncafe\u{301}\n"
        #expect(Array(merged(twice, twice + "a\n", "b\n" + twice).utf8) == Array("b\n\(twice)a\n".utf8))
        let kept = "u\u{308}\nend\n"
        #expect(Array(merged(twice + kept, kept + "a\n", "b\n" + kept).utf8) == Array("b\n\(kept)a\n".utf8))
        let front = "---\nname: \u{FA19}\n---\n\u{FA19}\n"
        let changed = try #require(
            try file("a.md", front, front + "x\n", front.replacing("---\n\u{FA19}", with: "a: b\n---\n\u{FA19}")))
        #expect(Array(changed.utf8) == Array("---\nname: \u{FA19}\na: b\n---\n\u{FA19}\nx\n".utf8))
    }

    @Test("Windows line endings stay if no version has other line endings", arguments: ["a.md", "a.txt"])
    func lineEnds(_ name: String) throws {
        func windows(_ text: String) -> String { text.replacing("\n", with: "\r\n") }
        let base = "---\ntitle: a\n---\n\none\n\nlast\n"
        let (one, other) = (base.replacing("one", with: "two"), base + "more\n")
        let both = "---\ntitle: a\n---\n\ntwo\n\nlast\nmore\n"
        #expect(try file(name, windows(base), windows(one), windows(other)) == windows(both))
        #expect(try file(name, windows(base), windows(one), other) == both)
        #expect(try file(name, base, one, windows(other)) == both)
        let odd = "one\r\r\nlast\n"
        let result = try #require(try file(name, odd, odd + "x\n", "y\n" + odd))
        #expect(try file(name, odd, result, odd + "x\n") == result)
    }

    @Test("Long texts are merged in reasonable time")
    func long() {
        let base = (0..<20_000).map { "line \($0)\n" }.joined()
        let result = merged(base, base + "one\n", "other\n" + base)
        #expect(result == "other\n" + base + "one\n")
    }

    @Test("Texts with many headings, and long texts without a merge base, are merged in reasonable time", .needs(.time))
    func large() {
        let headings = (0..<50_000).map { "## h\($0)\n" }.joined()
        let result = merged(headings, headings + "one\n", "other\n" + headings)
        #expect(result == "other\n" + headings + "one\n")
        let lines = (0..<100_000).map { "line \($0)\n" }.joined()
        let both = merged(nil, lines + "one\n", lines + "other\n")
        #expect(both.contains("one\n") && both.contains("other\n"))
    }
}
