import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

extension SyncthingTests {
    @Suite("Syncthing watching the folder during writes")
    struct Watching {
        @Test(
            "concurrent-edits: on two and three devices, every word is in a file, and no conflict copy is left",
            arguments: [2, 3])
        func life(devices count: Int) async {
            await Seeds.run(1, from: UInt64(count)) { seed in
                var random = SeededGenerator(seed: seed)
                let devices = try await WatchingDevices(count: count)
                let paths = try ["context.md", "Notes/list.md", "plain.txt"].map { try WorkspacePath($0) }
                var words: [String] = []
                for step in 0..<40 {
                    let index = Int.random(in: 0..<count, using: &random)
                    let workspace = devices.workspaces[index]
                    let path = paths.randomElement(using: &random) ?? paths[0]
                    let word = "word\(step)by\(index)"
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: _ = try await workspace.resolveConflicts()
                    case 1: _ = try await workspace.status()
                    case 2:
                        // Long enough for a scan by a watcher, so that other devices receive the changes so far.
                        try await Task.sleep(for: .milliseconds(.random(in: 500...2_500, using: &random)))
                    case 3:
                        _ = try await WorkspaceJournal(workspace: workspace, timeZone: .gmt).write(word, at: morning)
                        words.append(word)
                    case 4:
                        let line = ["- \(word)\n", "# \(word)\n", "\(word)\n\n"].randomElement(using: &random) ?? ""
                        _ = try await workspace.update(path, by: .user) { Array(line.utf8) + ($0?.bytes ?? []) }
                        words.append(word)
                    default:
                        let lines = ["- \(word)\n", "\n# Same\n\n\(word)\n", "\(word)\n"]
                        _ = try await workspace.append(lines.randomElement(using: &random) ?? "", to: path)
                        words.append(word)
                    }
                }
                try await devices.syncCompletely()
                for device in devices.devices {
                    let files = try SyncthingPair.files(in: device.folder).filter { !$0.key.hasPrefix(".") }
                    let texts = files.values.map { String(decoding: $0, as: UTF8.self) }
                    for word in words {
                        #expect(texts.contains { $0.contains(word) }, "\(word) of seed \(seed) is in no file")
                    }
                    for path in files.keys {
                        #expect(ConflictCopyName((path as NSString).lastPathComponent)?.isCertain != true, "\(path)")
                    }
                }
            }
        }
    }
}
