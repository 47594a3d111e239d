import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of removals: a file is removed only in its expected version.
enum FileRemovalChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "remove.removesOnlyTheFile",
            "A removal removes only the file: its folder, even if empty, and other files stay."
        ) {
            _, provider in
            try provider.write("a", to: "Journal/a.md", replacing: nil)
            try provider.write("b", to: "b.md", replacing: nil)
            try provider.remove("Journal/a.md", holding: "a")
            try expectEqual(provider.item(at: WorkspacePath("Journal/a.md")), nil, "the removed file")
            try expectEqual(provider.items(in: WorkspacePath("Journal")), [], "the items of its folder")
            try expectEqual(provider.text(at: "b.md"), "b", "the text of the other file")
            try provider.write("new", to: "Journal/a.md", replacing: nil)
            try expectEqual(provider.text(at: "Journal/a.md"), "new", "the text of the file written again")
        },
        WorkspaceProviderCheck(
            "remove.rejectsStaleVersion",
            "Removing a file with other content fails with a mismatch containing that content."
        ) {
            fixture, provider in
            try provider.write("one", to: "a.md", replacing: nil)
            try fixture.put("a.md", Array("foreign".utf8))
            try expectMismatch(showing: "foreign", from: "a stale removal") {
                try provider.remove("a.md", holding: "one")
            }
            try expectEqual(provider.text(at: "a.md"), "foreign", "the text")
        },
        WorkspaceProviderCheck(
            "remove.rejectsMissingFile",
            "Removing a missing file fails with a mismatch; removing a folder as a file fails."
        ) {
            _, provider in
            try expectMismatch(showing: nil, from: "removing a missing file") {
                try provider.remove("a.md", holding: "one")
            }
            try provider.write("a", to: "Journal/a.md", replacing: nil)
            try expectCode(.foreignStore, of: "removing a folder") { try provider.remove("Journal", holding: "") }
            try expectEqual(provider.text(at: "Journal/a.md"), "a", "the text")
        },
        WorkspaceProviderCheck(
            "remove.removesOnlyEmptyFolders",
            "removeFolder removes only an empty folder; for a missing folder, it returns false."
        ) {
            _, provider in
            let folder = try WorkspacePath("Journal 2")
            try provider.write("a", to: "Journal 2/user/a.md", replacing: nil)
            try expectEqual(provider.removeFolder(folder), false, "the result of removing a folder with a file")
            try expectEqual(provider.text(at: "Journal 2/user/a.md"), "a", "the text of the file in the folder")
            try provider.remove("Journal 2/user/a.md", holding: "a")
            try expectEqual(provider.removeFolder(folder), false, "the result of removing a folder with a folder")
            try expectEqual(
                provider.removeFolder(WorkspacePath("Journal 2/user")), true, "the result of removing the empty folder")
            try expectEqual(provider.removeFolder(folder), true, "the result of removing the parent folder")
            try expectEqual(provider.item(at: folder), nil, "the removed folder")
            try expectEqual(provider.removeFolder(folder), false, "the result of removing a missing folder")
        },
    ]
}
