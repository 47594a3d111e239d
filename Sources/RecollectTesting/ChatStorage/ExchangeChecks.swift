import RecollectCore

/// Checks of rule 10: the messages given to an agent can always be reduced to whole exchanges.
enum ExchangeChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "exchanges.removesOnlyIncompleteExchanges", rule: 10,
            "For every budget, wholeExchanges() removes only incomplete exchanges from the fetched window."
        ) { store in
            let history = Self.history
            try await store.add(history, to: .plain)
            for budget in stride(from: 0, through: history.count + 2, by: 2) {
                let window = try await store.messages(in: .plain, last: budget)
                try expectMessages(window, history.suffix(budget), "fetch with a budget of \(budget)")
                let repaired = window.wholeExchanges()
                try expectNoHalf(repaired, "wholeExchanges() of a window of \(budget)")
                try expectMessages(
                    repaired.wholeExchanges(), repaired, "a second wholeExchanges() of a window of \(budget)")
                let prose = window.filter { !$0.belongsToToolExchange }.map(\.id)
                try expectIDs(
                    repaired.filter { !$0.belongsToToolExchange }, prose,
                    "messages outside tool exchanges in a window of \(budget)")
            }
        },
        ChatStorageCheck(
            "exchanges.savesIncompleteExchanges", rule: 10,
            "A store saves a tool call without its result, and later saves the result."
        ) { store in
            let (call, result) = (SampleData.call("c", of: "1"), SampleData.result("r", of: "1"))
            try await store.add([SampleData.message(.user, "u"), call], to: .plain)
            try await expectIDs(store.messages(in: .plain), ["u", "c"], "a tool call without a result")
            try await store.add(result, to: .plain)
            let whole = try await store.messages(in: .plain)
            try expectIDs(whole, ["u", "c", "r"], "a tool call with its result")
            try expectMessages(whole.wholeExchanges(), whole, "wholeExchanges() of a tool call with its result")
        },
    ]

    /// Exchanges of one call, of two calls at once, and of nested calls, with text between them.
    private static let history: [ConversationMessage] = [
        SampleData.message(.user, "u1"), SampleData.call("c1", of: "1"), SampleData.result("r1", of: "1"),
        SampleData.message(.assistant, "a1"), SampleData.message(.user, "u2"), SampleData.call("c2", of: "2"),
        SampleData.call("c3", of: "3"), SampleData.result("r3", of: "3"), SampleData.result("r2", of: "2"),
        SampleData.message(.assistant, "a2"), SampleData.message(.user, "u3"), SampleData.call("c4", of: "4"),
    ]
}

/// Throws if a result has no call before it, or a call no result after it.
func expectNoHalf(_ messages: [ConversationMessage], _ what: String) throws {
    var open: [String] = []
    for part in messages.flatMap(\.parts) {
        switch part {
        case .toolCall(let id, _, _): open.append(id)
        case .toolResult(let id, _):
            let call = open.lastIndex(of: id)
            try expect(call != nil, "\(what): every result after its call", actual: "a result for \(id) without a call")
            open.remove(at: call ?? 0)
        default: continue
        }
    }
    try expect(open.isEmpty, "\(what): every call with its result", actual: "no result for \(open)")
}
