import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Conflict copy names")
struct ConflictCopyNameTests {
    @Test(
        "Names used only by sync services are certain conflict copies",
        arguments: [
            ("context.sync-conflict-20250115-123456-ABCDEFG.md", "context.md", "syncthing"),
            ("2025-01-15.sync-conflict-20250116-003011-O4SHF2J.md", "2025-01-15.md", "syncthing"),
            ("README.sync-conflict-20250115-123456-ABCDEFG", "README", "syncthing"),
            ("archive.tar.sync-conflict-20250115-123456-ABCDEFG.gz", "archive.tar.gz", "syncthing"),
            ("v1.sync-conflict-20250115-123456-ABCDEFG.2 notes", "v1.2 notes", "syncthing"),
            ("old.sync-conflict-20140302-101112.txt", "old.txt", "syncthing"),
            ("x.sync-conflict-20250115-123456-.md", "x.md", "syncthing"),
            ("a.sync-conflict-20250115-123456-ABCDEFG.sync-conflict-20250116-123456-HIJKLM2.md", "a.md", "syncthing"),
            ("a.sync-conflict-20250116-123456-ABCDEFG.sync-conflict-20250115-123456-HIJKLM2", "a", "syncthing"),
            ("context 2.sync-conflict-20250115-123456-ABCDEFG.md", "context 2.md", "syncthing"),
            ("notes (Ann's conflicted copy 2025-01-15).md", "notes.md", "dropbox"),
            ("notes (Ann's conflicted copy 2025-01-15 (1)).md", "notes.md", "dropbox"),
            ("notes (MacBook (2)'s conflicted copy 2025-01-15).md", "notes.md", "dropbox"),
            ("notes (Bob Jr.'s conflicted copy 2025-01-15)", "notes", "dropbox"),
            ("notes (conflicted copy 2025-01-15 123456).md", "notes.md", "dropbox"),
            ("index (Copie en conflit de Adrien Cloutier 2025-10-19).pdf", "index.pdf", "dropbox"),
            ("index (Copia in conflitto di MBP-di-Marco.fritz.box 2026-10-08).html", "index.html", "dropbox"),
            ("x (Copia en conflicto de Eduardo Zago 2026-05-04).R", "x.R", "dropbox"),
            ("brief (Anns in Konflikt stehende Kopie 2025-01-15).txt", "brief.txt", "dropbox"),
            ("日記 (KのMac mini の競合コピー 2026-03-07).md", "日記.md", "dropbox"),
            ("a (Ann's conflicted copy 2025-01-15) (Bob's conflicted copy 2025-01-16).md", "a.md", "dropbox"),
            ("records (Case Conflict).md", "records.md", "dropbox"),
            ("records (Case Conflict 1)", "records", "dropbox"),
            ("AWS (Selective Sync Conflict)", "AWS", "dropbox"),
            ("café (Unicode Encoding Conflict).md", "café.md", "dropbox"),
            ("whatever (case conflict 12).md", "whatever.md", "dropbox"),
            ("x (White Space Conflict).md", "x.md", "dropbox"),
            ("a.sync-conflict-20250115-123456-ABCDEFG (Ann's conflicted copy 2025-01-16).md", "a.md", "dropbox"),
        ])
    func certain(_ name: String, _ original: String, _ dialect: String) throws {
        let copy = try #require(ConflictCopyName(name))
        #expect(copy.original == original && copy.dialect.rawValue == dialect && copy.isCertain)
    }

    @Test(
        "Names also given by people are candidates for conflict copies",
        arguments: [
            ("context 2.md", "context.md", "iCloud"), ("Journal 2", "Journal", "iCloud"), ("moby 13", "moby", "iCloud"),
            ("2025-01-15 2.md", "2025-01-15.md", "iCloud"), ("a 2 3.md", "a 2.md", "iCloud"),
            ("v1.2 2", "v1.2", "iCloud"),
            ("context (1).md", "context.md", "iCloudForWindows"), ("context(1).md", "context.md", "iCloudForWindows"),
            ("Journal (1)", "Journal", "iCloudForWindows"), ("a (1) (2).md", "a (1).md", "iCloudForWindows"),
            ("archive (1).tar.gz", "archive.tar.gz", "iCloudForWindows"),
            ("context-DESKTOP-AB12CD3.md", "context.md", "oneDrive"), ("context-COMPUTER.md", "context.md", "oneDrive"),
            ("context-COMPUTER-2.md", "context.md", "oneDrive"), ("2025-01-15-PC.md", "2025-01-15.md", "oneDrive"),
            ("2025-01-15-DESKTOP-AB12CD3-2.md", "2025-01-15.md", "oneDrive"), ("full_text-PC", "full_text", "oneDrive"),
            ("E621E1F8-C36C-495A-93FC-AC247A3E6E6F-PC.json", "E621E1F8-C36C-495A-93FC-AC247A3E6E6F.json", "oneDrive"),
            ("notes (conflicted copy).md", "notes.md", "dropbox"),
            ("notes (Ann's conflicted copy).md", "notes.md", "dropbox"),
        ])
    func candidates(_ name: String, _ original: String, _ dialect: String) throws {
        let copy = try #require(ConflictCopyName(name))
        #expect(copy.original == original && copy.dialect.rawValue == dialect && !copy.isCertain)
    }

