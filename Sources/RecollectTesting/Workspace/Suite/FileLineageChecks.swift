import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of lineage files: the version graphs exchanged by devices.
enum FileLineageChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "lineage.comesBack",
            "Files of the lineage folder come back, are replaced and removed, and are listed nowhere."
        ) {
            _, provider in
            try expectEqual(provider.lineageFiles(), [], "the files before the first one")
            try provider.writeLineageFile("a-0.lineage", Array("one".utf8))
            // A provider need not have such a folder.
            guard try !provider.lineageFiles().isEmpty else { return }
            try provider.writeLineageFile("b-0.lineage", Array("two".utf8))
            try provider.writeLineageFile("a-0.lineage", Array("three".utf8))
            try provider.writeLineageFile("a-1.lineage", Array(repeating: 7, count: LineageFile.largest + 1))
            let files = [("a-0.lineage", "three"), ("b-0.lineage", "two")].map {
                LineageFile(name: $0, bytes: Array($1.utf8))
            }
            try expectEqual(provider.lineageFiles(), files, "the files, but for one that is too large")
            try expectEqual(provider.names(), [], "what is listed")
            try provider.writeLineageFile("a-0.lineage", nil)
            try provider.writeLineageFile("a-0.lineage", nil)
            try expectEqual(provider.lineageFiles(), [files[1]], "the files after a removal")
        }
    ]
}
