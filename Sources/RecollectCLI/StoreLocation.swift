#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectPostgres
    import RecollectTranscripts

    /// The location of sessions: a path and the kind of its content.
    struct StoreLocation: ExpressibleByArgument {
        /// The kind of content at a path.
        enum Kind: String, CaseIterable {
            /// A Recollect history.
            case store
            /// Chat files written by `FileChatStorage` or by Agent Squad's file storage.
            case files
            /// Transcripts, the input of an import.
            case transcripts
            /// A Recollect history in PostgreSQL. The path is the URL of the database.
            case database
        }

        /// The kind named by the argument; `nil` to detect it.
        var kind: Kind?
        var path: String

        init(kind: Kind?, path: String) {
            self.kind = kind
            self.path = path
        }

        init?(argument: String) {
            if Self.isDatabase(argument) {
                self.init(kind: .database, path: argument)
                return
            }
            let named = [Kind.store, .files].first { argument.hasPrefix("\($0.rawValue):") }
            self.init(kind: named, path: named.map { String(argument.dropFirst($0.rawValue.count + 1)) } ?? argument)
            if path.isEmpty { return nil }
        }

        /// Whether a string is meant as the address of a PostgreSQL database. A mistyped one must not name a folder: it may contain a
        /// password.
        static func isDatabase(_ text: String) -> Bool {
            let text = text.lowercased()
            return text.firstMatch(of: /^\s*(store:|files:)?\s*postgres(ql)?:/) != nil || text.contains("password=")
                || text.firstMatch(of: /^\s*(host|hostaddr|dbname|service)\s*=/) != nil
        }

        /// Whether the location holds a Recollect history.
        var isHistory: Bool { kind == .store || kind == .database }

        /// The location for messages: the path, or the servers and the name of a database, without a password.
        var name: String {
            guard kind == .database else { return path }
            #if Postgres
                if let history = try? PostgresHistoryStore(url: path) { return history.description }
            #endif
            return "a PostgreSQL database"
        }

        var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

        /// The standardized path, with symbolic links resolved as far as it exists; the name of a database.
        var resolved: String { kind == .database ? name : url.resolvingSymlinksInPath().standardizedFileURL.path }

        /// Returns the location with its kind detected. A source of the kind `files` becomes `transcripts`, for the
        /// import.
        /// - Throws: `notFound` for a missing source.
        func detected(isSource: Bool) throws -> StoreLocation {
            guard kind == nil || isSource && kind == .files else { return self }
            if isSource {
                guard FileManager.default.fileExists(atPath: path) else {
                    throw RecollectError(.notFound, "\(path) does not exist")
                }
                return StoreLocation(kind: kind == nil && holdsHistory ? .store : .transcripts, path: path)
            }
            let holdsChats = try !holdsHistory && !AgentSquadFormat().transcripts(at: resolved).isEmpty
            return StoreLocation(kind: holdsChats ? .files : .store, path: path)
        }

        private var holdsHistory: Bool { SQLiteHistoryStore.isHistory(at: url) }
    }
#endif
