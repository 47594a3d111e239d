import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Whole exchanges")
struct WholeExchangesTests {
    private func history(_ generator: inout SeededGenerator) -> [ConversationMessage] {
        (0..<Int.random(in: 0...12, using: &generator)).map { index in
            let parts = (0..<Int.random(in: 0...3, using: &generator)).map { _ -> ContentPart in
                let id = String(Int.random(in: 0...3, using: &generator))
                switch Int.random(in: 0...3, using: &generator) {
                case 0: return .toolCall(id: id, name: "n", arguments: [:])
                case 1: return .toolResult(id: id, content: "r")
                case 2: return .text(id)
                default: return .thinking(id, signature: nil)
                }
            }
            return ConversationMessage(id: "\(index)", role: .assistant, parts: parts)
        }
    }

    /// Whether every result follows an open call and every call has a result.
    private func isWhole(_ messages: [ConversationMessage]) -> Bool {
        var open: [String: Int] = [:]
        for part in messages.flatMap(\.parts) {
            switch part {
            case .toolCall(let id, _, _): open[id, default: 0] += 1
            case .toolResult(let id, _):
                guard open[id, default: 0] > 0 else { return false }
                open[id, default: 0] -= 1
            default: continue
            }
        }
        return open.values.allSatisfy { $0 == 0 }
    }

    @Test("No half of an exchange is left, and a second pass changes nothing")
    func repairs() async {
        await Seeds.run(2_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let repaired = history(&generator).wholeExchanges()
            try #require(isWhole(repaired))
            try #require(repaired.wholeExchanges() == repaired)
        }
    }

    @Test("A history of whole exchanges stays unchanged")
    func keepsWhole() async {
        var whole = 0
        await Seeds.run(2_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let messages = history(&generator)
            guard isWhole(messages) else { return }
            whole += 1
            try #require(messages.wholeExchanges() == messages)
        }
        #expect(whole > 50 || !Seeds.areFixed)
    }

    @Test("All content except half exchanges stays, in order")
    func keepsTheRest() async {
        func rest(_ messages: [ConversationMessage]) -> [ContentPart] {
            messages.flatMap(\.parts).filter { !$0.belongsToToolExchange }
        }
        await Seeds.run(2_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let messages = history(&generator)
            try #require(rest(messages.wholeExchanges()) == rest(messages))
        }
    }

    @Test("A window that begins between a call and its result loses only the result")
    func window() {
        let messages = [
            ConversationMessage(role: .tool, parts: [.toolResult(id: "1", content: "r"), .text("note")]),
            ConversationMessage(role: .tool, parts: [.toolResult(id: "2", content: "r")]),
            ConversationMessage(role: .assistant, text: "done"),
        ]
        #expect(messages.wholeExchanges().map(\.parts) == [[.text("note")], [.text("done")]])
    }

    @Test("A result before its call does not match it, and a call matches one result")
    func orderAndRepetition() {
        let call = ConversationMessage(
            id: "c", role: .assistant, parts: [.toolCall(id: "1", name: "n", arguments: [:])])
        let result = ConversationMessage(id: "r", role: .tool, parts: [.toolResult(id: "1", content: "r")])
        #expect([result, call].wholeExchanges().isEmpty)
        #expect([call, result, result].wholeExchanges() == [call, result])
        #expect([call, call, result].wholeExchanges() == [call, result])
    }
}
