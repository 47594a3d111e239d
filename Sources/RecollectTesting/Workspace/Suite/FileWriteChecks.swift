import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of writes: a file is replaced only in its expected version.
enum FileWriteChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "write.makesFileAndFolders", "A new file is there with its bytes, and so are its folders."
        ) {
            _, provider in
            let bytes: [UInt8] = [0, 255, 13, 10, 0xC3, 0x28]
            let path = try WorkspacePath("Journal/user/day.md")
            try provider.write(bytes, to: path, replacing: nil)
            try expectEqual(provider.read(path, limit: 100), bytes, "the bytes")
            try expect(provider.existing("Journal/user").isFolder, "a folder above the file", came: "none")
            try provider.write([], to: WorkspacePath("empty.md"), replacing: nil)
            try expectEqual(provider.text(at: "empty.md"), "", "the text of an empty file")
        },
        WorkspaceProviderCheck("write.replacesWhatIsKnown", "A file is replaced by a writer who names its content.") {
            _, provider in
            try provider.write("one", to: "context.md", replacing: nil)
            try provider.write("two", to: "context.md", replacing: "one")
            try expectEqual(provider.text(at: "context.md"), "two", "the text")
            try provider.write("two", to: "context.md", replacing: "two")
            try provider.write("", to: "context.md", replacing: "two")
            try provider.write("three", to: "context.md", replacing: "")
            try expectEqual(provider.text(at: "context.md"), "three", "the text")
        },
        WorkspaceProviderCheck(
            "write.refusesWhatIsStale", "A file that holds something else stays, and the error shows it."
        ) {
            place, provider in
            try provider.write("one", to: "context.md", replacing: nil)
            try place.put("context.md", Array("foreign".utf8))
            try expectMismatch(showing: "foreign", from: "a stale write") {
                try provider.write("two", to: "context.md", replacing: "one")
            }
            try expectEqual(provider.text(at: "context.md"), "foreign", "the text")
        },
        WorkspaceProviderCheck(
            "write.refusesWhatIsThere", "A writer who expects no file overwrites none, not even an equal one."
        ) {
            place, provider in
            try place.put("context.md", Array("foreign".utf8))
            for text in ["mine", "foreign"] {
                try expectMismatch(showing: "foreign", from: "a write over a file that its writer does not know") {
                    try provider.write(text, to: "context.md", replacing: nil)
                }
            }
            try expectEqual(provider.text(at: "context.md"), "foreign", "the text")
        },
        WorkspaceProviderCheck(
            "write.refusesWhatIsGone", "A writer who knows a file does not make it anew when it is gone."
        ) {
            _, provider in
            try expectMismatch(showing: nil, from: "a write to a file that is not there") {
                try provider.write("two", to: "a/context.md", replacing: "one")
            }
            try expectEqual(provider.item(at: WorkspacePath("a/context.md")), nil, "the item")
        },
        WorkspaceProviderCheck(
            "write.leavesNothingBeside", "Neither a write nor a refused one leaves other files behind."
        ) {
            _, provider in
            for round in 0..<5 {
                try provider.write("\(round)", to: "a/b.md", replacing: round == 0 ? nil : "\(round - 1)")
                try? provider.write("never", to: "a/b.md", replacing: nil)
                try? provider.write("never", to: "a/c.md", replacing: "never")
            }
            try expectEqual(provider.names(in: WorkspacePath("a")), ["b.md"], "the folder")
            try expectEqual(provider.names(), ["a"], "the root")
        },
        WorkspaceProviderCheck(
            "write.refusesWhatIsInTheWay", "A folder is not overwritten, and a file is not taken for a folder."
        ) {
            _, provider in
            try provider.write("text", to: "a/b.md", replacing: nil)
            try expectCode(.foreignStore, of: "a write to a folder") {
                try provider.write("text", to: "a", replacing: nil)
            }
            try expectCode(.foreignStore, of: "a write into a file") {
                try provider.write("text", to: "a/b.md/c.md", replacing: nil)
            }
            try expectCode(.foreignStore, of: "reading a folder") { _ = try provider.text(at: "a") }
            try expectEqual(provider.text(at: "a/b.md"), "text", "the text")
        },
        WorkspaceProviderCheck("read.isBounded", "A file above the limit is not read; at the limit it is.") {
            _, provider in
            try provider.write("12345", to: "a.md", replacing: nil)
            let path = try WorkspacePath("a.md")
            try expectEqual(provider.read(path, limit: 5).count, 5, "the count of bytes")
            try expectCode(.tooLarge, of: "reading 5 bytes with a limit of 4") {
                _ = try provider.read(path, limit: 4)
            }
        },
        WorkspaceProviderCheck("read.namesWhatIsNotThere", "A file that is not there is not found.") { _, provider in
            for path in ["a.md", "a/b.md"] {
                try expectCode(.notFound, of: "reading \(path)") { _ = try provider.text(at: path) }
                try expectEqual(provider.item(at: WorkspacePath(path)), nil, "the item")
            }
        },
    ]
}
