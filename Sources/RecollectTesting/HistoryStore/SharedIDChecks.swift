import RecollectCore

/// Checks of rule 4: several agents of a session may each have a message with the same ID.
enum SharedIDChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "messages.savedForEachAgent", rule: 4,
            "The same message appended for two agents is saved for both and found for each of them."
        ) { store in
            try await Self.fill(store)
            let id = Scope.plain.session
            for agent in ["a", "b"] {
                let scope = Scope.plain.agent(agent)
                try await expectEqual(
                    store.append([Self.question], to: scope), AppendOutcome(alreadyStored: 1),
                    "the outcome of a retry for \(agent)")
                try await expectMessages(
                    store.window(of: scope, maxMessages: nil), [Self.question, Self.answer(of: agent)],
                    "the window of \(agent)")
                let found = try await store.message("q", in: id, agentId: agent)
                try expectEqual(found?.agentId, agent, "the agent of the question, looked up for \(agent)")
            }
            try await expectEqual(
                store.message("q", in: id)?.agentId, "a", "the agent of the first message with the ID")
            try await expectEqual(store.message("q", in: id, agentId: "c"), nil, "a lookup for a third agent")
            try await expectStored(
                store.everything(in: id),
                [("a", Self.question), ("a", Self.answer(of: "a"))]
                    + [("b", Self.question), ("b", Self.answer(of: "b"))], "the pages")
            try await expectEqual(store.summary(id).messageCount, 4, "the message count")
            let changes = try await store.everyChange(after: .beginning).filter { $0.messageId == "q" }
            try expectEqual(changes.map(\.agentId), ["a", "b"], "the agents of the question in the feed")
        },
        HistoryStoreCheck(
            "search.returnsSharedMessagesOnce", rule: 4,
            "Search returns a message of two agents once if its content is equal, and finds it for each agent."
        ) { store in
            try await Self.fill(store)
            let query = SearchQuery(userId: "user", text: "lighthouse")
            try await expectEqual(store.everyHit(query).map(\.messageId), ["q"], "a search of all agents")
            for agent in ["a", "b"] {
                let own = SearchQuery(userId: "user", text: "lighthouse", agentId: agent)
                try await expectEqual(store.everyHit(own).map(\.agentId), [agent], "a search of one agent")
            }
            try await store.append([SampleData.message(.user, "q", "lighthouse, too")], to: Scope.plain.agent("c"))
            try await expectEqual(
                store.everyHit(query).count, 2, "the number of hits with other content of a third agent")
        },
        HistoryStoreCheck(
            "edits.applyToAllAgents", rule: 4,
            "An edit or deletion by ID applies to the messages of all agents with that ID."
        ) { store in
            try await Self.fill(store)
            let id = Scope.plain.session
            let edited = SampleData.message(.user, "q", "harbor?")
            try await expectEqual(store.edit([edited], in: id), 2, "the number of edited messages")
            for agent in ["a", "b"] {
                try await expectMessages(
                    store.window(of: Scope.plain.agent(agent), maxMessages: nil), [edited, Self.answer(of: agent)],
                    "the window of \(agent) after the edit")
            }
            try await expectEqual(store.deleteMessages(["q"], in: id), 2, "the number of deleted messages")
            try await expectIDs(
                store.everything(in: id).map(\.message), ["answer a", "answer b"], "the remaining messages")
            try await expectEqual(store.message("q", in: id), nil, "a lookup of a deleted message")
        },
        HistoryStoreCheck(
            "fork.selectsMessageByAgent", rule: 4,
            "A fork or branch begins at the message of the given agent, or at the first message with the ID."
        ) { store in
            try await Self.fill(store)
            let id = Scope.plain.session
            try await store.fork(id, at: "q", into: "first")
            try await store.fork(id, at: "q", agentId: "b", into: "second")
            try await expectIDs(
                store.everything(in: Scope.plain.session("first").session).map(\.message), ["q"],
                "a fork at the first message with the ID")
            try await expectIDs(
                store.everything(in: Scope.plain.session("second").session).map(\.message),
                ["q", "answer a", "q"], "a fork at the message of the other agent")
            let branch = try await store.branch(id, from: "q", agentId: "b")
            try await expectIDs(
                store.everything(in: id).map(\.message), ["q", "answer a"], "the messages left in a branched session")
            try await store.append([Self.question], to: Scope.plain.agent("b"))
            try await store.restoreBranch(branch, in: id)
            try await expectIDs(
                store.everything(in: id).map(\.message), ["q", "answer a", "q", "answer b"],
                "the messages after restoring the branch")
        },
    ]

    private static let question = SampleData.message(.user, "q", "lighthouse?")

    private static func answer(of agent: String) -> ConversationMessage {
        SampleData.message(.assistant, "answer \(agent)")
    }

    /// Saves one user message for two agents, and a reply of each.
    private static func fill(_ store: any HistoryStore) async throws {
        for agent in ["a", "b"] {
            try await store.append([question, answer(of: agent)], to: Scope.plain.agent(agent))
        }
    }
}
