import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Windows by tokens")
struct TokenWindowTests {
    /// Counts one token for a message, each letter of its texts, and the numbers of its results.
    private static let counter = TokenCounter { message in
        message.parts.reduce(1) { sum, part in
            if case .toolResult(_, let content) = part { return sum + Int(content.integerValue ?? 0) }
            return sum + (part.text.map(\.utf8.count) ?? 0)
        }
    }

    private func message(_ role: Role, _ id: String, _ parts: [ContentPart], isPinned: Bool = false)
        -> ConversationMessage
    {
        var message = ConversationMessage(id: id, role: role, parts: parts)
        message.isPinned = isPinned
        return message
    }

    private func text(_ count: Int) -> ContentPart { .text(String(repeating: "x", count: count)) }

    private func exchange(_ id: String, _ tokens: Int64) -> [ContentPart] {
        [.toolCall(id: id, name: "read", arguments: [:]), .toolResult(id: id, content: .integer(tokens))]
    }

    private func ids(_ history: [ConversationMessage], _ tokens: Int) -> [String] {
        history.window(tokens: tokens, counter: Self.counter).map(\.id)
    }

    @Test(
        "The last turn loses its oldest tool exchanges, and nothing else, if it exceeds the budget",
        arguments: [false, true])
    func longTurn(isPinned: Bool) throws {
        let reply = message(
            .assistant, "a",
            exchange("1", 50) + [text(2)] + exchange("2", 20) + [text(2)] + exchange("3", 10) + [text(2)],
            isPinned: isPinned)
        let history = [
            message(.user, "u0", [text(1)]), message(.assistant, "a0", [text(1)]), message(.user, "u", [text(3)]),
            reply,
        ]
        let window = history.window(tokens: 45, counter: Self.counter)
        #expect(window.map(\.id) == ["u", "a"])
        #expect(window.last?.parts == [text(2)] + exchange("2", 20) + [text(2)] + exchange("3", 10) + [text(2)])
        #expect(history.window(tokens: 11, counter: Self.counter).last?.parts == [text(2), text(2), text(2)])
        #expect(ids(history, 10) == [])
    }

    @Test("A pinned message is in the window with its whole turn, or left out")
    func pinnedTurn() {
        let history = [
            message(.user, "u", [text(5)]), message(.assistant, "c", [text(1), exchange("1", 50)[0]], isPinned: true),
            message(.tool, "r", [exchange("1", 50)[1]]), message(.assistant, "a", [text(5)]),
            message(.user, "u2", [text(1)]), message(.assistant, "a2", [text(1)]),
            message(.user, "u3", [text(1)]), message(.assistant, "a3", [text(1)]),
        ]
        #expect(ids(history, 64) == ["u2", "a2", "u3", "a3"])
        #expect(ids(history, 69) == ["u", "c", "r", "a", "u3", "a3"])
        #expect(ids(history, 68) == ["u", "c", "r", "a"])
    }

    @Test("Instructions without room are left out, and the turns stay")
    func longInstructions() {
        let history = [
            message(.system, "long", [text(1000)]), message(.system, "short", [text(1)]),
            message(.user, "u", [text(5)]),
            message(.assistant, "a", [text(5)]),
        ]
        #expect(ids(history, 100) == ["short", "u", "a"])
    }

    @Test("An instruction loses its half of an exchange")
    func halfInInstructions() {
        let history = [
            message(.system, "s", [text(1), exchange("1", 5)[0]]), message(.user, "u", [text(1)]),
            message(.assistant, "a", [exchange("1", 5)[1], text(1)]),
        ]
        let window = history.window(tokens: 100, counter: Self.counter)
        #expect(window.map(\.parts) == [[text(1)], [text(1)], [text(1)]])
    }

    @Test("Messages before the user's first one are left out if they have no room")
    func withoutQuestion() {
        let history = [
            message(.assistant, "greeting", [text(20)]), message(.user, "u", [text(5)]),
            message(.assistant, "a", [text(5)]),
        ]
        #expect(ids(history, 20) == ["u", "a"])
        #expect(ids(history, 40) == ["greeting", "u", "a"])
    }

    @Test("A message is counted once, and the parts of a turn without room a few times")
    func countsOnce() {
        let counts = Locked(0)
        let counter = TokenCounter { message in
            counts.withLock { $0 += 1 }
            return message.text.utf8.count
        }
        let history = (0..<1000).map { message($0.isMultiple(of: 2) ? .user : .assistant, "\($0)", [text(1)]) }
        #expect(history.window(tokens: 500, counter: counter).count == 500)
        #expect(counts.withLock { $0 } <= 502)
        counts.withLock { $0 = 0 }
        let exchanges = (0..<1000).flatMap { number in
            let parts = exchange("\(number)", 1)
            return [
                message(.assistant, "c\(number)", [parts[0], text(1)]),
                message(.tool, "r\(number)", [parts[1], text(1)]),
            ]
        }
        let turn = [message(.user, "u", [text(1)])] + exchanges
        // Both messages of an exchange keep their texts, so nothing smaller fits.
        #expect(turn.window(tokens: 1500, counter: counter) == [])
        // 2,001 messages, and those without their exchanges, at most 11 times.
        #expect(counts.withLock { $0 } <= 12 * 2001)
    }

    @Test("Budgets and counts of any size")
    func extremes() {
        let history = [message(.system, "s", [text(1)]), message(.user, "u", [text(1)], isPinned: true)]
        #expect(history.window(tokens: .min).isEmpty && history.window(tokens: 0).isEmpty)
        #expect(history.window(tokens: .max).map(\.id) == ["s", "u"])
        let huge = TokenCounter { _ in .max }
        #expect(history.window(tokens: .max, counter: huge).map(\.id) == ["s"])
        #expect(history.window(tokens: 10, counter: huge).isEmpty)
        let zero = TokenCounter { _ in .min }
        #expect(history.window(tokens: 1, counter: zero).map(\.id) == ["s", "u"])
    }

