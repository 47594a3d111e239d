import Testing

@testable import RecollectWorkspace

/// What people would expect of a merge, case by case.
@Suite("Merged Markdown")
struct MarkdownExamplesTests {
    private func merged(_ base: String?, _ one: String, _ other: String) -> String {
        MarkdownMerge.merged(base: base, versions: [one, other])
    }

    private let notes = "# Ada\n\nLikes tea.\n\n- lives in Bergen\n- has a cat\n\n## Work\n\nEngineer.\n"

    @Test("edits at different places are both there, and nothing else changed")
    func apart() {
        let one = notes.replacing("Likes tea.", with: "Likes green tea.")
        let other = notes.replacing("Engineer.", with: "Chief engineer.")
        #expect(
            merged(notes, one, other)
                == "# Ada\n\nLikes green tea.\n\n- lives in Bergen\n- has a cat\n\n## Work\n\nChief engineer.\n")
    }

    @Test("row 18: edits of one line are both kept, labelled")
    func sameLine() {
        let one = notes.replacing("Likes tea.", with: "Likes green tea.")
        let other = notes.replacing("Likes tea.", with: "Likes coffee.")
        let result = merged(notes, one, other)
        #expect(
            result == """
                # Ada

                <!-- recollect:both -->
                *Changed in two places at once; both are kept. Keep what is right and delete the rest.*

                Likes coffee.

                <!-- recollect:or -->

                Likes green tea.

                <!-- recollect:end -->

                - lives in Bergen
                - has a cat

                ## Work

                Engineer.

                """)
        // Who keeps one of them and deletes the rest is understood, whatever else was edited meanwhile.
        let solved = one
        let later = result.replacing("Engineer.", with: "Chief engineer.")
        #expect(merged(result, solved, later) == one.replacing("Engineer.", with: "Chief engineer."))
    }

    @Test("facts that both added to a list become one list")
    func lists() {
        let one = notes.replacing("- has a cat\n", with: "- has a cat\n- sails\n")
        let other = notes.replacing("- has a cat\n", with: "- has a cat\n- plays chess\n- sails\n")
        #expect(
            merged(notes, one, other) == notes.replacing("- has a cat\n", with: "- has a cat\n- plays chess\n- sails\n")
        )
    }

    @Test("sections that both added are both there, those of one heading once")
    func sections() {
        #expect(
            merged(notes, notes + "\n# Plans\n\n- Rome\n", notes + "\n# Plans\n\n- Oslo\n\n# Health\n\nWell.\n")
                == notes + "\n# Health\n\nWell.\n\n# Plans\n\n- Oslo\n- Rome\n")
    }

    @Test("what one deleted is gone, and what the other one changed meanwhile stays")
    func deletions() {
        let without = "# Ada\n\nLikes tea.\n\n- has a cat\n"
        #expect(merged(notes, without, notes + "\nMore.\n") == without + "\n## Work\n\nEngineer.\n\nMore.\n")
        #expect(
            merged(notes, without, notes.replacing("tea", with: "coffee")) == without.replacing("tea", with: "coffee"))
    }

    @Test("without a base nothing is taken for deleted")
    func withoutBase() {
        let result = merged(nil, "# A\n\none\n\n- x\n", "# A\n\none\n\n- y\n\n# B\n")
        #expect(result == "# A\n\none\n\n- x\n- y\n\n# B\n")
    }

    @Test("code is kept as it is, and headings in it are none")
    func code() {
        let base = "# Use\n\n```sh\n# comment\nmake test\n```\n"
        let result = merged(base, base.replacing("make test", with: "make run"), "Intro\n\n" + base)
        #expect(result == "Intro\n\n# Use\n\n```sh\n# comment\nmake run\n```\n")
    }

    @Test("long texts are merged in reasonable time")
    func long() {
        let base = (0..<20_000).map { "line \($0)\n" }.joined()
        let result = merged(base, base + "one\n", "other\n" + base)
        #expect(result == "other\n" + base + "one\n")
    }

    @Test("texts of many headings, and long ones without a base, are merged in reasonable time")
    func large() {
        let headings = (0..<50_000).map { "## h\($0)\n" }.joined()
        let result = merged(headings, headings + "one\n", "other\n" + headings)
        #expect(result == "other\n" + headings + "one\n")
        let lines = (0..<100_000).map { "line \($0)\n" }.joined()
        let both = merged(nil, lines + "one\n", lines + "other\n")
        #expect(both.contains("one\n") && both.contains("other\n"))
    }
}
