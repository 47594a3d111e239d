import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// All tests with real Syncthing devices, one at a time, because a build machine has two cores.
@Suite(
    "Real Syncthing devices", .serialized,
    .needs(.syncthing))
enum SyncthingTests {}

extension SyncthingTests {
    /// The behavior of Syncthing required by the workspace, verified by experiment.
    @Suite("Syncthing behavior")
    struct Facts {
        private func read(_ file: URL) -> String? { try? String(contentsOf: file, encoding: .utf8) }

        private func write(_ text: String, _ file: URL) throws {
            try Data(text.utf8).write(to: file)
        }

        private func names(_ folder: URL) throws -> [String] {
            try SyncthingPair.names(in: folder)
        }

        @Test("Of two concurrent edits, one stays in the file and one becomes a conflict copy, on both devices")
        func conflict() async throws {
            let pair = try await SyncthingPair.shared()
            let (left, right) = try pair.makeFolders()
            for name in ["note.md", "LICENSE", "archive.tar.gz"] {
                try write("first", left.appendingPathComponent(name))
            }
            try await pair.sync()
            try await pair.apart {
                for name in ["note.md", "LICENSE", "archive.tar.gz"] {
                    try write("from the left", left.appendingPathComponent(name))
                    try write("from the right", right.appendingPathComponent(name))
                }
            }
            try await pair.sync()
            for (name, stem, end) in [
                ("note.md", "note", ".md"), ("LICENSE", "LICENSE", ""), ("archive.tar.gz", "archive.tar", ".gz"),
            ] {
                let copies = try names(left).filter { $0.hasPrefix(stem + ".sync-conflict-") }
                let copy = try #require(copies.first)
                #expect(copies.count == 1 && copy.hasSuffix(end))
                let mark = copy.dropFirst(stem.count).dropLast(end.count)
                #expect(mark.wholeMatch(of: /\.sync-conflict-[0-9]{8}-[0-9]{6}-[A-Z2-7]{7}/) != nil, "\(copy)")
                let texts = Set([name, copy].map { read(left.appendingPathComponent($0)) })
                #expect(texts == ["from the left", "from the right"])
            }
        }

        @Test("The same edit on both devices is no conflict")
        func identical() async throws {
            let pair = try await SyncthingPair.shared()
            let (left, right) = try pair.makeFolders()
            try write("first", left.appendingPathComponent("note.md"))
            try await pair.sync()
            try await pair.apart {
                for side in [left, right] {
                    try write("both say this", side.appendingPathComponent("note.md"))
                    try write("and make this", side.appendingPathComponent("new.md"))
                }
            }
            try await pair.sync()
            #expect(try names(left) == ["new.md", "note.md"] && names(right) == ["new.md", "note.md"])
        }

        @Test("An edit wins over a deletion")
        func deletion() async throws {
            let pair = try await SyncthingPair.shared()
            let (left, right) = try pair.makeFolders()
            for name in ["one.md", "two.md"] { try write("first", left.appendingPathComponent(name)) }
            try await pair.sync()
            try await pair.apart {
                try FileManager.default.removeItem(at: left.appendingPathComponent("one.md"))
                try write("edited", right.appendingPathComponent("one.md"))
                try write("edited", left.appendingPathComponent("two.md"))
                try FileManager.default.removeItem(at: right.appendingPathComponent("two.md"))
            }
            try await pair.sync()
            for side in [left, right] {
                #expect(try names(side) == ["one.md", "two.md"])
                #expect(names(side, saying: "edited") == 2)
            }
        }

        private func names(_ folder: URL, saying text: String) -> Int {
            ["one.md", "two.md"].count { read(folder.appendingPathComponent($0)) == text }
        }

        @Test("A conflict copy edited on both devices loses one edit, so Recollect never edits conflict copies")
        func editedCopy() async throws {
            let pair = try await SyncthingPair.shared()
            let (left, right) = try pair.makeFolders()
            let name = "note.sync-conflict-20260103-090000-ABCDEFG.md"
            try write("copy", left.appendingPathComponent(name))
            try await pair.sync()
            try await pair.apart {
                try write("from the left", left.appendingPathComponent(name))
                try write("from the right", right.appendingPathComponent(name))
            }
            try await pair.sync()
            #expect(try names(left) == [name] && names(right) == [name])
        }

        @Test("Decomposed names become composed on both devices")
        func normalization() async throws {
            let pair = try await SyncthingPair.shared()
            let (left, right) = try pair.makeFolders()
            try write("text", left.appendingPathComponent("Cafe\u{301}.md"))
            try await pair.sync()
            for side in [left, right] {
                #expect(try names(side).map { Array($0.utf8) } == [Array("Caf\u{E9}.md".utf8)])
            }
        }

        @Test("Files with a temporary name of Recollect are not synced")
        func temporaryNames() async throws {
            let pair = try await SyncthingPair.shared()
            let (left, right) = try pair.makeFolders()
            try write("half", left.appendingPathComponent(".syncthing.recollect-\(UUID().uuidString).tmp"))
            try write("whole", left.appendingPathComponent("note.md"))
            try await pair.sync()
            #expect(try names(right) == ["note.md"])
        }
    }
}
