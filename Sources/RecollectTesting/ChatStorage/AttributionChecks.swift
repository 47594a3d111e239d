import RecollectCore

/// Checks of rule 5: the merged view names the agent of each reply.
enum AttributionChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "attribution.prefixesAssistantText", rule: 5,
            "fetchAllChats prefixes the text of assistant messages with [agentId]."
        ) { store in
            for (number, agent) in ["weather", "a b", "", "[x]", "é"].enumerated() {
                let scope = Scope.plain.session("session \(number)").agent(agent)
                try await store.add(SampleData.message(.assistant, "a", "Sunny.\nAll day."), to: scope)
                let merged = try await store.merged(scope.session)
                try expectEqual(
                    merged.map(\.text), ["[\(agent)] Sunny.\nAll day."], "the merged text of \(agent.debugDescription)")
            }
        },
        ChatStorageCheck(
            "attribution.leavesOtherRolesUnchanged", rule: 5, "fetchAllChats returns messages of other roles unchanged."
        ) { store in
            let messages = [
                SampleData.message(.user, "u"), SampleData.message(.system, "s"), SampleData.result("r", of: "1"),
                SampleData.message(Role(rawValue: "critic"), "c"),
            ]
            try await store.add(messages, to: .plain)
            try await expectMessages(
                store.merged(Scope.plain.session), messages, "fetchAllChats without an assistant")
        },
        ChatStorageCheck(
            "attribution.prefixesMessagesWithoutText", rule: 5,
            "An assistant message without text gets the prefix as a new first part; tool calls stay unchanged."
        ) { store in
            let call = SampleData.call("c", of: "1")
            let mixed = ConversationMessage(
                id: "m", role: .assistant,
                parts: [
                    .thinking("hm", signature: "s"), .text("one"), .text("two"),
                    .toolCall(id: "2", name: "x", arguments: [:]),
                ],
                timestamp: call.timestamp)
            try await store.add([call, mixed], to: .plain)
            let merged = try await store.merged(Scope.plain.session)
            try expectIDs(merged, ["c", "m"], "fetchAllChats")
            try expectEqual(merged[0].parts, [.text("[agent]")] + call.parts, "the parts of a message with a tool call")
            var parts = mixed.parts
            parts[1] = .text("[agent] one")
            try expectEqual(merged[1].parts, parts, "the parts of a message with several parts")
        },
        ChatStorageCheck(
            "attribution.isNeverStored", rule: 5,
            "Only fetchAllChats adds the prefix, once; fetch returns messages without it."
        ) { store in
            let messages = SampleData.dialogue(4)
            try await store.add(messages, to: .plain)
            let merged = try await store.merged(Scope.plain.session)
            try await expectMessages(store.merged(Scope.plain.session), merged, "a second fetchAllChats")
            try await expectMessages(store.messages(in: .plain), messages, "fetch after fetchAllChats")
            try expectEqual(merged[1].text, "[agent] text of m1", "the merged text")
        },
    ]
}
