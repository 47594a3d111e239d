import RecollectCore

/// Checks of rule 3: a message with the role of the last saved one is dropped, except in a tool exchange.
enum SameRoleChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "sameRole.repeatIsDropped", rule: 3,
            "A message with the same role as the last saved message is dropped, for every role.",
            needs: .dropsSameRole
        ) { store in
            for role in [Role.user, .assistant, .system, .tool, Role(rawValue: "critic"), Role(rawValue: "")] {
                let scope = Scope.plain.session("session of \(role.rawValue)")
                try await store.add(SampleData.message(role, "first"), to: scope)
                try await store.add(SampleData.message(role, "second"), to: scope)
                try await expectIDs(store.messages(in: scope), ["first"], "two messages of role \"\(role.rawValue)\"")
            }
        },
        ChatStorageCheck(
            "sameRole.dropsWithinBatch", rule: 3,
            "Within a batch, each message is compared with the last one not dropped.",
            needs: .dropsSameRole
        ) { store in
            let roles: [Role] = [.user, .user, .assistant, .assistant, .assistant, .system, .system, .user, .user]
            let batch = roles.enumerated().map { SampleData.message($1, "m\($0)") }
            try await store.add(batch, to: .plain)
            try await expectIDs(store.messages(in: .plain), ["m0", "m2", "m5", "m7"], "a batch with repeated roles")
        },
        ChatStorageCheck(
            "sameRole.neverDropsToolMessages", rule: 3,
            "Tool calls and tool results are never dropped, whether saved one at a time or in a batch."
        ) { store in
            let exchange = [
                SampleData.message(.user, "ask"), SampleData.call("call 1", of: "1"),
                SampleData.call("call 2", of: "2"),
                SampleData.result("result 1", of: "1"), SampleData.result("result 2", of: "2"),
                SampleData.message(.assistant, "answer"),
            ]
            try await store.add(exchange, to: .plain)
            try await expectMessages(store.messages(in: .plain), exchange, "an exchange in one batch")
            let scope = Scope.plain.session("one by one")
            for message in exchange { try await store.add(message, to: scope) }
            try await expectMessages(store.messages(in: scope), exchange, "an exchange saved one message at a time")
        },
        ChatStorageCheck(
            "sameRole.droppedMessageDoesNotCount", rule: 3,
            "A dropped message does not count as the last message, and its ID can still be saved.",
            needs: .dropsSameRole
        ) { store in
            try await store.add(SampleData.message(.user, "u1"), to: .plain)
            try await store.add(SampleData.message(.user, "again"), to: .plain)
            try await store.add(SampleData.message(.assistant, "a1"), to: .plain)
            try await store.add(SampleData.message(.user, "again", "now it may stay"), to: .plain)
            let messages = try await store.messages(in: .plain)
            try expectIDs(messages, ["u1", "a1", "again"], "messages after a dropped ID is saved again")
            try expectEqual(messages.last?.text, "now it may stay", "the text of the message saved again")
        },
        ChatStorageCheck(
            "sameRole.comparesWithinScope", rule: 3,
            "Messages of other agents, sessions and users do not count as the last message."
        ) { store in
            let scopes = [Scope.plain, Scope.plain.agent("b"), Scope.plain.session("b"), Scope.plain.user("b")]
            for (number, scope) in scopes.enumerated() {
                try await store.add(SampleData.message(.user, "u\(number)"), to: scope)
            }
            for (number, scope) in scopes.enumerated() {
                try await expectIDs(store.messages(in: scope), ["u\(number)"], "the first message of \(scope.shown)")
            }
        },
        ChatStorageCheck(
            "sameRole.resetsWhenWindowIsEmpty", rule: 3,
            "The first message after a trim to an empty window is never dropped."
        ) { store in
            try await store.add(SampleData.message(.user, "u1"), to: .plain, keeping: 0)
            try await store.add(SampleData.message(.user, "u2"), to: .plain)
            try await expectIDs(store.messages(in: .plain), ["u2"], "a message saved after a trim to an empty window")
        },
    ]
}