    @Test(
        "Other names are not conflict copies",
        arguments: [
            "", "context.md", "2025-01-15.md", "full_text.txt", "a 1.md", "a 02.md", "1984", "Fahrenheit 451.md",
            "a (0).md", "(1)", "(1).md",
            " 2", "2.md", "a(b).md", "a (draft).md", "moby-dick.md", "-DESKTOP", "x-laptop.md", "978-0-14-243724-X",
            "x-1.md",
            "E621E1F8-C36C-495A-93FC-AC247A3E6E6F", "name (kept 1a2b3c4d).md", "name (kept 12345678).md",
            "x.sync-conflict-2025.md",
            "x.sync-conflict-20250115-123456-abcdefg.md", "sync-conflict-20250115-123456.md",
            ".sync-conflict-20250115-123456", "(Case Conflict).md",
            "meeting (2025-01-15).md", "on conflicted copy 2025-01-15.md", "x-ABCDEFGHIJKLMNOP.md", "x- PC",
            "slug-1a2b3c4d.md",
        ])
    func others(_ name: String) {
        #expect(ConflictCopyName(name) == nil)
    }

    @Test(
        "Names that only resemble a service's format are at most candidates",
        arguments: [
            "x.sync-conflict-20250115-123456-ABCDEFGH.md", "sync-conflict-20250115-123456-ABCDEFG.md",
            ".sync-conflict-20250115-123456-ABCDEFG", "notes (my conflicted copy).md",
        ])
    func uncertain(_ name: String) {
        #expect(ConflictCopyName(name)?.isCertain == false)
    }

    @Test("A conflict copy name in each service's format is parsed to the original name")
    func roundTrip() throws {
        let stems = [
            "context", "2025-01-15", "full_text", "moby dick", "é", "E621E1F8-C36C-495A-93FC-AC247A3E6E6F", "a.b",
            "日本語", "x_1",
        ]
        for stem in stems {
            for suffix in ["", ".md", ".json", ".tar.gz"] where suffix != ".tar.gz" || stem != "a.b" {
                let dot = suffix.lastIndex(of: ".") ?? suffix.endIndex
                let (start, end) = (stem + suffix[..<dot], suffix[dot...])
                let copies = [
                    "\(start).sync-conflict-20250115-123456-ABCDEFG\(end)",
                    "\(start) (Ann's conflicted copy 2025-01-15)\(end)",
                    "\(start) 2\(end)", "\(start) (1)\(end)", "\(start)(3)\(end)", "\(start)-DESKTOP-AB12CD3\(end)",
                    "\(start)-PC-2\(end)",
                ]
                for copy in copies where stem != "a.b" || !suffix.isEmpty || !copy.hasPrefix("a.b.sync") {
                    #expect(ConflictCopyName(copy)?.original == stem + suffix, "\(copy)")
                }
            }
        }
    }

    @Test("For any name, the parsed original is shorter, not empty, and not a certain conflict copy itself")
    func random() async {
        await Seeds.run(10_000) { seed in
            var random = SeededGenerator(seed: seed)
            let name = random.uglyText()
            guard let copy = ConflictCopyName(name) else { return }
            let shown = name.debugDescription
            try must(!copy.original.isEmpty && copy.original.utf8.count < name.utf8.count, shown)
            if copy.isCertain { try must(ConflictCopyName(copy.original)?.isCertain != true, shown) }
        }
    }

    @Test("unsafe-names: a very long name is parsed quickly")
    func long() {
        for piece in ["(", ")", "-A", " 2", ".sync-conflict-", " (Ann's conflicted copy 2025-01-15)"] {
            _ = ConflictCopyName(String(repeating: piece, count: 5_000 / piece.utf8.count))
        }
    }

    @Test("A kept copy's name is not a conflict copy name, even with 255 bytes")
    func kept() throws {
        let hash = ContentHash(of: "text".utf8)
        for name in [
            "context.md", "README", "日本語.md", String(repeating: "é", count: 126) + ".md",
            String(repeating: "x", count: 255),
            // One character.
            "a" + String(repeating: "\u{316}", count: 123) + ".bin",
        ] {
            let kept = KeptCopyName.name(for: name, holding: hash)
            #expect(KeptCopyName.paths(for: hash, beside: try WorkspacePath(name)).map(\.name).first == kept)
            #expect(ConflictCopyName(kept) == nil && kept.contains(" (kept \(hash.rawValue.prefix(8)))"))
            #expect(try WorkspacePath(kept).name == kept)
        }
        #expect(KeptCopyName.name(for: "context.md", holding: hash) == "context (kept \(hash.rawValue.prefix(8))).md")
    }

    @Test("A kept copy's path is valid, even beside a file with a very long path")
    func keptPaths() throws {
        let hash = ContentHash(of: [1])
        let folders = Array(repeating: String(repeating: "d", count: 198), count: 6).joined(separator: "/")
        for (folder, name) in [(998, 1), (990, 1), (990, 9), (970, 20), (900, 90), (744, 255)] {
            let path = try WorkspacePath("\(folders.prefix(folder))/" + String(repeating: "n", count: name))
            let paths = KeptCopyName.paths(for: hash, beside: path)
            #expect(Set(paths).count == 3 && !paths.contains(path))
            for keptPath in paths { #expect(try WorkspacePath(keptPath.description) == keptPath) }
        }
        let long = try WorkspacePath(String(repeating: "n", count: 200) + ".md")
        #expect(
            KeptCopyName.paths(for: hash, beside: long).allSatisfy { $0.parent == .root && $0.name.hasSuffix(").md") })
    }
}
