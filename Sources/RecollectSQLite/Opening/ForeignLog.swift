import Foundation
import RecollectCore
import RecollectFileSystem

extension HistoryFiles {
    /// Renames a foreign file under the log's name. SQLite would treat it as an empty log, overwrite it, and
    /// finally remove it.
    ///
    /// Call it under the process lock, before SQLite opens the database. Returns the event to post; `nil` if there
    /// is no such file.
    func setForeignLogAside() throws -> StoreEvent? {
        try Self.onDisk(URL(fileURLWithPath: writeAheadLog), doing: "set aside") {
            let folder = try OpenFolder(path: folder)
            guard try DamagedPages.hasForeignLog(in: folder, database: databaseName) else { return nil }
            let name = "\(databaseName).foreign-\(Self.newStamp())-wal"
            try folder.rename(databaseName + "-wal", to: name)
            try folder.synchronize()
            return StoreEvent(
                kind: .foreignFile, setAsideURL: URL(fileURLWithPath: folder.path(of: name), isDirectory: false))
        }
    }
}
