import Foundation
import RecollectFileSystem

/// The files of a salvage.
extension HistoryFiles {
    /// The name of the marker: the new database is complete, and renames remain.
    var salvageMarker: String { "\(salvageStem).salvaging.json" }
    /// The prefix of the names of new databases until they are complete.
    var salvagingPrefix: String { "\(salvageStem).salvaging-" }
    private var lossPrefix: String { "\(salvageStem).loss-" }

    /// Whether a missing or empty database once had content. A log proves it. So does an empty file beside the
    /// lock, attachments, or locks of writers: a new database is complete when it gets its name.
    /// - Parameter isKnown: Whether the history's lock existed before this opening.
    func wasEmptied(isKnown: Bool) throws -> Bool {
        if OpenFile.size(at: writeAheadLog) > 0 { return true }
        guard FileManager.default.fileExists(atPath: database) else { return false }
        if isKnown { return true }
        return try [attachments, writers].contains { folder in
            guard Self.isFolder(folder.path) else { return false }
            return try OpenFolder(path: folder.path).names().contains { !$0.hasPrefix(".") }
        }
    }

    /// Whether a file was left by a killed salvage. Earlier versions copied databases to repair them.
    func isLeftover(_ name: String) -> Bool {
        name.hasPrefix(salvagingPrefix) || name.hasPrefix("\(salvageStem).mending-")
    }

    /// Returns the name of the loss record of a file set aside.
    func lossRecord(of setAside: String) -> String {
        lossPrefix + setAside.dropFirst(setAsidePrefix.count).dropLast(".sqlite".count) + ".json"
    }

    /// Returns the name of the file set aside with this loss record; `nil` if the name is not a loss record's.
    func setAside(ofLossRecord name: String) -> String? {
        guard name.hasPrefix(lossPrefix), name.hasSuffix(".json") else { return nil }
        return setAsidePrefix + name.dropFirst(lossPrefix.count).dropLast(".json".count) + ".sqlite"
    }
}
