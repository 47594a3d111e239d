import Dispatch
import Foundation

/// The databases that are open in this process, by the identity of their file: each has one set of connections, whatever names its
/// folder goes by.
///
/// POSIX drops all locks that a process has on a file when it closes any descriptor of that file. So no second set of connections
/// may ever be opened and closed beside the first, and an entry stays until its closing has *finished*; an opening waits for that.
///
/// `@unchecked Sendable`: `entries` is guarded by `condition`.
final class HistoryRegistry: @unchecked Sendable {
    static let shared = HistoryRegistry()

    fileprivate enum Entry {
        case opening
        case open(HistoryDatabase, users: Set<ObjectIdentifier>)
        case closing
    }

    private let condition = NSCondition()
    private var entries: [FileID: Entry] = [:]
    private let closingQueue = DispatchQueue(label: "recollect.history.close", attributes: .concurrent)

    /// The open database of a file, with one user more; `nil` if none is open. Waits for an opening or closing under way, and
    /// closes a database that was retired. Blocks.
    func database(of id: FileID, for user: AnyObject) -> HistoryDatabase? {
        while true {
            let retired: HistoryDatabase? = locked {
                while entries[id].isBusy { condition.wait() }
                guard case .open(let database, _) = entries[id] else { return nil }
                return database
            }
            guard let database = retired else { return nil }
            if locked({ addUser(user, to: database) }) { return database }
            close(database)
        }
    }

    /// Registers an opening. Returns whether there was none, and no database open or closing; the caller must then call `finish`.
    func begin(_ id: FileID) -> Bool {
        locked {
            guard entries[id] == nil else { return false }
            entries[id] = .opening
            return true
        }
    }

    /// Ends an opening, with the database and its first user or, if it failed, without.
    func finish(_ id: FileID, _ database: HistoryDatabase?, user: AnyObject) {
        locked {
            entries[id] = database.map { .open($0, users: [ObjectIdentifier(user)]) }
            condition.broadcast()
        }
    }

    /// Closes a database for all users, and returns when it is closed. Blocks.
    func close(_ database: HistoryDatabase) {
        guard let id = database.id else { return database.close() }
        let isFirst = locked {
            guard case .open(let open, _) = entries[id], open === database else {
                while entries[id].isBusy { condition.wait() }
                return false
            }
            entries[id] = .closing
            return true
        }
        guard isFirst else { return }
        database.close()
        locked {
            entries[id] = nil
            condition.broadcast()
        }
    }

    /// Removes a user. Without its last user a database is closed, in the background.
    func leave(_ database: HistoryDatabase, user: ObjectIdentifier) {
        guard let id = database.id else { return }
        let isLast = locked {
            guard case .open(let open, var users) = entries[id], open === database else { return false }
            users.remove(user)
            entries[id] = .open(open, users: users)
            return users.isEmpty
        }
        guard isLast else { return }
        closingQueue.async { self.closeUnused(database, id) }
    }

    /// Another user may have come meanwhile.
    private func closeUnused(_ database: HistoryDatabase, _ id: FileID) {
        let isUnused = locked {
            guard case .open(let open, let users) = entries[id], open === database, users.isEmpty else { return false }
            entries[id] = .closing
            return true
        }
        guard isUnused else { return }
        database.close()
        locked {
            entries[id] = nil
            condition.broadcast()
        }
    }

    private func addUser(_ user: AnyObject, to database: HistoryDatabase) -> Bool {
        guard let id = database.id, !database.isRetired, case .open(let open, var users) = entries[id],
            open === database
        else { return false }
        users.insert(ObjectIdentifier(user))
        entries[id] = .open(open, users: users)
        return true
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        condition.lock()
        defer { condition.unlock() }
        return body()
    }
}

extension Optional<HistoryRegistry.Entry> {
    fileprivate var isBusy: Bool {
        switch self {
        case .opening, .closing: true
        case .open, nil: false
        }
    }
}
