import Foundation
import RecollectCore

/// Checks of rule 5: messages are in the order of saving; the merged view sorts by timestamp and reorders no scope.
enum OrderChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "order.followsSaveOrder", rule: 5,
            "A scope returns messages in the order they were saved, regardless of timestamps."
        ) { store in
            let backwards = (0..<10).map { index in
                SampleData.message(
                    index.isMultiple(of: 2) ? .user : .assistant, "m\(index)", at: Int64(-index) * 60_000)
            }
            try await store.add(Array(backwards[..<4]), to: .plain)
            for message in backwards[4...] { try await store.add(message, to: .plain) }
            try await expectMessages(store.messages(in: .plain), backwards, "messages with decreasing timestamps")
            try await expectMessages(store.messages(in: .plain, last: 4), backwards.suffix(4), "the last 4 messages")
        },
        ChatStorageCheck(
            "order.equalTimestampsKeepSaveOrder", rule: 5,
            "Messages with equal timestamps stay in the order they were saved."
        ) { store in
            let messages = (0..<60).map {
                SampleData.message($0.isMultiple(of: 2) ? .user : .assistant, "m\(97 * $0 % 60)")
            }
            for start in stride(from: 0, to: 60, by: 6) {
                try await store.add(Array(messages[start..<(start + 6)]), to: .plain)
            }
            try await expectMessages(store.messages(in: .plain), messages, "messages with equal timestamps")
            let merged = messages.map { $0.attributed(agentId: "agent") }
            try await expectMessages(
                store.merged(Scope.plain.session), merged, "fetchAllChats of messages with equal timestamps")
        },
        ChatStorageCheck(
            "order.mergesByTimestamp", rule: 5, "fetchAllChats merges the agents of a session by timestamp."
        ) { store in
            try await save(["b": [10, 30, 50], "a": [20, 40, 45], "c": [1, 60]], in: store)
            let merged = try await store.merged(Scope.plain.session)
            try expectIDs(
                merged, ["c1", "b10", "a20", "b30", "a40", "a45", "b50", "c60"], "fetchAllChats of three agents")
        },
        ChatStorageCheck(
            "order.mergeKeepsScopeOrder", rule: 5,
            "fetchAllChats keeps the saved order within each scope, regardless of timestamps."
        ) { store in
            try await save(["a": [10, 5, 40], "b": [20, 7, 30]], in: store)
            let merged = try await store.merged(Scope.plain.session)
            try expectIDs(
                merged, ["a10", "a5", "b20", "b7", "b30", "a40"], "fetchAllChats of agents with unordered timestamps")
        },
        ChatStorageCheck(
            "order.tiesAreSortedByAgentID", rule: 5,
            "fetchAllChats sorts messages with equal timestamps by the bytes of their agent IDs."
        ) { store in
            let agents = ["b", "e\u{301}", "", "\u{E9}", "a b", "B", "a", "Z", "10", "9"]
            for agent in agents {
                try await store.add(SampleData.message(.user, "of \(agent)"), to: Scope.plain.agent(agent))
            }
            let sorted = agents.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try await expectIDs(
                store.merged(Scope.plain.session), sorted.map { "of \($0)" },
                "fetchAllChats of agents with equal timestamps")
        },
        ChatStorageCheck(
            "order.keepsMilliseconds", rule: 5,
            "Timestamps keep their milliseconds, including dates before 1970 and in the far future."
        ) { store in
            let dates: [Int64] = [
                SampleData.start, 1_700_000_000_001, 1_700_000_000_999, 1, 0, -1, -86_400_001, 253_402_300_799_999,
                4_102_444_800_007,
            ]
            let messages = dates.enumerated().map { index, date in
                ConversationMessage(
                    id: "m\(index)", role: index.isMultiple(of: 2) ? .user : .assistant, text: "at \(date)",
                    timestamp: Date(millisecondsSince1970: date))
            }
            try await store.add(messages, to: .plain)
            let came = try await store.messages(in: .plain)
            try expectIDs(came, messages.map(\.id), "messages")
            try expectEqual(came.map(\.timestamp.millisecondsSince1970), dates, "timestamps in milliseconds")
            try expectEqual(came.map(\.timestamp), messages.map(\.timestamp), "timestamps as dates")
        },
    ]

    /// Saves messages with their agent and offset as IDs, one agent at a time.
    private static func save(_ offsets: [String: [Int64]], in store: any ChatStorage) async throws {
        for (agent, offsets) in offsets.sorted(by: { $0.key < $1.key }) {
            let messages = offsets.enumerated().map { index, offset in
                SampleData.message(index.isMultiple(of: 2) ? .user : .system, "\(agent)\(offset)", at: offset)
            }
            try await store.add(messages, to: Scope.plain.agent(agent))
        }
    }
}
