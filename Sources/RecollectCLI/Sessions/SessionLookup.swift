#if CommandLine
    import Foundation
    import Recollect

    /// How sessions are named on the command line: by an id or any beginning of it that no other has.
    ///
    /// What lists show comes first: a discarded session is found by a beginning that none of these has, a branch by its whole id.
    extension StoreOptions {
        /// The one session whose id is `prefix` or begins with it.
        func session(_ prefix: String, in history: any HistoryStore) async throws -> Conversation {
            if let exact = try await history.conversation(ConversationID(userId: user, sessionId: prefix)) {
                return exact
            }
            let found = try await history.conversations(of: user, sessionIdPrefix: prefix, limit: 6)
            return try Self.one(
                of: found.isEmpty ? try await discarded(beginningWith: prefix, in: history) : found, \.id.sessionId,
                beginningWith: prefix, kind: "session", "`recall sessions` lists those there are")
        }

        /// The sessions that several arguments name, each once.
        func sessions(_ prefixes: [String], in history: any HistoryStore) async throws -> [Conversation] {
            var sessions: [Conversation] = []
            for prefix in prefixes {
                let session = try await session(prefix, in: history)
                if !sessions.contains(where: { $0.id == session.id }) { sessions.append(session) }
            }
            return sessions
        }

        /// The one discarded session whose id is `prefix` or begins with it.
        func discardedSession(_ prefix: String, in history: any HistoryStore) async throws -> Conversation {
            let found = try await discarded(beginningWith: prefix, in: history)
            if let exact = found.first(where: { $0.id.sessionId.hasSameBytes(as: prefix) }) { return exact }
            return try Self.one(
                of: found, \.id.sessionId, beginningWith: prefix, kind: "discarded session",
                "`recall sessions --discarded` lists those there are")
        }

        /// The one branch of a session whose id is `prefix` or begins with it.
        func branch(_ prefix: String, of session: Conversation, in history: any HistoryStore) async throws
            -> Conversation
        {
            let found = try await history.branches(of: session.id)
                .filter { $0.id.sessionId.utf8.starts(with: prefix.utf8) }
            return try Self.one(
                of: found, \.id.sessionId, beginningWith: prefix, kind: "branch of that session",
                "`recall branches` lists those there are")
        }

        /// The one message of a session whose id is `prefix` or begins with it.
        func message(_ prefix: String, of session: Conversation, in history: any HistoryStore) async throws -> String {
            if try await history.message(prefix, in: session.id) != nil { return prefix }
            var found: [String] = []
            try await history.forEachPage(of: session.id) { page in
                // Several agents may hold messages of one id.
                for id in page.map(\.message.id)
                where id.utf8.starts(with: prefix.utf8) && !found.contains(where: id.hasSameBytes) { found.append(id) }
            }
            return try Self.one(
                of: found, \.self, beginningWith: prefix, kind: "message of that session",
                "`recall show --ids` tells them")
        }

        /// The beginning of a session's id that finds it again: at least eight characters, more where others begin alike.
        /// - Parameter others: ids that are no more in lists, and must be told apart from it too.
        func shortId(of sessionId: String, in history: any HistoryStore, among others: [String] = []) async throws
            -> String
        {
            var short = String(sessionId.prefix(8))
            while !short.hasSameBytes(as: sessionId) {
                let listed = try await history.conversations(of: user, sessionIdPrefix: short, limit: 2)
                let alike =
                    listed.map(\.id.sessionId) + others.filter { $0.utf8.starts(with: short.utf8) }
                guard let other = alike.first(where: { !$0.hasSameBytes(as: sessionId) }) else { break }
                let common = sessionId.commonPrefix(with: other).count
                short = String(sessionId.prefix(max(short.count, common) + 1))
            }
            return short
        }

        private func discarded(beginningWith prefix: String, in history: any HistoryStore) async throws
            -> [Conversation]
        {
            var found: [Conversation] = []
            try await history.forEachPage(of: ConversationQuery(userId: user, isDiscarded: true)) { page in
                found += page.filter { $0.id.sessionId.utf8.starts(with: prefix.utf8) }
            }
            return found
        }

        private static func one<Element>(
            of found: [Element], _ id: (Element) -> String, beginningWith prefix: String, kind: String, _ advice: String
        ) throws -> Element {
            // All begin with nothing, also the only one: it is what a shell makes of a variable that was not set.
            guard !prefix.isEmpty else {
                throw RecollectError(.invalidArgument, "an empty id names no \(kind); \(advice)")
            }
            guard let first = found.first else {
                throw RecollectError(.notFound, "no \(kind) begins with '\(prefix.visible)'; \(advice)")
            }
            guard found.count > 1 else { return first }
            let ids = found.prefix(5).map { "\n  \(id($0).visible)" } + (found.count > 5 ? ["\n  …"] : [])
            throw RecollectError(
                .ambiguous,
                "more than one \(kind) begins with '\(prefix.visible)'; write more of it:\(ids.joined())")
        }
    }
#endif
