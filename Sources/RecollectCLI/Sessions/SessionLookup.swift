#if CommandLine
    import Foundation
    import Recollect

    /// Finds sessions by their IDs. An argument is an ID or an unambiguous prefix of one.
    ///
    /// Listed sessions come first: a discarded session is found by a prefix without a match among them, a branch
    /// only by its whole ID.
    extension StoreOptions {
        /// Returns the one session with an ID equal to `prefix` or beginning with it.
        /// - Throws: `notFound`, `ambiguous`, or `invalidArgument` for an empty prefix.
        func session(_ prefix: String, in history: any HistoryStore) async throws -> Session {
            if let exact = try await history.session(SessionKey(userId: user, sessionId: prefix)) {
                return exact
            }
            let found = try await history.sessions(of: user, sessionIdPrefix: prefix, limit: 6)
            return try Self.one(
                of: found.isEmpty ? try await discarded(beginningWith: prefix, in: history) : found, \.id.sessionId,
                beginningWith: prefix, kind: "session", "to list them: recall sessions")
        }

        /// Returns the sessions of several arguments, each once.
        func sessions(_ prefixes: [String], in history: any HistoryStore) async throws -> [Session] {
            var sessions: [Session] = []
            for prefix in prefixes {
                let session = try await session(prefix, in: history)
                if !sessions.contains(where: { $0.id == session.id }) { sessions.append(session) }
            }
            return sessions
        }

        /// Returns the one discarded session with an ID equal to `prefix` or beginning with it.
        func discardedSession(_ prefix: String, in history: any HistoryStore) async throws -> Session {
            let found = try await discarded(beginningWith: prefix, in: history)
            if let exact = found.first(where: { $0.id.sessionId.hasSameBytes(as: prefix) }) { return exact }
            return try Self.one(
                of: found, \.id.sessionId, beginningWith: prefix, kind: "discarded session",
                "to list them: recall sessions --discarded")
        }

        /// Returns the one branch of a session with an ID equal to `prefix` or beginning with it.
        func branch(_ prefix: String, of session: Session, in history: any HistoryStore) async throws
            -> Session
        {
            let found = try await history.branches(of: session.id)
                .filter { $0.id.sessionId.utf8.starts(with: prefix.utf8) }
            return try Self.one(
                of: found, \.id.sessionId, beginningWith: prefix, kind: "branch of the session",
                "to list them: recall branches")
        }

        /// Returns the one message ID of a session equal to `prefix` or beginning with it.
        func message(_ prefix: String, of session: Session, in history: any HistoryStore) async throws -> String {
            if try await history.message(prefix, in: session.id) != nil { return prefix }
            var found: [String] = []
            try await history.forEachPage(of: session.id) { page in
                // Messages of several agents may have the same ID.
                for id in page.map(\.message.id)
                where id.utf8.starts(with: prefix.utf8) && !found.contains(where: id.hasSameBytes) { found.append(id) }
            }
            return try Self.one(
                of: found, \.self, beginningWith: prefix, kind: "message of the session",
                "to list them: recall show --ids")
        }

        /// Returns an unambiguous prefix of a session's ID: at least eight characters, more if other IDs begin
        /// alike.
        /// - Parameter others: Other IDs to distinguish from, of sessions not in lists.
        func shortId(of sessionId: String, in history: any HistoryStore, among others: [String] = []) async throws
            -> String
        {
            var short = String(sessionId.prefix(8))
            while !short.hasSameBytes(as: sessionId) {
                let listed = try await history.sessions(of: user, sessionIdPrefix: short, limit: 2)
                let alike =
                    listed.map(\.id.sessionId) + others.filter { $0.utf8.starts(with: short.utf8) }
                guard let other = alike.first(where: { !$0.hasSameBytes(as: sessionId) }) else { break }
                let common = sessionId.commonPrefix(with: other).count
                short = String(sessionId.prefix(max(short.count, common) + 1))
            }
            return short
        }

        private func discarded(beginningWith prefix: String, in history: any HistoryStore) async throws
            -> [Session]
        {
            var found: [Session] = []
            try await history.forEachPage(of: SessionQuery(userId: user, isDiscarded: true)) { page in
                found += page.filter { $0.id.sessionId.utf8.starts(with: prefix.utf8) }
            }
            return found
        }

        private static func one<Element>(
            of found: [Element], _ id: (Element) -> String, beginningWith prefix: String, kind: String, _ advice: String
        ) throws -> Element {
            // Every ID begins with an empty prefix. A shell passes one for an unset variable.
            guard !prefix.isEmpty else {
                throw RecollectError(.invalidArgument, "an empty ID matches no \(kind); \(advice)")
            }
            guard let first = found.first else {
                throw RecollectError(.notFound, "no \(kind) has an ID that begins with '\(prefix.visible)'; \(advice)")
            }
            guard found.count > 1 else { return first }
            let ids = found.prefix(5).map { "\n  \(id($0).visible)" } + (found.count > 5 ? ["\n  …"] : [])
            throw RecollectError(
                .ambiguous,
                "more than one \(kind) has an ID that begins with '\(prefix.visible)'; use a longer prefix:\(ids.joined())"
            )
        }
    }
#endif