    @Test("Random histories have the windows of a slow reading of the rule")
    func random() async {
        await Seeds.run(400) { seed in
            var random = SeededGenerator(seed: seed)
            let history = self.history(&random)
            let tokens = Int.random(in: 0...120, using: &random)
            let window = history.window(tokens: tokens, counter: Self.counter)
            #expect(window == self.slowWindow(of: history, tokens), "\(tokens) tokens")
            #expect(window == window.wholeExchanges())
            #expect(window.reduce(0) { $0 + Self.counter.count($1) } <= tokens)
        }
    }

    /// A direct reading of the rule, without regard to cost.
    private func slowWindow(of history: [ConversationMessage], _ tokens: Int) -> [ConversationMessage] {
        func cost(_ messages: [ConversationMessage]) -> Int { messages.reduce(0) { $0 + Self.counter.count($1) } }
        guard tokens > 0 else { return [] }
        var left = tokens
        var window: [ConversationMessage] = []
        let instructions = history.prefix { $0.role == .system }
        for message in instructions where cost([message]) <= left {
            left -= cost([message])
            window.append(message)
        }
        // The histories have no exchange around a message of the user.
        var turns: [[ConversationMessage]] = []
        for message in history.dropFirst(instructions.count).map({ $0 }).wholeExchanges() {
            let isQuestion = message.role == .user
            if turns.isEmpty || isQuestion && turns.last?.last?.role != .user { turns.append([]) }
            turns[turns.count - 1].append(message)
        }
        var isKept = turns.map { _ in false }
        for index in turns.indices.reversed()
        where turns[index].contains(where: \.isPinned) && cost(turns[index]) <= left {
            left -= cost(turns[index])
            isKept[index] = true
        }
        for index in turns.indices.reversed() where !isKept[index] {
            if cost(turns[index]) > left {
                guard index == turns.count - 1 else { break }
                let calls = turns[index].flatMap(\.parts).count { if case .toolCall = $0 { true } else { false } }
                for count in 1..<max(calls + 1, 1) {
                    var number = 0
                    let rest = turns[index].map { message in
                        var message = message
                        message.parts.removeAll { part in
                            guard case .toolCall = part else { return false }
                            number += 1
                            return number <= count
                        }
                        return message
                    }
                    .filter { !$0.parts.isEmpty }.wholeExchanges()
                    guard cost(rest) <= left else { continue }
                    turns[index] = rest
                    isKept[index] = true
                    break
                }
                break
            }
            left -= cost(turns[index])
            isKept[index] = true
        }
        return window + zip(turns, isKept).flatMap { $1 ? $0 : [] }
    }

    /// Returns a history with instructions, turns, tool exchanges in one message or several, incomplete ones, and pinned
    /// messages.
    private func history(_ random: inout SeededGenerator) -> [ConversationMessage] {
        var messages: [ConversationMessage] = []
        func add(_ role: Role, _ parts: [ContentPart], _ random: inout SeededGenerator) {
            messages.append(
                message(role, String(messages.count), parts, isPinned: Int.random(in: 0..<12, using: &random) == 0))
        }
        func length(_ random: inout SeededGenerator) -> Int { Int.random(in: 0...9, using: &random) }
        for _ in 0..<Int.random(in: 0...2, using: &random) { add(.system, [text(length(&random))], &random) }
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            if Int.random(in: 0..<5, using: &random) > 0 { add(.user, [text(length(&random))], &random) }
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                // Two calls at once, in messages of their own.
                let (first, second) = (exchange("1", Int64(length(&random))), exchange("2", Int64(length(&random))))
                add(.assistant, [first[0], second[0]], &random)
                add(.tool, [second[1]], &random)
                add(.tool, [first[1]], &random)
            case 1:
                let first = exchange("1", Int64(length(&random)))
                add(.assistant, first + [text(length(&random))] + exchange("1", 30) + exchange("3", 3), &random)
            case 2: add(.system, [text(length(&random))], &random)
            case 3:
                let half = exchange("half \(messages.count)", 5)[Int.random(in: 0...1, using: &random)]
                add(.assistant, [half, text(2)], &random)
            default: break
            }
            if Bool.random(using: &random) { add(.assistant, [text(length(&random))], &random) }
        }
        return messages
    }
}

@Suite("Token counters")
struct TokenCounterTests {
    private static let parts: [(ContentPart, Int)] = [
        (.text(""), 4), (.text("abcd"), 5), (.text("abcd abc"), 6), (.text("12"), 5), (.text("中文"), 6),
        (.text("🎉"), 6), (.audioTranscript("abcd"), 5), (.thinking("abcd", signature: "abcdefgh"), 7),
        (.toolCall(id: "abcd", name: "abcd", arguments: [:]), 7), (.toolResult(id: "abcd", content: "abcd"), 6),
        (.toolResult(id: "abcd", content: ["a": 1]), 9), (.unknown(["a": 1]), 8),
        (.attachment(Attachment(mediaType: "image/png", content: .inline(Data(count: 9000)))), 1604),
    ]

    @Test("The estimate counts every part")
    func estimate() {
        for (part, count) in Self.parts {
            #expect(TokenCounter.estimate.count(ConversationMessage(role: .user, parts: [part])) == count, "\(part)")
        }
        let all = ConversationMessage(role: .user, parts: Self.parts.map(\.0))
        #expect(TokenCounter.estimate.count(all) == 4 + Self.parts.reduce(0) { $0 + $1.1 - 4 })
    }
}
