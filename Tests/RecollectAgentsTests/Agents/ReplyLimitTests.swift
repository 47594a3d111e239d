import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectAgents

@Suite("Reply size limit", .timeLimit(.minutes(10)))
struct ReplyLimitTests {
    private static let megabyte = 1 << 20

    @Test("A reply is cut off at the agent's limit, and the text up to the limit is in the reply")
    func text() async throws {
        let piece = String(repeating: "é", count: Self.megabyte / 2)
        let model = ScriptedModel(says: Array(repeating: .textDelta(piece), count: 12))
        let events = try await Agent(name: "A", description: "", model: model).run("Go")
        let reply = try #require(events.reply)
        #expect(reply.isInterrupted)
        #expect(reply.text.utf8.count == 8 * Self.megabyte)
        #expect(events.pieces.compactMap(\.text).joined() == reply.text)
        #expect(events.errors.count == 1)
    }

    @Test(
        "The limit covers all rounds; the round that exceeds it runs no calls, and no call lacks a result"
    )
    func rounds() async throws {
        let end = LLMStreamEvent.done(LLMCompletion(reason: .toolCalls))
        let model = ScriptedModel(
            says: [.thinking("1234567890"), .toolCall(id: "1", name: "f", arguments: [:]), end],
            [
                .textDelta("1234567890"), .toolCall(id: "2", name: "f", arguments: [:]),
                .toolCall(id: "3", name: "f", arguments: ["a": "a long argument, a very long one"]), end,
            ])
        let runs = Locked(0)
        let tool = AgentTool(name: "f", description: "") { _, _ in
            runs.withLock { $0 += 1 }
            return .text("a result of any length")
        }
        let agent = Agent(name: "A", description: "", model: model, tools: [tool], maxReplyBytes: 40)
        let events = try await agent.run("Go")
        let reply = try #require(events.reply)
        #expect(runs.withLock { $0 } == 1)
        #expect(model.requests.count == 2)
        #expect(reply.isInterrupted)
        #expect(reply.parts == [reply].wholeExchanges().flatMap(\.parts))
        #expect(reply.text == "1234567890")
        #expect(reply.parts.count == 6)
        #expect(events.errors.count == 1 && events.errors[0].contains("40 bytes"), "\(events.errors)")
    }

    @Test("The size limit never splits a character", arguments: 0...6)
    func characters(limit: Int) async throws {
        let model = ScriptedModel(says: [.textDelta("aé"), .textDelta("日b")])
        let agent = Agent(name: "A", description: "", model: model, maxReplyBytes: limit)
        let reply = try #require(try await agent.run("Go").reply)
        #expect("aé日b".hasPrefix(reply.text) && reply.text.utf8.count <= limit && reply.text.utf8.count > limit - 3)
        #expect(reply.isInterrupted)
    }

    @Test("A reply grows in place, without a copy of its text for each piece", arguments: [false, true])
    func inPlace(isThinking: Bool) {
        var reply = AgentTurnReply(history: [])
        var positions = 0
        var last: UnsafePointer<UInt8>?
        for _ in 0..<4_000 {
            if isThinking { reply.think("piece ") } else { reply.say("piece ") }
            let position = Self.position(of: reply.message.parts[0])
            if position != last { positions += 1 }
            last = position
        }
        // Text that grows in place moves only when its capacity has doubled; a copied text moves with each piece.
        #expect(positions < 100, "\(positions)")
        #expect(reply.message.parts.count == 1)
    }

    private static func position(of part: ContentPart) -> UnsafePointer<UInt8>? {
        switch part {
        case .text(let text), .thinking(let text, _):
            text.utf8.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil
        default: nil
        }
    }
}
