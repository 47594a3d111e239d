import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

extension SyncthingTests {
    @Suite("Workspace on two devices with Syncthing")
    struct Workspaces {
        @Test("concurrent-edits: edits of context.md on both devices are merged, with both alternatives of a line")
        func context() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            let path = try WorkspacePath("context.md")
            let (left, right) = (devices.workspaces[0], devices.workspaces[1])
            try await left.write("# About\n\nLikes tea.\n\n# Work\n\nBuilds boats.\n", to: path, replacing: nil)
            try await devices.pair.sync()
            for workspace in devices.workspaces { _ = try await workspace.status() }
            try await devices.pair.apart {
                let version = try await left.read(path).version
                try await left.write(
                    "# About\n\nLikes green tea.\n\n# Work\n\nBuilds boats.\n\n# Home\n\nHas a cat.\n", to: path,
                    replacing: version)
                try await right.write(
                    "# About\n\nLikes black tea.\n\n# Work\n\nBuilds boats.\n\n# Travel\n\nGoes north.\n", to: path,
                    replacing: version)
            }
            #expect(try await devices.syncCompletely() <= 2)
            let files = try devices.expectNoConflicts()
            #expect(files.count == 1)
            let text = try #require(files["context.md"])
            for part in ["green tea", "black tea", "Builds boats.", "Has a cat.", "Goes north."] {
                #expect(text.components(separatedBy: part).count == 2, "\(part) in \(text)")
            }
        }

        @Test("Folders edited on both devices converge, without losses and without conflict copies")
        func converge() async {
            await Seeds.run(1) { seed in
                var random = SeededGenerator(seed: seed)
                let devices = try await TwoDevices()
                defer { devices.end() }
                let paths = try ["context.md", "Notes/a.md", "Notes/b.md", "list.txt"].map { try WorkspacePath($0) }
                var saved: [(path: WorkspacePath, file: WorkspaceFile)] = []
                var markers: [WorkspacePath: [String]] = [:]
                for round in 0..<3 {
                    try await devices.pair.apart {
                        for (index, workspace) in devices.workspaces.enumerated() {
                            for edit in 0..<4 {
                                let path = paths.randomElement(using: &random) ?? paths[0]
                                let marker = "r\(round)d\(index)e\(edit)-\(random.next())"
                                let heading =
                                    ["# About", "# Work", "# Home"].randomElement(using: &random) ?? "# About"
                                markers[path, default: []].append(marker)
                                let file = try await workspace.append("\n\(heading)\n\nsaid \(marker)\n", to: path)
                                saved.append((path, file))
                            }
                        }
                    }
                    #expect(try await devices.syncCompletely() <= 2)
                }
                let files = try devices.expectNoConflicts()
                #expect(Set(files.keys).isSubset(of: Set(paths.map(\.description))), "\(files.keys.sorted())")
                for (path, markers) in markers {
                    let text = files[path.description] ?? ""
                    for marker in markers {
                        #expect(text.contains(marker), "\(marker) is not in \(path)")
                    }
                }
                // Every saved text is in the archive of the device that saved it.
                for (_, file) in saved {
                    let kept = await [
                        try? devices.workspaces[0].content(of: file.version),
                        try? devices.workspaces[1].content(of: file.version),
                    ]
                    #expect(kept.contains(file.bytes))
                }
            }
        }
    }
}
