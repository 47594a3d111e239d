import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Comparison of a library with its model.
extension LibraryLife {
    func messages(of session: String) async throws -> [LibraryModel.Message] {
        try await LibraryReplica.messages(of: id(session), in: history)
    }

    /// The differences from the model and from rebuilt derived data.
    mutating func faults(isThorough: Bool) async throws -> [String] {
        var faults: [String] = []
        for (name, session) in model.sessions {
            let held = try await messages(of: name)
            if held != session.messages {
                let pairs = zip(held, session.messages).first { $0 != $1 }
                faults.append(
                    "the messages of \(name): \(pairs.map { "\($0), model \($1)" } ?? "\(held.count), model \(session.messages.count)")"
                )
            }
            guard let summary = try await history.session(id(name)) else {
                faults.append("\(name) is missing")
                continue
            }
            if summary.messageCount != session.messages.count { faults.append("the count of \(name)") }
            if summary.title != session.title { faults.append("the title of \(name)") }
            if Set(summary.tags) != session.tags { faults.append("the tags of \(name)") }
            if summary.isPinned != session.isPinned { faults.append("the pin of \(name)") }
            if (summary.discardedAt != nil) != session.isDiscarded { faults.append("the discarded state of \(name)") }
            if summary.branchPoint?.sessionId != session.origin { faults.append("the origin of \(name)") }
        }
        let latest = try await history.latestChangeCursor()
        if latest < self.latest { faults.append("the feed went back") }
        try await replica.follow(history, user)
        let fresh = try await LibraryReplica(reading: history, user)
        if let difference = replica.difference(from: fresh) { faults.append("the replica has \(difference)") }
        if Set(fresh.sessions.keys) != Set(model.sessions.keys.map(ByteString.init)) { faults.append("the sessions") }
        guard isThorough else { return faults }
        return try await faults + deepFaults()
    }

    private func deepFaults() async throws -> [String] {
        var faults = try await history.check().problems.map { "check: \($0.message)" }
        let before = try await history.write { try DerivedTables(settling: $0) }
        let after = try await history.write { try DerivedTables(rebuilding: $0) }
        faults += before.differences(from: after)
        if try await !history.erasesAll() { faults.append("an erasure that does not end") }
        faults += try await history.read { try DerivedTables.orphans($0) }
        let used = try await history.read { try DerivedTables.attachments($0) }
        if used != model.attachments { faults.append("the attachments in use") }
        for word in Self.words {
            for agent in [nil, "a", "b", "ui"] {
                let hits = try await Set(
                    history.search(SearchQuery(userId: user, text: word, agentId: agent, limit: .max)).elements
                        .map(\.messageId))
                let wanted = model.sessions.filter { !isOutOfSight($0.value) }.flatMap(\.value.messages).filter {
                    (agent == nil || $0.agent == agent) && $0.message.says(word)
                }
                // A copy is found once, even with a derived ID after a merge. Each created message has a unique text.
                let found = Set(wanted.lazy.map(\.message).filter { hits.contains($0.id) }.map(\.text))
                let isComplete = wanted.allSatisfy { found.contains($0.message.text) }
                if !isComplete || !hits.isSubset(of: wanted.map(\.message.id)) {
                    let missing = wanted.filter { !found.contains($0.message.text) }.map(\.message.id)
                    let strange = hits.subtracting(wanted.map(\.message.id))
                    faults.append(
                        "results for \(word), agent \(agent ?? "any"): missing \(missing), unexpected \(strange)")
                }
            }
            for (name, session) in model.sessions where !isOutOfSight(session) {
                let hits = try await history.search(SearchQuery(userId: user, text: word, sessionId: name, limit: .max))
                // Equal messages of several agents are found once.
                let wanted = session.messages.filter { $0.message.says(word) }.reduce(into: [ConversationMessage]()) {
                    found, held in
                    let message = held.message.asKept
                    if !found.contains(where: {
                        $0.id == message.id && $0.role == message.role && $0.parts == message.parts
                    }) {
                        found.append(message)
                    }
                }.map(\.id)
                if hits.elements.map(\.messageId).sorted() != wanted.sorted() {
                    faults.append("results for \(word) in \(name)")
                }
            }
        }
        return faults
    }

    private func isOutOfSight(_ session: LibraryModel.ModelSession) -> Bool {
        session.isDiscarded || session.origin.flatMap { model.sessions[$0]?.isDiscarded } == true
    }
}

extension ConversationMessage {
    fileprivate func says(_ word: String) -> Bool {
        parts.contains { part in
            switch part {
            case .text(let text), .thinking(let text, _): text.hasPrefix(word)
            default: false
            }
        }
    }
}
