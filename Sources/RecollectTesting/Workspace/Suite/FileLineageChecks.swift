import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of lineage files: the version graphs exchanged by devices.
enum FileLineageChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "lineage.roundTrips",
            "Lineage files can be written, read, replaced and removed, and are not in any list."
        ) {
            _, provider in
            try expectEqual(provider.lineageFiles(), [], "the lineage files before the first one")
            try provider.writeLineageFile(named: "a-0.lineage", Array("one".utf8))
            // A provider need not have such a folder.
            guard try !provider.lineageFiles().isEmpty else { return }
            try provider.writeLineageFile(named: "b-0.lineage", Array("two".utf8))
            try provider.writeLineageFile(named: "a-0.lineage", Array("three".utf8))
            try provider.writeLineageFile(named: "a-1.lineage", Array(repeating: 7, count: LineageFile.maxSize + 1))
            let files = [("a-0.lineage", "three"), ("b-0.lineage", "two")].map {
                LineageFile(name: $0, bytes: Array($1.utf8))
            }
            try expectEqual(provider.lineageFiles(), files, "the lineage files except one above the size limit")
            try expectEqual(provider.names(), [], "the listed names")
            try provider.writeLineageFile(named: "a-0.lineage", nil)
            try provider.writeLineageFile(named: "a-0.lineage", nil)
            try expectEqual(provider.lineageFiles(), [files[1]], "the lineage files after a removal")
        }
    ]
}
