import Foundation
import Recollect

/// Turns like those of people: a short question, a longer answer.
enum Turn {
    static let question = "How do I keep the last hundred messages of a session without reading all of them?"
    static let answer = String(
        repeating: "Keep an index on the scope and the position, and read backwards from its end. ", count: 5)

    static func messages(_ number: Int) -> [ConversationMessage] {
        let time = Date(timeIntervalSince1970: 1_760_000_000 + Double(number))
        return [
            ConversationMessage(role: .user, text: question, timestamp: time),
            ConversationMessage(role: .assistant, text: answer, timestamp: time),
        ]
    }
}

/// Saves turns of two messages in one session: compared with the baseline, and the last tenth compared with the first.
func saveLines(durability: Durability, turns: Int) async throws -> [Line] {
    let isFull = durability == .full
    let name = isFull ? "`.full`" : "`.relaxed`"
    let (ours, baseline) = try await saveSamples(durability: durability, turns: turns)
    let (first, last) = (ours.slice(0..<0.1), ours.slice(0.9..<1))
    return [
        Line(
            "save a 2-message turn, \(name), of \(turns)", ours, baseline, stretches: turns / 100,
            atMost: isFull ? 1.25 : 1.9),
        Line(
            work: "the 99th percentile of these turns, compared with that of the baseline", ours: Line.text(ours.worst),
            baseline: Line.text(baseline.worst), ratio: ours.worst / baseline.worst, target: isFull ? "≤ 2.5" : "",
            isMet: isFull ? ours.worst / baseline.worst <= 2.5 : nil),
        // The change of the baseline shows the machine's part in it.
        Line(
            work:
                "the last tenth of these turns; the baseline is the first tenth. Ratio for the plain baseline: "
                + String(format: "%.2f", baseline.slice(0.9..<1).median / baseline.slice(0..<0.1).median),
            ours: Line.text(last.median), worst: Line.text(last.worst), baseline: Line.text(first.median),
            ratio: last.median / first.median, target: "≤ 1.2", isMet: last.median / first.median <= 1.2),
    ]
}

private func saveSamples(durability: Durability, turns: Int) async throws -> (ours: Samples, baseline: Samples) {
    let folder = try Folder()
    let configuration = HistoryConfiguration(durability: durability, indexesInBackground: false)
    let history = SQLiteHistoryStore(directory: folder.url, configuration: configuration)
    let store = DeviceChatStorage(history: history, userId: "bench")
    let bare = try BareHistory(path: folder.path("bare.sqlite"), synchronous: durability == .full ? "FULL" : "NORMAL")
    var ours = Samples()
    var baseline = Samples()
    let stretch = 100
    for start in stride(from: 0, to: turns, by: stretch) {
        for turn in start..<min(turns, start + stretch) {
            let messages = Turn.messages(turn)
            ours.add(
                try await time {
                    try await store.saveMessages(
                        messages, userId: "bench", sessionId: "session", agentId: "agent", maxMessages: nil)
                })
        }
        for turn in start..<min(turns, start + stretch) {
            baseline.add(try time { try bare.save(session: "session", Turn.question, Turn.answer, at: Int64(turn)) })
        }
    }
    await history.close()
    return (ours, baseline)
}
