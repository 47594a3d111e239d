import RecollectCore

/// Checks of rule 4: within a scope, an ID names one message, and its first content stays.
enum IdentityChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "identity.knownIdKeepsItsFirstContent", rule: 4,
            "Saving a known id again changes neither its content nor its place."
        ) { store in
            let messages = SampleData.dialogue(4)
            try await store.add(messages, to: .plain)
            let changed = ConversationMessage(
                id: "m1", role: .user, parts: [.text("other words"), .toolResult(id: "t", content: "x")],
                timestamp: messages[3].timestamp, metadata: ["edited": true])
            try await store.add(changed, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "after other content for m1")
        },
        ChatStorageCheck(
            "identity.retryIsHarmless", rule: 4,
            "A batch saved again, as after an error of unknown outcome, adds nothing."
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
            "identity.retryAddsWhatIsNew", rule: 4,
            "A batch that holds known and new messages adds the new ones, in order."
        ) { store in
            let messages = SampleData.dialogue(6)
            try await store.add(Array(messages[..<4]), to: .plain)
            try await store.add(Array(messages[2...]), to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "two batches that overlap")
        },
        ChatStorageCheck(
            "identity.onceInABatch", rule: 4,
            "An id that stands twice in one batch is kept once, with its first content."
        ) { store in
            let first = SampleData.message(.user, "same", "first")
            let batch = [first, SampleData.message(.assistant, "a"), SampleData.message(.user, "same", "second")]
            try await store.add(batch, to: .plain)
            try await expectMessages(store.messages(in: .plain), Array(batch[..<2]), "a batch that repeats an id")
        },
        ChatStorageCheck(
            "identity.endsWithItsSession", rule: 4,
            "The same id in another session, or of another user, is another message."
        ) { store in
            let scopes = [Scope.plain, Scope.plain.session("b"), Scope.plain.user("b")]
            for (number, scope) in scopes.enumerated() {
                try await store.add(SampleData.message(.user, "same", "text \(number)"), to: scope)
            }
            for (number, scope) in scopes.enumerated() {
                let messages = try await store.messages(in: scope)
                try expectIDs(messages, ["same"], "the id in \(scope.shown)")
                try expectEqual(messages[0].text, "text \(number)", "its text in \(scope.shown)")
            }
        },
        ChatStorageCheck(
            "identity.ofEachAgent", rule: 4,
            "The same message saved for two agents of a session is kept for both, and so is other content under its id."
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
            "identity.comparesBytes", rule: 4, "Message ids are any strings, compared as bytes."
        ) { store in
            let ids = AwkwardIDs.all.filter { !$0.contains("\u{0}") }
            let messages = ids.enumerated().map { SampleData.message($0.isMultiple(of: 2) ? .user : .assistant, $1) }
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages with awkward ids")
        },
        ChatStorageCheck(
            "identity.keepsNULInIds", rule: 4, "U+0000 in a message's id neither ends it nor is lost.", needs: .keepsNUL
        ) { store in
            let ids = ["a", "a\u{0}", "a\u{0}b", "\u{0}", "b\u{0}"]
            let messages = ids.enumerated().map { SampleData.message($0.isMultiple(of: 2) ? .user : .assistant, $1) }
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "ids with U+0000")
        },
    ]
}
