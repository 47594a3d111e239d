import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Front matter")
struct FrontMatterTests {
    private func merged(_ base: String?, _ one: String, _ other: String) throws -> String? {
        let results = try [[one, other], [other, one]].map { versions in
            try WorkspaceMerge.merged(
                base: base.map { Array($0.utf8) }, versions: versions.map { Array($0.utf8) }, at: path("a.md")
            ).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(results[0].map { Array($0.utf8) } == results[1].map { Array($0.utf8) })
        return results[0]
    }

    @Test(
        "concurrent-edits: front matter is merged by key also after a byte order mark, before blanks, and with `...` at its end",
        arguments: ["---", "\u{FEFF}---", "--- ", "---\t", "\u{FEFF}--- "], ["---", "...", "--- ", "... "])
    func fences(first: String, last: String) throws {
        for lineEnd in ["\n", "\r\n"] {
            let base = "\(first)\ntitle: one\nplace: Rome\n\(last)\n\ntext\n".replacing("\n", with: lineEnd)
            let (one, other) = (base.replacing("one", with: "two"), base.replacing("Rome", with: "Turin"))
            let both = try merged(base, one, other)
            #expect(both.map { Array($0.utf8) } == Array(one.replacing("Rome", with: "Turin").utf8))
        }
    }

    @Test("concurrent-edits: a changed fence is merged like a key")
    func changedFence() throws {
        let base = "---\ntitle: one\n---\n\ntext\n"
        let marked = "\u{FEFF}" + base
        let both = try #require(try merged(base, marked, base.replacing("one", with: "two")))
        #expect(both.utf8.elementsEqual(marked.replacing("one", with: "two").utf8))
        let unmarked = try #require(try merged(marked, base, marked.replacing("one", with: "two")))
        #expect(unmarked.utf8.elementsEqual(base.replacing("one", with: "two").utf8))
    }

    @Test("concurrent-edits: a text between two lines, of which the last one is `...`, is no front matter")
    func ellipsis() throws {
        // Front matter without keys is merged as a whole.
        let base = "---\nOnce upon a time\nin a far land\nthere was a fox\n...\n\nthe end\n"
        let (one, other) = (base.replacing("Once", with: "Twice"), base.replacing("fox", with: "hen"))
        #expect(try merged(base, one, other) == one.replacing("fox", with: "hen"))
    }
}
