import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of file names and their spellings.
enum FileNameChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "name.keepsEveryName", "Any name valid in a path is valid for a file, and is listed unchanged."
        ) {
            _, provider in
            let names = [
                "ä.md", "日本語.md", "👩‍👩‍👧‍👦.md", "a b.md", "a'b.md", "a%2Fb.md", "[a].md", "a#b.md", "-a.md", "..a",
                "a.b.c.md", "A",
                "ß.md", String(repeating: "x", count: 252) + ".md",
            ].filter { (try? WorkspacePath($0)) != nil }
            for name in names { try provider.write(name, to: "names/\(name)", replacing: nil) }
            for name in names { try expectEqual(provider.text(at: "names/\(name)"), name, "the text") }
            let listed = try provider.names(in: WorkspacePath("names"))
            try expectEqual(listed, names.sorted { ByteString($0) < ByteString($1) }, "the names")
        },
        WorkspaceProviderCheck(
            "name.findsDecomposedNames",
            "A file with a decomposed name, written by another program, is found by the composed path."
        ) {
            fixture, provider in
            try fixture.put("Journal/cafe\u{301}.md", Array("foreign".utf8))
            let path = "Journal/caf\u{E9}.md"
            try expectEqual(provider.text(at: path), "foreign", "the text")
            try expectEqual(
                provider.names(in: WorkspacePath("Journal")).map { ByteString($0) }, [ByteString("caf\u{E9}.md")],
                "the names")
            try expectMismatch(showing: "foreign", from: "a write under the other spelling of the name") {
                try provider.write("mine", to: path, replacing: nil)
            }
            try provider.write("mine", to: path, replacing: "foreign")
            try expectEqual(provider.text(at: path), "mine", "the text")
            try expectEqual(provider.items(in: WorkspacePath("Journal")).count, 1, "the number of files")
        },
        WorkspaceProviderCheck(
            "name.collisionsNeverOverwrite",
            "Names differing only in case are two files or one, and never overwrite each other."
        ) {
            fixture, provider in
            try fixture.put("notes.md", Array("small".utf8))
            do {
                try provider.write("large", to: "Notes.md", replacing: nil)
                try expectEqual(provider.text(at: "Notes.md"), "large", "the text of the file with the other case")
                try expectEqual(provider.text(at: "notes.md"), "small", "the text of the first file")
                try expectEqual(provider.names(), ["Notes.md", "notes.md"], "the names")
            } catch let mismatch as ContentMismatchError {
                try expectEqual(mismatch.current, Array("small".utf8), "the content of the single file")
                try provider.write("large", to: "Notes.md", replacing: "small")
                try expectEqual(provider.text(at: "notes.md"), "large", "the text read with the other spelling")
                try expectEqual(provider.items(in: .root).count, 1, "the number of files")
                try expectEqual(
                    provider.canonicalPath(of: WorkspacePath("Notes.md")), WorkspacePath("notes.md"), "the spelling")
            }
        },
    ]
}
