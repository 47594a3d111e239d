import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of listing a folder.
enum FileListChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck("list.oneLevel", "Listing a folder returns only its direct files and folders.") {
            fixture, provider in
            try expectEqual(provider.names(), [], "the names in an empty root")
            try provider.write("a", to: "a.md", replacing: nil)
            try provider.write("b", to: "Journal/user/b.md", replacing: nil)
            try fixture.put("Journal/c.md", Array("cc".utf8))
            try expectEqual(provider.names(), ["Journal", "a.md"], "the names in the root")
            let journal = try provider.items(in: WorkspacePath("Journal")).sorted { $0.path.name < $1.path.name }
            try expectEqual(
                journal.map(\.path), [WorkspacePath("Journal/c.md"), WorkspacePath("Journal/user")], "the paths")
            try expectEqual(journal.map(\.isFolder), [false, true], "isFolder of the items")
            try expectEqual(journal.first?.size, 2, "the file's size")
            try expectEqual(journal.first?.state, .local, "the file's state")
        },
        WorkspaceProviderCheck(
            "list.missingFolderIsNotFound", "Listing a missing folder throws notFound; the root always exists."
        ) {
            _, provider in
            try expectEqual(provider.items(in: .root), [], "the items of an empty root")
            try expect(provider.item(at: .root)?.isFolder == true, "the root as a folder", actual: "something else")
            try expectCode(.notFound, of: "listing a missing folder") {
                _ = try provider.items(in: WorkspacePath("Journal"))
            }
            try provider.write("a", to: "a.md", replacing: nil)
            try expectCode(.foreignStore, of: "listing a file") { _ = try provider.items(in: WorkspacePath("a.md")) }
        },
        WorkspaceProviderCheck(
            "list.matchesItemLookup", "item(at:) returns the same item as the list of its folder."
        ) {
            _, provider in
            try provider.write("a", to: "a.md", replacing: nil)
            try provider.write("b", to: "Journal/b.md", replacing: nil)
            for folder in [WorkspacePath.root, try WorkspacePath("Journal")] {
                for item in try provider.items(in: folder) {
                    try expectEqual(provider.item(at: item.path), item, "the item at \(item.path.text)")
                }
            }
        },
        WorkspaceProviderCheck(
            "list.stampsChangeWithContent",
            "A stamp changes with every change of the content, by any writer, and only then."
        ) {
            fixture, provider in
            try provider.write("one", to: "a.md", replacing: nil)
            let first = try provider.existing("a.md").stamp
            try provider.write("b", to: "b.md", replacing: nil)
            _ = try provider.text(at: "a.md")
            try expectEqual(provider.existing("a.md").stamp, first, "the stamp of an unchanged file")
            try provider.write("two", to: "a.md", replacing: "one")
            let second = try provider.existing("a.md").stamp
            try expect(second != first, "a different stamp after a write of the same size", actual: second)
            try fixture.put("a.md", Array("three".utf8))
            let third = try provider.existing("a.md").stamp
            try expect(third != second, "a different stamp after another program's write", actual: third)
        },
        WorkspaceProviderCheck(
            "list.omitsTemporaryFiles", "Temporary files of the sync service and the system are not listed."
        ) {
            fixture, provider in
            try provider.write("a", to: "Journal/a.md", replacing: nil)
            for name in [
                ".syncthing.a.md.tmp", "~syncthing~a.md.tmp", ".DS_Store", "a.tmp", "~$a.md", "a.md~", "desktop.ini",
                ".hidden.md", ".recollect-1.tmp", ".syncthing.recollect-1.tmp",
            ] {
                try fixture.put("Journal/\(name)", Array("not ours".utf8))
            }
            try expectEqual(provider.names(in: WorkspacePath("Journal")), ["a.md"], "the names")
        },
        WorkspaceProviderCheck(
            "list.includesConflictCopies", "Conflict copies of a sync service are listed and read as files."
        ) {
            fixture, provider in
            let names = [
                "a (anna's conflicted copy 2026-01-15).md", "a 2.md", "a-LAPTOP.md", "a.md",
                "a.sync-conflict-20260115-120000-ABCDEFG.md",
            ]
            for name in names { try fixture.put("Journal/\(name)", Array(name.utf8)) }
            try expectEqual(provider.names(in: WorkspacePath("Journal")), names, "the names")
            for name in names { try expectEqual(provider.text(at: "Journal/\(name)"), name, "the text") }
        },
        WorkspaceProviderCheck(
            "list.noVersionsWithoutConflict", "A file without a conflict has no conflict versions."
        ) {
            _, provider in
            try provider.write("a", to: "a.md", replacing: nil)
            try expectEqual(provider.conflictVersions(of: WorkspacePath("a.md")), [], "the versions")
            try provider.resolve([], of: WorkspacePath("a.md"))
            try expectEqual(provider.text(at: "a.md"), "a", "the text")
        },
    ]
}
