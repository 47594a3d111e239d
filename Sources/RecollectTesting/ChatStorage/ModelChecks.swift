import RecollectCore

/// Checks of rules 2 to 5 together: random saves, compared with a simple model.
enum ModelChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "model.randomSaves", rule: 5,
            "Hundreds of random saves and fetches (scopes, roles, budgets, retries, timestamps) follow the rules.",
            needs: .dropsSameRole
        ) { store, random in
            var random = random
            let seed = random.seed
            var model = ChatModel()
            for step in 0..<250 {
                let scope = Scope(
                    userId: "u", sessionId: ["s", "s.t"].randomElement(using: &random) ?? "s",
                    agentId: ["a", "b", ""].randomElement(using: &random) ?? "a")
                // Messages under the empty agent ID may be reassigned to another agent (rule 4), so they get IDs
                // of their own.
                let prefix = scope.agentId.isEmpty ? "unassigned " : ""
                let batch = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                    let id = "\(prefix)\(step / 3).\(Int.random(in: 0...5, using: &random))"
                    // A store may or may not recognize the ID of a trimmed message.
                    return Self.message(&random, model.hasTrimmed(id, in: scope) ? "new \(step)" : id)
                }
                let budget = [nil, nil, 0, 1, 2, 3, 5, 8, 20].randomElement(using: &random) ?? nil
                try await store.add(batch, to: scope, keeping: batch.isEmpty ? nil : budget)
                model.save(batch, in: scope, budget: batch.isEmpty ? nil : budget)
                let fetched = [nil, 1, 3, 4, 10].randomElement(using: &random) ?? nil
                let what = "step \(step) of seed \(seed): "
                try await expectMessages(
                    store.messages(in: scope, last: fetched), model.messages(in: scope, last: fetched),
                    what + "fetch of \(fetched.map(String.init) ?? "all") in \(scope.shown)")
                if step.isMultiple(of: 10) {
                    try await expectMessages(
                        store.merged(scope.session), model.merged(scope.session), what + "fetchAllChats")
                }
            }
        }
    ]

    /// Returns a message of any role, sometimes of a tool exchange.
    private static func message(_ random: inout SeededGenerator, _ id: String) -> ConversationMessage {
        let offset = Int64.random(in: 0...50, using: &random)
        switch Int.random(in: 0...4, using: &random) {
        case 0: return SampleData.call(id, of: "t", at: offset)
        case 1: return SampleData.result(id, of: "t", at: offset)
        case 2: return SampleData.message(.assistant, id, at: offset)
        case 3: return SampleData.message(.system, id, at: offset)
        default: return SampleData.message(.user, id, at: offset)
        }
    }
}

/// The rules for saves and fetches in their simplest form.
struct ChatModel {
    private var scopes: [Scope: [ConversationMessage]] = [:]
    private var allSaved: [Scope: Set<ByteString>] = [:]

    mutating func save(_ batch: [ConversationMessage], in scope: Scope, budget: Int?) {
        var messages = scopes[scope] ?? []
        var known = ids(in: scope)
        for message in batch where !known.contains(ByteString(message.id)) {
            if messages.last?.role == message.role && !message.belongsToToolExchange { continue }
            messages.append(message)
            known.insert(ByteString(message.id))
        }
        scopes[scope] = Self.last(budget, of: messages)
        allSaved[scope, default: []].formUnion(known)
    }

    /// Whether the scope once had a message with the ID, and it was trimmed.
    func hasTrimmed(_ id: String, in scope: Scope) -> Bool {
        allSaved[scope]?.contains(ByteString(id)) == true && !ids(in: scope).contains(ByteString(id))
    }

    func messages(in scope: Scope, last budget: Int?) -> [ConversationMessage] {
        Self.last(budget, of: scopes[scope] ?? [])
    }

    func merged(_ session: SessionKey) -> [ConversationMessage] {
        MergedChats.merge(
            scopes.filter { $0.key.session == session }.map {
                AgentMessages(agentId: $0.key.agentId, messages: $0.value)
            })
    }

    private func ids(in scope: Scope) -> Set<ByteString> {
        Set((scopes[scope] ?? []).map { ByteString($0.id) })
    }

    private static func last(_ budget: Int?, of messages: [ConversationMessage]) -> [ConversationMessage] {
        guard let budget else { return messages }
        return budget < 2 ? [] : messages.suffix(budget / 2 * 2)
    }
}
