import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of removals: a file is removed only in its expected version.
enum FileRemovalChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "remove.removesTheFileAlone", "A file goes; its folder, though empty, and its neighbours stay."
        ) {
            _, provider in
            try provider.write("a", to: "Journal/a.md", replacing: nil)
            try provider.write("b", to: "b.md", replacing: nil)
            try provider.remove("Journal/a.md", holding: "a")
            try expectEqual(provider.item(at: WorkspacePath("Journal/a.md")), nil, "the removed file")
            try expectEqual(provider.items(in: WorkspacePath("Journal")), [], "its folder")
            try expectEqual(provider.text(at: "b.md"), "b", "the neighbour")
            try provider.write("new", to: "Journal/a.md", replacing: nil)
            try expectEqual(provider.text(at: "Journal/a.md"), "new", "the text of the file that was made again")
        },
        WorkspaceProviderCheck(
            "remove.refusesWhatIsStale", "A file that holds something else stays, and the error shows it."
        ) {
            place, provider in
            try provider.write("one", to: "a.md", replacing: nil)
            try place.put("a.md", Array("foreign".utf8))
            try expectMismatch(showing: "foreign", from: "a stale removal") {
                try provider.remove("a.md", holding: "one")
            }
            try expectEqual(provider.text(at: "a.md"), "foreign", "the text")
        },
        WorkspaceProviderCheck(
            "remove.namesWhatIsGone", "What is gone already is told as a mismatch; a folder is not removed."
        ) {
            _, provider in
            try expectMismatch(showing: nil, from: "removing what is not there") {
                try provider.remove("a.md", holding: "one")
            }
            try provider.write("a", to: "Journal/a.md", replacing: nil)
            try expectCode(.foreignStore, of: "removing a folder") { try provider.remove("Journal", holding: "") }
            try expectEqual(provider.text(at: "Journal/a.md"), "a", "the text")
        },
        WorkspaceProviderCheck(
            "remove.takesEmptyFoldersAlone",
            "A folder goes only when nothing is left in it, and what is gone is no error."
        ) {
            _, provider in
            let folder = try WorkspacePath("Journal 2")
            try provider.write("a", to: "Journal 2/user/a.md", replacing: nil)
            try expectEqual(provider.removeFolder(folder), false, "whether a folder with a file went")
            try expectEqual(provider.text(at: "Journal 2/user/a.md"), "a", "the text of the file in it")
            try provider.remove("Journal 2/user/a.md", holding: "a")
            try expectEqual(provider.removeFolder(folder), false, "whether a folder with a folder went")
            try expectEqual(
                provider.removeFolder(WorkspacePath("Journal 2/user")), true, "whether the empty folder went")
            try expectEqual(provider.removeFolder(folder), true, "whether the folder went that was empty then")
            try expectEqual(provider.item(at: folder), nil, "the folder")
            try expectEqual(provider.removeFolder(folder), false, "whether it went again")
        },
    ]
}
