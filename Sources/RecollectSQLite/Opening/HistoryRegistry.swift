import Dispatch
import Foundation
import RecollectFileSystem

/// The databases open in this process, by the identity of their file. Each has one set of connections,
/// independently of the paths used to open it.
///
/// POSIX drops all locks of a process on a file when the process closes any descriptor of this file. So a second
/// set of connections must never be opened and closed beside the first. An entry stays until its closing has
/// *finished*; an opening waits for that.
///
/// `@unchecked Sendable`: `condition` guards `entries`.
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

    /// Returns the open database of a file and adds a user to it; `nil` if none is open. Waits for an opening or
    /// closing in progress, and closes a retired database. Blocks.
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

    /// Registers an opening. Returns false if there is an entry already: an opening, an open database, or a
    /// closing. After true, the caller must call `finish`.
    func begin(_ id: FileID) -> Bool {
        locked {
            guard entries[id] == nil else { return false }
            entries[id] = .opening
            return true
        }
    }

    /// Ends an opening: with the database and its first user, or with `nil` after a failure.
    func finish(_ id: FileID, _ database: HistoryDatabase?, user: AnyObject) {
        locked {
            entries[id] = database.map { .open($0, users: [ObjectIdentifier(user)]) }
            condition.broadcast()
        }
    }

    /// Closes a database for all users, and returns after it is closed. Blocks.
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

    /// Removes a user. A database without users is closed in the background.
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

    /// Closes a database unless it has a new user.
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
