import Foundation
import RecollectCore

extension SQLiteHistoryStore {
    /// The users that the history holds conversations of, in the order of the bytes of their ids.
    ///
    /// For whoever moves or looks after a whole history; an app that serves one user has no need of it.
    public func users() async throws -> [String] {
        try await read { db in
            // From user to user: `DISTINCT` reads an entry for each conversation.
            var users: [String] = []
            var next = try db.optionalText("SELECT min(user_id) FROM conversation")
            while let user = next {
                users.append(user)
                next = try db.optionalText("SELECT min(user_id) FROM conversation WHERE user_id > ?", user)
            }
            return users
        }
    }

    /// Whether a folder holds a history; looks at a name alone. Blocks for that moment.
    package static func isHistory(at directory: URL) -> Bool {
        FileManager.default.fileExists(atPath: HistoryFiles(directory: directory).database)
    }
}
