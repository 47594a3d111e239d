import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of writes: a file is replaced only in its expected version.
enum FileWriteChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "write.createsFileAndFolders", "Writing a new file creates its folders and the file with its bytes."
        ) {
            _, provider in
            let bytes: [UInt8] = [0, 255, 13, 10, 0xC3, 0x28]
            let path = try WorkspacePath("Journal/user/day.md")
            try provider.write(bytes, to: path, replacing: nil)
            try expectEqual(provider.read(path, limit: 100), bytes, "the bytes")
            try expect(provider.existing("Journal/user").isFolder, "a parent folder of the file", actual: "none")
            try provider.write([], to: WorkspacePath("empty.md"), replacing: nil)
            try expectEqual(provider.text(at: "empty.md"), "", "the text of an empty file")
        },
        WorkspaceProviderCheck("write.replacesExpectedVersion", "A write with the expected version replaces the file.")
        {
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
            "write.rejectsStaleVersion",
            "A write to a file with other content fails with a mismatch containing that content."
        ) {
            fixture, provider in
            try provider.write("one", to: "context.md", replacing: nil)
            try fixture.put("context.md", Array("foreign".utf8))
            try expectMismatch(showing: "foreign", from: "a stale write") {
                try provider.write("two", to: "context.md", replacing: "one")
            }
            try expectEqual(provider.text(at: "context.md"), "foreign", "the text")
        },
        WorkspaceProviderCheck(
            "write.rejectsExistingFile", "A write expecting no file never overwrites one, even with equal content."
        ) {
            fixture, provider in
            try fixture.put("context.md", Array("foreign".utf8))
            for text in ["mine", "foreign"] {
                try expectMismatch(showing: "foreign", from: "a write over an unexpected file") {
                    try provider.write(text, to: "context.md", replacing: nil)
                }
            }
            try expectEqual(provider.text(at: "context.md"), "foreign", "the text")
        },
        WorkspaceProviderCheck(
            "write.rejectsMissingFile", "A write expecting a version does not create a missing file."
        ) {
            _, provider in
            try expectMismatch(showing: nil, from: "a write to a missing file") {
                try provider.write("two", to: "a/context.md", replacing: "one")
            }
            try expectEqual(provider.item(at: WorkspacePath("a/context.md")), nil, "the item")
        },
        WorkspaceProviderCheck(
            "write.leavesNoOtherFiles", "Neither a successful nor a failed write leaves other files behind."
        ) {
            _, provider in
            for round in 0..<5 {
                try provider.write("\(round)", to: "a/b.md", replacing: round == 0 ? nil : "\(round - 1)")
                try? provider.write("never", to: "a/b.md", replacing: nil)
                try? provider.write("never", to: "a/c.md", replacing: "never")
            }
            try expectEqual(provider.names(in: WorkspacePath("a")), ["b.md"], "the names in the folder")
            try expectEqual(provider.names(), ["a"], "the names in the root")
        },
        WorkspaceProviderCheck(
            "write.rejectsFileFolderConflict", "A write never replaces a folder, and never treats a file as a folder."
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
        WorkspaceProviderCheck(
            "read.enforcesSizeLimit", "Reading a file above the limit throws; a file at the limit is read."
        ) {
            _, provider in
            try provider.write("12345", to: "a.md", replacing: nil)
            let path = try WorkspacePath("a.md")
            try expectEqual(provider.read(path, limit: 5).count, 5, "the number of bytes")
            try expectCode(.tooLarge, of: "reading 5 bytes with a limit of 4") {
                _ = try provider.read(path, limit: 4)
            }
        },
        WorkspaceProviderCheck("read.missingFileIsNotFound", "Reading a missing file throws notFound.") { _, provider in
            for path in ["a.md", "a/b.md"] {
                try expectCode(.notFound, of: "reading \(path)") { _ = try provider.text(at: path) }
                try expectEqual(provider.item(at: WorkspacePath(path)), nil, "the item")
            }
        },
    ]
}
