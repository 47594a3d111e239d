import Foundation
import RecollectCore

/// Checks of rule 6 for transcripts: saves are complete or absent, even large, random and repeated ones.
enum TranscriptSaveChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "transcript.failedSaveKeepsPrevious", rule: 6,
            "A transcript with a number JSON cannot represent (infinity) is saved, or the previous one is kept."
        ) { store in
            let before = SampleData.transcript(4)
            try await store.fill("s", before)
            var impossible = SampleData.entry("impossible", .assistant)
            impossible.metadata = ["value": .number(.infinity)]
            let batch = [before[3], SampleData.entry("new"), impossible, SampleData.entry("last"), before[0]]
            var expected = before.map(\.id)
            do {
                try await store.updateSessionMessages(id: "s", messages: batch)
                expected = batch.map(\.id)
            } catch {}
            try await expectEqual(store.transcript(of: "s").map(\.id), expected, "the message IDs after the save")
            try await store.updateSessionMessages(id: "s", messages: Array(before[1...]))
            try await expectTranscript(
                store.transcript(of: "s"), Array(before[1...]), "the transcript after the next save")
        },
        SessionStorageCheck(
            "transcript.canceledDuringSaveReturnsActualResult", rule: 6,
            "A save canceled while it runs returns with everything saved, or throws with nothing changed.",
            needs: .concurrent
        ) { store in
            let before = SampleData.transcript(4)
            let after = Array(before[2...]) + SampleData.transcript(4, from: 4)
            try await together(32) { number in
                let id = "s\(number)"
                try await store.fill(id, before)
                let task = Task {
                    while number == 0 && !Task.isCancelled { await Task.yield() }
                    try await store.updateSessionMessages(id: id, messages: after)
                }
                // Different delays cancel the save at different points.
                for _ in 0..<(number * 3) { await Task.yield() }
                task.cancel()
                var expected = after
                do { try await task.value } catch { expected = before }
                try await expectTranscript(store.transcript(of: id), expected, "the transcript after a canceled save")
            }
        },
        SessionStorageCheck(
            "transcript.randomSaves", rule: 5,
            "After each of many random edits, insertions, removals, moves and renames, the last save is returned."
        ) { store, random in
            var random = random
            let seed = random.seed
            var sessions: [String: [ChatMessage]] = ["a": [], "b": []]
            for step in 0..<150 {
                let id = random.next() % 2 == 0 ? "a" : "b"
                let what = "session \(id) after step \(step) of seed \(seed)"
                do {
                    if random.next() % 20 == 0 {
                        try await store.updateSessionId(oldId: id, newId: "between")
                        try await store.updateSessionId(oldId: "between", newId: id)
                    } else {
                        let messages = Self.changed(sessions[id] ?? [], step, &random)
                        try await store.updateSessionMessages(id: id, messages: messages)
                        sessions[id] = messages
                    }
                } catch {
                    throw BrokenPromise(expected: "\(what): no error", actual: "\(error)")
                }
                try await expectTranscript(store.getSession(id: id)?.messages ?? [], sessions[id] ?? [], what)
            }
        },
        SessionStorageCheck(
            "transcript.largeTranscripts",
            "A transcript of 2,000 messages is saved completely after each of several changes.",
            isLong: true
        ) { store in
            var messages = SampleData.transcript(2000)
            try await store.fill("s", messages)
            for round in 0..<6 {
                messages += SampleData.transcript(1, from: 2000 + round)
                try await store.updateSessionMessages(id: "s", messages: messages)
                messages[round * 300].content += " edited"
                messages.remove(at: 1000)
                messages.insert(SampleData.entry("inserted \(round)"), at: 500)
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(store.transcript(of: "s"), messages, "the transcript after round \(round)")
            }
        },
    ]

    /// Returns a transcript with one to three random changes.
    private static func changed(
        _ messages: [ChatMessage], _ step: Int, _ random: inout SeededGenerator
    ) -> [ChatMessage] {
        var messages = messages
        for change in 0..<Int.random(in: 1...3, using: &random) {
            let new = SampleData.entry("\(step).\(change)", .assistant, at: Int64.random(in: 0...50, using: &random))
            guard let position = messages.indices.randomElement(using: &random) else {
                messages.append(new)
                continue
            }
            switch Int.random(in: 0...5, using: &random) {
            case 0: messages[position].content += "\(step)"
            case 1: messages.remove(at: position)
            case 2: messages.insert(new, at: position)
            case 3: messages.swapAt(position, messages.indices.randomElement(using: &random) ?? position)
            case 4: messages.append(contentsOf: [new, SampleData.entry("\(step).\(change) too")])
            default: messages.removeLast(Int.random(in: 0...min(3, messages.count), using: &random))
            }
        }
        return messages
    }
}
