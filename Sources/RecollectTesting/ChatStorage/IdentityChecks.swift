import RecollectCore

/// Checks of rule 4: within a scope, an ID names one message, and its first content stays.
enum IdentityChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "identity.knownIDKeepsFirstContent", rule: 4,
            "Saving a known message ID again changes neither its content nor its position."
        ) { store in
            let messages = SampleData.dialogue(4)
            try await store.add(messages, to: .plain)
            let changed = ConversationMessage(
                id: "m1", role: .user, parts: [.text("other words"), .toolResult(id: "t", content: "x")],
                timestamp: messages[3].timestamp, metadata: ["edited": true])
            try await store.add(changed, to: .plain)
            try await expectMessages(
                store.messages(in: .plain), messages, "messages after a save of m1 with other content")
        },
        ChatStorageCheck(
            "identity.retryAddsNothing", rule: 4,
            "Saving a batch again, for example after an error with an unknown outcome, adds nothing."
        ) { store in
            let batch = [
                SampleData.message(.user, "u"), SampleData.call("c", of: "1"), SampleData.result("r", of: "1"),
                SampleData.message(.assistant, "a"),
            ]
            for _ in 0..<3 { try await store.add(batch, to: .plain) }
            try await store.add(batch[1], to: .plain)
            try await expectMessages(store.messages(in: .plain), batch, "a batch saved three times")
        },
        ChatStorageCheck(
            "identity.retryAddsOnlyNewMessages", rule: 4,
            "A batch with known and new messages adds only the new ones, in order."
        ) { store in
            let messages = SampleData.dialogue(6)
            try await store.add(Array(messages[..<4]), to: .plain)
            try await store.add(Array(messages[2...]), to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "two overlapping batches")
        },
        ChatStorageCheck(
            "identity.uniqueWithinBatch", rule: 4,
            "An ID repeated in one batch is saved once, with its first content."
        ) { store in
            let first = SampleData.message(.user, "same", "first")
            let batch = [first, SampleData.message(.assistant, "a"), SampleData.message(.user, "same", "second")]
            try await store.add(batch, to: .plain)
            try await expectMessages(store.messages(in: .plain), Array(batch[..<2]), "a batch with a repeated ID")
        },
        ChatStorageCheck(
            "identity.separatePerSession", rule: 4,
            "The same message ID in another session, or for another user, identifies a different message."
        ) { store in
            let scopes = [Scope.plain, Scope.plain.session("b"), Scope.plain.user("b")]
            for (number, scope) in scopes.enumerated() {
                try await store.add(SampleData.message(.user, "same", "text \(number)"), to: scope)
            }
            for (number, scope) in scopes.enumerated() {
                let messages = try await store.messages(in: scope)
                try expectIDs(messages, ["same"], "the IDs in \(scope.shown)")
                try expectEqual(messages[0].text, "text \(number)", "the text in \(scope.shown)")
            }
        },
        ChatStorageCheck(
            "identity.separatePerAgent", rule: 4,
            "Each agent of a session has its own message under a shared ID, with equal or different content."
        ) { store in
            let question = SampleData.message(.user, "same", "first")
            let (other, third) = (Scope.plain.agent("other"), Scope.plain.agent("third"))
            try await store.add(question, to: .plain)
            let asked = [question, SampleData.message(.assistant, "new")]
            for _ in 0..<2 { try await store.add(asked, to: other) }
            let changed = SampleData.message(.user, "same", "second")
            try await store.add(changed, to: third)
            try await expectMessages(store.messages(in: .plain), [question], "the first agent's messages")
            try await expectMessages(store.messages(in: other), asked, "the other agent's messages, saved twice")
            try await expectMessages(store.messages(in: third), [changed], "the third agent's messages")
            try await expectIDs(
                store.merged(Scope.plain.session), ["same", "same", "new", "same"], "fetchAllChats")
        },
        ChatStorageCheck(
            "identity.comparesBytes", rule: 4, "Message IDs can be any strings and are compared as bytes."
        ) { store in
            let ids = EdgeCaseIDs.all.filter { !$0.contains("\u{0}") }
            let messages = ids.enumerated().map { SampleData.message($0.isMultiple(of: 2) ? .user : .assistant, $1) }
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages with unusual IDs")
        },
        ChatStorageCheck(
            "identity.keepsNULInIDs", rule: 4, "U+0000 in a message ID is preserved and does not terminate the ID.",
            needs: .keepsNUL
        ) { store in
            let ids = ["a", "a\u{0}", "a\u{0}b", "\u{0}", "b\u{0}"]
            let messages = ids.enumerated().map { SampleData.message($0.isMultiple(of: 2) ? .user : .assistant, $1) }
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages with U+0000 in their IDs")
        },
    ]
}
