import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("File name encoding")
struct FileNameEncodingTests {
    @Test(
        "Readable ids stay unchanged",
        arguments: [
            "moby-dick", "Moby Dick", "user_1", "a.b", "日本語の本", "Война и мир", "كتاب", "Zoë", "978-0-14-243724-X",
            "isbn (old)", "Ann's",
            "E621E1F8-C36C-495A-93FC-0C247A3E6E6F", "E621E1F8-C36C-495A-93FC-AC247A3E6E6F", "1984", "Fahrenheit 451",
            "😀", "👨\u{200D}👩\u{200D}👧", "می\u{200C}خواهم",
        ])
    func readable(_ id: String) {
        #expect(FileNameEncoding.name(for: id) == id)
    }

    @Test(
        "unsafe-names: ids that are invalid or ambiguous as names are escaped",
        arguments: [
            ("", "%"), ("%", "%25"), (".", "%2E"), ("..", "%2E%2E"), ("a/b", "a%2Fb"), ("../../etc", "%2E.%2F..%2Fetc"),
            ("\0", "%00"),
            (".hidden", "%2Ehidden"), ("a.", "a%2E"), (" a", "%20a"), ("a ", "a%20"), ("CON", "%43ON"),
            ("nul.txt", "nul%2Etxt"),
            ("x.tmp", "x%2Etmp"), ("tmp", "%74mp"), ("x~", "x%7E"), ("~$x", "~%24x"), ("moby 2", "moby%202"),
            ("a (1)", "a (1%29"), ("a (kept 1a2b3c4d)", "a (kept 1a2b3c4d%29"), ("a (kept 1a2b)", "a (kept 1a2b)"),
            ("x-DESKTOP", "x%2DDESKTOP"),
            ("x.sync-conflict-20250115-123456-ABCDEFG", "x.sync-conflict-20250115-123456%2DABCDEFG"),
            ("x (Ann's conflicted copy 2025-01-15)", "x (Ann's conflicted copy 2025-01-15%29"), ("e\u{301}", "e%CC%81"),
            ("\u{212B}", "%E2%84%AB"), ("a\u{202E}b", "a%E2%80%AEb"), (".\u{301}x", "%2E%CC%81x"),
            ("%\u{301}", "%25%CC%81"), ("100%", "100%25"), ("%41", "%2541"),
            ("A\n", "A%0A"), ("a\u{200D}b", "%61%E2%80%8Db"), ("é\u{200C}", "%C3%A9%E2%80%8C"),
        ])
    func escaped(_ id: String, _ name: String) {
        #expect(FileNameEncoding.name(for: id) == name)
        #expect(FileNameEncoding.id(of: name)?.utf8.elementsEqual(id.utf8) == true)
    }

    @Test("A long id becomes a truncated name with a hash, which cannot be decoded")
    func long() throws {
        let exact = String(repeating: "x", count: 120)
        #expect(FileNameEncoding.name(for: exact) == exact && FileNameEncoding.id(of: exact) == exact)
        for id in [
            exact + "x", String(repeating: "é", count: 5_000), String(repeating: "/", count: 10_000),
            String(repeating: "\0", count: 50),
        ] {
            let name = FileNameEncoding.name(for: id)
            #expect(name.utf8.count <= 120 && FileNameEncoding.id(of: name) == nil)
            #expect(name.utf8.suffix(26).starts(with: "%-".utf8))
            #expect(try WorkspacePath(name).name == name)
        }
        #expect(FileNameEncoding.name(for: exact + "x").hasPrefix("xxxxxxxx"))
        #expect(FileNameEncoding.name(for: exact + "x") != FileNameEncoding.name(for: exact + "y"))
    }

    @Test(
        "A name that is not the encoding of an id cannot be decoded",
        arguments: [
            "moby 2", "a (1)", "%4", "%zz", "%41", "moby%2ddick", "%2D", "x-DESKTOP", "%ff", "%FF", "a/b", "e\u{301}",
            ".x", "%-0123", "moby (kept 1a2b3c4d)",
        ])
    func foreign(_ name: String) {
        #expect(FileNameEncoding.id(of: name) == nil)
    }

    @Test("name-collisions: ids that differ only in case have names that differ only in case, and the same key")
    func cases() throws {
        let (lower, upper) = (FileNameEncoding.name(for: "moby"), FileNameEncoding.name(for: "MOBY"))
        #expect(lower != upper)
        #expect(try WorkspacePath(lower).key == WorkspacePath(upper).key)
    }

    @Test("unsafe-names: any id has a valid, unique name, decodable unless hashed, and never a conflict copy name")
    func random() async {
        var seen: [String: [UInt8]] = [:]
        await Seeds.run(3_000) { seed in
            var random = SeededGenerator(seed: seed)
            let id = random.uglyText(upTo: Int.random(in: 0..<50, using: &random) == 0 ? 200 : 8)
            let name = FileNameEncoding.name(for: id)
            let shown = "\(id.debugDescription) \(name.debugDescription)"
            try must(try WorkspacePath(name).names.map { Array($0.utf8) } == [Array(name.utf8)], shown)
            try must(try WorkspacePath(name + ".json").name.hasSameBytes(as: name + ".json"), shown)
            try must(ConflictCopyName(name) == nil && ConflictCopyName(name + ".json") == nil, shown)
            try must(name.utf8.count <= 120, shown)
            let isHashed = name.utf8.count >= 26 && name.utf8.suffix(26).starts(with: "%-".utf8)
            if let back = FileNameEncoding.id(of: name) {
                try must(back.hasSameBytes(as: id) && !isHashed, shown)
            } else {
                try must(isHashed, shown)
            }
            if let other = seen.updateValue(Array(id.utf8), forKey: name) { try must(other == Array(id.utf8), shown) }
            // Ids with the same key differ only in case or in joiners.
            let variant = random.uglyText(upTo: 3)
            if !variant.hasSameBytes(as: id),
                try WorkspacePath(FileNameEncoding.name(for: variant)).key == WorkspacePath(name).key
            {
                try must(WorkspacePath.caseFolded(variant) == WorkspacePath.caseFolded(id), "\(shown) \(variant)")
            }
        }
    }
}
