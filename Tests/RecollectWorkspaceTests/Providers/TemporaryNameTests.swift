import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Temporary file names") struct TemporaryNameTests {
    @Test("A temporary name contains the file's name or its beginning, and fits in 255 bytes")
    func names() throws {
        let (old, new) = (ContentHash(of: "old".utf8), ContentHash(of: "new".utf8))
        for count in [1, 5, 200, 205, 206, 255] {
            let name = String(repeating: "n", count: count)
            let aside = TemporaryName.aside(for: name, from: old, to: new)
            let original = try #require(TemporaryName.original(of: aside))
            #expect(aside.utf8.count <= 255 && TemporaryName.isOne(aside) && !TemporaryName.isDraft(aside))
            #expect(TemporaryName.isWriters(old, in: aside) && TemporaryName.isWriters(new, in: aside))
            #expect(!TemporaryName.isWriters(ContentHash(of: "other".utf8), in: aside))
            #expect(original.isWhole == (count <= 205) && name.hasPrefix(original.name))
            #expect(
                original.isWhole == (original.name == name)
                    && TemporaryName.aside(for: name, from: old, to: new) != aside)
        }
        for name in ["a.md", "e\u{301} – x.md", "=-", ".tmp", String(repeating: "é", count: 126) + ".md"] {
            let aside = TemporaryName.aside(for: name, from: old, to: new)
            let original = try #require(TemporaryName.original(of: aside))
            #expect(aside.utf8.count <= 255 && (!original.isWhole || original.name.utf8.elementsEqual(name.utf8)))
            #expect(original.name.hasSuffix(name.suffix(3)))
            #expect(FolderWatchRules.isTemporary(aside))
        }
    }

    @Test("Temporary names of drafts, older versions and other programs contain no file name")
    func others() {
        let older = ".syncthing.recollect-\(UUID().uuidString).tmp"
        for name in [TemporaryName.draft(), older, ".syncthing.a.md.tmp", "a.md"] {
            #expect(TemporaryName.original(of: name) == nil)
        }
        #expect(TemporaryName.isDraft(TemporaryName.draft()) && TemporaryName.isOne(TemporaryName.draft()))
        #expect(!TemporaryName.isOne(".syncthing.a.md.tmp"))
    }
}
