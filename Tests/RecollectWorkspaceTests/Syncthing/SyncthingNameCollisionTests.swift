import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

extension SyncthingTests {
    /// Requires disks that distinguish case and normalization. Other disks have no name collisions.
    @Suite("name-collisions: colliding names on two devices with Syncthing")
    struct NameCollisions {
        private let composed = "Caf\u{E9}.md"
        private let decomposed = "Cafe\u{301}.md"

        private func write(_ text: String, _ name: String, in folder: URL) throws {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }

        /// The bytes of the names on the disk, because Swift treats both forms as equal strings.
        private func names(in folder: URL) throws -> [[UInt8]] {
            try SyncthingPair.names(in: folder).map { Array($0.utf8) }
        }

        @Test(
            "Names that differ only in case are two files on both devices, reported and never merged",
            .enabled(if: SyncthingTests.isCaseKept))
        func caseCollision() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            let paths = try ["Note.md", "note.md"].map { try WorkspacePath($0) }
            try await devices.pair.apart {
                for (path, workspace) in zip(paths, devices.workspaces) {
                    try await workspace.write("\(path) by one of them\n", to: path, replacing: nil)
                }
            }
            #expect(try await devices.syncCompletely() == 0)
            for workspace in devices.workspaces {
                #expect(try await workspace.status().nameCollisions == [paths])
                let reported = workspace.events.takeUndelivered().filter { $0.kind == .nameCollision }
                #expect(reported.map(\.path) == ["Note.md"])
                for path in paths { #expect(try await workspace.read(path).text == "\(path) by one of them\n") }
            }
            // Each file is changed and removed without the other.
            let file = try await devices.workspaces[1].read(paths[0])
            try await devices.workspaces[1].trash(paths[0], replacing: file.version)
            try await devices.pair.sync()
            #expect(try devices.expectNoConflicts() == ["note.md": "note.md by one of them\n"])
            #expect(try await devices.workspaces[1].content(of: file.version) == file.bytes)
        }

        @Test("One name written in two normalization forms is a conflict of one file, and is merged")
        func formsApart() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            try await devices.pair.apart {
                try write("composed\n", composed, in: devices.folders[0])
                try write("decomposed\n", decomposed, in: devices.folders[1])
            }
            try await devices.pair.sync()
            for folder in devices.folders { #expect(try names(in: folder).count == 2) }
            #expect(try await devices.syncCompletely() <= 2)
            try expectOneFile(devices, of: ["composed", "decomposed"])
        }

        @Test("Syncthing carries only the composed form of a name; after the merge, both texts are on both devices")
        func formsTogether() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            try write("composed\n", composed, in: devices.folders[0])
            try write("decomposed\n", decomposed, in: devices.folders[0])
            try await devices.pair.left.scan()
            try await devices.pair.until("the composed name has arrived") {
                try names(in: devices.folders[1]) == [Array(composed.utf8)]
            }
            let resolved = try await devices.workspaces[0].resolveConflicts()
            #expect(resolved.map(\.path.name) == [composed])
            #expect(try await devices.syncCompletely() <= 2)
            try expectOneFile(devices, of: ["composed", "decomposed"])
        }

        private func expectOneFile(_ devices: TwoDevices, of texts: [String]) throws {
            let files = try devices.expectNoConflicts()
            for folder in devices.folders { #expect(try names(in: folder) == [Array(composed.utf8)]) }
            let lines = (files[composed] ?? "").split(separator: "\n").map(String.init)
            for text in texts { #expect(lines.count { $0 == text } == 1, "\(lines)") }
        }
    }

    /// Whether names that differ only in case are two files on this disk.
    static let isCaseKept: Bool = {
        let folder = FileManager.default.temporaryDirectory
        let keys: Set<URLResourceKey> = [.volumeSupportsCaseSensitiveNamesKey]
        return (try? folder.resourceValues(forKeys: keys))?.volumeSupportsCaseSensitiveNames ?? true
    }()
}
