import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of files not on this device.
enum EvictedFileChecks {
    static let all: [WorkspaceProviderCheck] = [
        check("evicted.isListed", "A file that is not local is listed under its own name with the state notLocal.") {
            _, provider in
            try expectEqual(provider.names(in: WorkspacePath("Journal")), ["a.md"], "the names")
            try expectEqual(provider.existing("Journal/a.md").state, .notLocal, "the state")
            try expect(!provider.existing("Journal/a.md").isFolder, "a file", actual: "a folder")
        },
        check(
            "evicted.readingDoesNotDownload",
            "Reading a file that is not local throws, lookups return its state, and neither starts a download."
        ) {
            _, provider in
            for _ in 0..<3 {
                try expectCode(.notLocal, of: "reading") { _ = try provider.text(at: "Journal/a.md") }
                _ = try provider.items(in: WorkspacePath("Journal"))
                try expectEqual(provider.existing("Journal/a.md").state, .notLocal, "the state")
            }
        },
        check(
            "evicted.isNotOverwritten",
            "A file that is not local is never replaced, removed or treated as missing, for any expected version."
        ) {
            _, provider in
            for expected in [nil, "content", "other"] {
                try expectCode(.notLocal, of: "a write") {
                    try provider.write("mine", to: "Journal/a.md", replacing: expected)
                }
            }
            try expectCode(.notLocal, of: "a removal") { try provider.remove("Journal/a.md", holding: "content") }
            try expectEqual(provider.existing("Journal/a.md").state, .notLocal, "the state")
            try expectEqual(provider.names(in: WorkspacePath("Journal")), ["a.md"], "the names")
        },
        check(
            "evicted.downloadCanBeRequested",
            "A download can be requested repeatedly; for a local file, a request has no effect."
        ) {
            fixture, provider in
            try fixture.put("b.md", Array("b".utf8))
            try provider.requestDownload(of: WorkspacePath("b.md"))
            try expectEqual(provider.text(at: "b.md"), "b", "the text of the local file")
            for _ in 0..<2 { try provider.requestDownload(of: WorkspacePath("Journal/a.md")) }
            let state = try provider.existing("Journal/a.md").state
            try expect(
                [.notLocal, .downloading, .local].contains(state), "notLocal, downloading or local",
                actual: state.rawValue)
        },
    ]

    /// Returns a check with an evicted file `Journal/a.md` of the text `content`.
    private static func check(
        _ name: String, _ promise: String,
        body: @escaping @Sendable (WorkspaceProviderFixture, any WorkspaceProvider) throws -> Void
    ) -> WorkspaceProviderCheck {
        WorkspaceProviderCheck(name, promise, needs: .evicts) { fixture, provider in
            try provider.write("content", to: "Journal/a.md", replacing: nil)
            try fixture.evict("Journal/a.md")
            try body(fixture, provider)
        }
    }
}
