import RecollectAgents
import RecollectCore
import Testing

@Suite("LLM summarizer")
struct LLMSummarizerTests {
    @Test("A summarizer sends the previous summary and the new text to the model and returns the model's text")
    func request() async throws {
        let model = ScriptedModel(says: [.thinking("hm"), .textDelta("Ada likes "), .textDelta("tea.")])
        let messages = [
            ConversationMessage(role: .user, text: "Tea, please " + String(repeating: "é", count: 100_000)),
            ConversationMessage(
                role: .assistant,
                parts: [
                    .toolCall(id: "1", name: "kettle", arguments: ["key": "secret"]),
                    .toolResult(id: "1", content: "secret"),
                    .text("Here it is."),
                ]),
        ]
        let summary = try await LLMSummarizer(model: model).summarize("Ada is here.", messages)
        #expect(summary == "Ada likes tea.")
        let request = try #require(model.requests.first)
        #expect(request.system == LLMSummarizer.defaultInstructions)
        #expect(request.tools.isEmpty)
        let sent = try #require(request.messages.first?.text)
        #expect(
            sent.contains("Ada is here.") && sent.contains("user: Tea, please")
                && sent.contains("assistant: Here it is."))
        #expect(!sent.contains("secret") && sent.utf8.count < LLMSummarizer.messageByteLimit + 500)
    }

    @Test(
        "A summarizer throws instead of returning an incomplete summary",
        arguments: [
            .hangsUp([.textDelta("Ada")]), .says([.textDelta("Ada"), .done(LLMCompletion(reason: .length))]),
        ] as [ScriptedModel.Round])
    func halfSummary(round: ScriptedModel.Round) async throws {
        let error = await #expect(throws: RecollectError.self) {
            try await LLMSummarizer(model: ScriptedModel([round])).summarize(nil, [])
        }
        #expect(error?.code == .unreadable)
    }
}
