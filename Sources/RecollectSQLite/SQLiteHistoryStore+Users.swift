import Foundation
import RecollectCore

extension SQLiteHistoryStore: UserListing {
    /// Returns the IDs of all users with sessions, ordered by their bytes.
    ///
    /// Meant for moving or maintaining a whole history. An app with one user does not need it.
    public func users() async throws -> [String] {
        try await read { db in
            // One query per user: `DISTINCT` reads an index entry for each session.
            var users: [String] = []
            var next = try db.optionalText("SELECT min(user_id) FROM session")
            while let user = next {
                users.append(user)
                next = try db.optionalText("SELECT min(user_id) FROM session WHERE user_id > ?", user)
            }
            return users
        }
    }

    /// Whether a folder contains a history. Checks only for the database's file name. Blocks briefly.
    package static func isHistory(at directory: URL) -> Bool {
        FileManager.default.fileExists(atPath: HistoryFiles(directory: directory).database)
    }
}
