import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Workspace paths")
struct WorkspacePathTests {
    @Test(
        "unsafe-names: traversal, absolute paths and empty names are refused",
        arguments: [
            "", "/", "//", "/etc/passwd", "..", ".", "../x", "a/..", "a/../b", "a/./b", "a//b", "a/", "/a", "a\\..\\b",
            "..\\x",
            "\\\\server\\share", "C:", "C:\\x", "c:/x", "a/b/../../..", "\0", "a\0b", "a/\0", "...", "a/...",
        ])
    func traversal(_ text: String) {
        #expect(throws: RecollectError.self) { try WorkspacePath(text) }
    }

    @Test(
        "unsafe-names: names refused, skipped or changed by a system or sync service are refused",
        arguments: [
            "a:b", "a*", "a?", "\"a\"", "<a>", "a|b", "a\n", "\u{7F}", "a\u{85}b", ".hidden", "a.", "a ", " a",
            "\u{A0}a", "a\u{3000}",
            "CON", "con", "Con.txt", "con.tar.gz", "PRN", "aux.md", "NUL", "nul .txt", "COM1", "com9.log", "LPT1",
            "lpt5.x", "COM¹",
            "x.tmp", "X.TMP", "tmp", "Tmp", "~$letter.docx", "backup~", "x.nosync", "x.nosync.md", ".x.md.icloud",
            "x.icloud",
            ".DS_Store", "desktop.ini", "Desktop.INI", ".stfolder", ".stversions", ".stignore", ".syncthing.x.tmp",
            "~syncthing~x.tmp", ".recollect-1234", "a\u{200B}b", "a\u{200F}", "a\u{202E}gpj.exe", "\u{2066}a",
            "a\u{2060}", "\u{FEFF}a",
            "a\u{AD}b", "a\u{2028}b", "a\u{FFFF}", "a\u{E0041}", "context\u{200D}.md", "a\u{200C}b", "\u{200D}é",
            "é\u{200D}", "é\u{200C}\u{200D}é", "é\u{200D}a",
        ])
    func refused(_ name: String) {
        for text in [name, "Journal/\(name)", "\(name)/x.md"] {
            let error = #expect(throws: RecollectError.self) { try WorkspacePath(text) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("not a valid workspace path: ") == true)
        }
    }

    @Test(
        "Names valid on every system are accepted unchanged",
        arguments: [
            "context.md", "Journal/user/2026-11-21.md", "Research/moby-dick/full_text.txt", "context 2.md",
            "name (1).md",
            "name-DESKTOP.md", "x.sync-conflict-20250115-123456-ABCDEFG.md", "Ann's notes, 50% & more #1 (final)!.md",
            "日本語/メモ.md",
            "نص.md", "console.md", "com.md", "COM10", "LPT", "auxiliary", "a.b.c", "a..b", "tmpfile", "x.tmp.md",
            "_sync/v1", "😀.md", "👨\u{200D}👩\u{200D}👧.md", "❤\u{FE0F}\u{200D}🔥", "می\u{200C}خواهم.md", "क्\u{200D}ष",
            "ﬁ.md", "-rf", "--", "%41", "{}", "[a]", "a b", "a~b", "~a",
        ])
    func taken(_ text: String) throws {
        #expect(try WorkspacePath(text).description == text)
    }

