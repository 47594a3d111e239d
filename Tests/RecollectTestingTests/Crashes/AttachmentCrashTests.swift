import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectSQLite
@testable import RecollectTesting

@Suite("Attachments and power cuts", .needs(.time)) struct AttachmentCrashTests {
    /// All crash points of one attachment, in folders created by a process killed before it synced their names.
    @Test("A saved attachment survives, also in a folder with an unsynced name", arguments: [0, 1, 2])
    func unsyncedFolders(count: Int) async throws {
        let bytes = Data("a picture".utf8)
        let hash = Attachment.sha256(of: bytes)
        let scenario = CrashScenario("an attachment") { run in
            var folder = try OpenFolder(path: run.folder.path)
            for name in ["attachments", String(hash.prefix(2))].prefix(count) {
                try folder.makeFolder(name)
                folder = try folder.folder(name)
            }
            let files = AttachmentFiles(directory: run.folder.appendingPathComponent("attachments"))
            try await run.change("list", adding: [hash]) { _ = try files.save(bytes) }
        } reopen: { image in
            let files = AttachmentFiles(directory: image.folder.appendingPathComponent("attachments"))
            return CrashedStore(lists: ["list": (try? files.read(hash)) == bytes ? [hash] : []])
        }
        let report = try await CrashExplorer(seed: 11).explore(scenario)
        #expect(report.isFaultless, "\(report)")
        #expect(report.powerCuts > 0)
    }
}
