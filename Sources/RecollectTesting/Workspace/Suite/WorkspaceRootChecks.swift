import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of an unavailable root: it is not an empty one.
enum WorkspaceRootChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "root.missingIsUnavailable",
            "While the root is missing, listing, lookups, reads, writes and removals throw unavailable.",
            needs: .losesRoot
        ) { fixture, provider in
            let path = try WorkspacePath("Journal/a.md")
            try provider.write("a", to: "Journal/a.md", replacing: nil)
            try fixture.setRootRemoved(true)
            try expectCode(.unavailable, of: "listing the root") { _ = try provider.items(in: .root) }
            try expectCode(.unavailable, of: "listing a folder") {
                _ = try provider.items(in: WorkspacePath("Journal"))
            }
            try expectCode(.unavailable, of: "looking up a file") { _ = try provider.item(at: path) }
            try expectCode(.unavailable, of: "reading a file") { _ = try provider.read(path, limit: 10) }
            try expectCode(.unavailable, of: "writing a new file") {
                try provider.write("b", to: "b.md", replacing: nil)
            }
            try expectCode(.unavailable, of: "replacing a file") {
                try provider.write("b", to: "Journal/a.md", replacing: "a")
            }
            try expectCode(.unavailable, of: "removing a file") { try provider.remove("Journal/a.md", holding: "a") }
            try fixture.setRootRemoved(false)
            try expectEqual(provider.text(at: "Journal/a.md"), "a", "the text after the root is available again")
            try expectEqual(provider.names(), ["Journal"], "the names after the root is available again")
        }
    ]
}