    @Test("unsafe-names: the shortcut for plain names accepts no name that the rules refuse")
    func plain() {
        var generator = SeededGenerator(seed: 12)
        let pieces = [
            "con", "nul", "com1", "lpt9", "tmp", "icloud", "ini", "desktop", "nosync", "sync", "md", "t", "x", "N", "I",
            "T", "M", ".", ".",
            "-", "_", "9", " ", "~", "é", "a",
        ]
        var plainCount = 0
        for _ in 0..<200_000 {
            let name = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                let piece = pieces.randomElement(using: &generator)!
                return Bool.random(using: &generator) ? piece : piece.uppercased()
            }.joined()
            guard WorkspaceName.isPlain(name) else { continue }
            plainCount += 1
            #expect(WorkspaceName.refusalOfUnusual(name) == nil, "\(name)")
        }
        #expect(plainCount > 20_000)
        let long = String(repeating: "a", count: 255)
        #expect(WorkspaceName.isPlain(long) && !WorkspaceName.isPlain(long + "a"))
    }

    @Test(
        "unsafe-names: characters similar to slashes and dots do not separate names",
        arguments: ["／", "∕", "⁄", "⧸", "．．", "‥", "․․", "a／..／b", "．．／．．／etc", "＼", "%2e%2e%2f", "..%2f", "%2F"])
    func lookalikes(_ name: String) throws {
        guard !name.hasPrefix(".") else {
            #expect(throws: RecollectError.self) { try WorkspacePath(name) }
            return
        }
        #expect(try WorkspacePath(name).names.count == 1)
    }

    @Test("The limits are 255 bytes for a name, and 1,000 bytes and 64 names for a path")
    func lengths() throws {
        _ = try WorkspacePath(String(repeating: "x", count: 255))
        #expect(throws: RecollectError.self) { try WorkspacePath(String(repeating: "x", count: 256)) }
        _ = try WorkspacePath(String(repeating: "é", count: 127))
        #expect(throws: RecollectError.self) { try WorkspacePath(String(repeating: "é", count: 128)) }
        let folder = String(repeating: "y", count: 99) + "/"
        _ = try WorkspacePath(String(repeating: folder, count: 9) + String(repeating: "z", count: 100))
        #expect(throws: RecollectError.self) {
            try WorkspacePath(String(repeating: folder, count: 9) + String(repeating: "z", count: 101))
        }
        _ = try WorkspacePath(Array(repeating: "x", count: 64).joined(separator: "/"))
        #expect(throws: RecollectError.self) {
            try WorkspacePath(Array(repeating: "x", count: 65).joined(separator: "/"))
        }
        // The limit applies to the composed form of a name, as on the disk.
        _ = try WorkspacePath(String(repeating: "e\u{301}", count: 127))
    }

    @Test("name-collisions: paths ignore normalization, and keys also ignore case")
    func nameCollisions() throws {
        let composed = try WorkspacePath("Caf\u{E9}/x.md")
        let decomposed = try WorkspacePath("Cafe\u{301}/x.md")
        #expect(composed == decomposed && composed.hashValue == decomposed.hashValue)
        #expect(decomposed.description.utf8.elementsEqual("Caf\u{E9}/x.md".utf8))
        let other = try WorkspacePath("CAFÉ/X.md")
        #expect(composed != other && composed.key == other.key)
        for (left, right) in [("ß", "SS"), ("ſ", "s"), ("σ", "ς"), ("K", "k"), ("Å", "å"), ("ǆ", "Ǆ")] {
            #expect(try WorkspacePath(left).key == WorkspacePath(right).key)
        }
        #expect(try WorkspacePath("a").key != WorkspacePath("b").key)
        let (joined, apart) = (try WorkspacePath("می\u{200C}خواهم"), try WorkspacePath("میخواهم"))
        #expect(joined != apart && joined.key == apart.key)
    }

    @Test("Parent, appended names, order and encoded form of a path are correct")
    func shape() throws {
        let path = try WorkspacePath("Research/moby/full_text.txt")
        #expect(path.parent?.description == "Research/moby")
        #expect(path.parent?.parent?.parent == .root)
        #expect(
            WorkspacePath.root.parent == nil && WorkspacePath.root.name.isEmpty
                && WorkspacePath.root.description.isEmpty)
        #expect(try WorkspacePath.root.appending("a").appending("b").description == "a/b")
        for name in ["a/b", "..", "", "/"] {
            #expect(throws: RecollectError.self) { try path.appending(name) }
        }
        let sorted = try ["b", "a/c", "a", "a b", "é", "z", "Z"].map(WorkspacePath.init).sorted().map(\.description)
        #expect(sorted == ["Z", "a", "a b", "a/c", "b", "z", "é"])
        let coded = try JSONEncoder().encode([path, .root])
        #expect(try JSONDecoder().decode([WorkspacePath].self, from: coded) == [path, .root])
        #expect(throws: RecollectError.self) {
            try JSONDecoder().decode([WorkspacePath].self, from: Data(#"["../x"]"#.utf8))
        }
    }

    @Test("unsafe-names: the error for a refused path is short and without control characters")
    func message() {
        let error = #expect(throws: RecollectError.self) {
            try WorkspacePath("a\n\u{1B}[31m" + String(repeating: "x", count: 5_000))
        }
        #expect(error?.message.contains("\u{1B}") == false && error.map { $0.message.count < 300 } == true)
    }

    @Test("unsafe-names: any text is refused or becomes a path inside the root")
    func random() async {
        await Seeds.run(10_000) { seed in
            var random = SeededGenerator(seed: seed)
            let text = random.uglyText()
            guard let path = try? WorkspacePath(text) else { return }
            let shown = text.debugDescription
            try must(!path.names.isEmpty, shown)
            for name in path.names {
                try must(!name.utf8.contains(UInt8(ascii: "/")) && !name.hasPrefix(".") && !name.isEmpty, shown)
                try must(!name.utf8.contains(0) && name.utf8.count <= 255, shown)
                try must(name.precomposedStringWithCanonicalMapping.hasSameBytes(as: name), shown)
            }
            let again = try WorkspacePath(path.description)
            try must(again == path && again.key == path.key, shown)
            try must(try WorkspacePath(text.decomposedStringWithCanonicalMapping) == path, shown)
        }
    }

    @Test("A long text is composed in pieces like a whole")
    func composedInPieces() {
        // Letters, marks, jamo, vowel signs that are letters or marks, and characters without a composition.
        let scalars = Array(
            "ae\u{301}\u{323}\u{1100}\u{1161}\u{11A8}\u{AC00}\u{9C7}\u{9BE}\u{3099}\u{304B}\u{6F22}\u{16D67}\u{E9}\n"
                .unicodeScalars)
        var random = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            var text = String.UnicodeScalarView()
            for _ in 0..<600 { text.append(scalars[Int.random(in: scalars.indices, using: &random)]) }
            let whole = String(text).precomposedStringWithCanonicalMapping
            #expect(String(text).composed.hasSameBytes(as: whole))
        }
    }

    @Test("Text of composed blocks is unchanged by Unicode composition")
    func composed() {
        let plain = (0..<0x20000).compactMap(Unicode.Scalar.init).map { String($0) }.filter(\.isOfComposedBlocks)
        #expect(plain.count > 30_000)
        for before in ["", "e", "\u{1100}", "\u{AC00}", "\u{3046}"] {
            let text = plain.map { before + $0 }.joined()
            #expect(text.precomposedStringWithCanonicalMapping.hasSameBytes(as: text))
        }
        #expect("cafe\u{301} \u{FA19}".composed.hasSameBytes(as: "caf\u{E9} \u{795E}"))
    }
}
