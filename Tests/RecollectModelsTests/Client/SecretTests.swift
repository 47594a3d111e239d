import RecollectAgents
import RecollectCore
import RecollectTestServer
import Testing
@testable import RecollectModels

@Suite("Protection of credentials and messages", .eachTransport, .timeLimit(.minutes(10)))
struct SecretTests {
    private let key = "sk-canary-0123456789"
    private let request = LLMRequest(
        system: "You are a discreet butler",
        messages: [
            ConversationMessage(role: .user, text: "my diary says I hate Mondays"),
            ConversationMessage(role: .assistant, text: "canary"),
        ])

    @Test("A redirect throws and is not followed: no key and no message reaches another server")
    func redirects() async throws {
        let other = try await ModelServer.start { _ in .text(["mine now"]) }
        let address = other.baseURL.absoluteString + "/chat/completions"
        for status in [301, 302, 303, 307, 308] {
            let server = try await ModelServer.start { _ in
                .status(status, "moved", headers: [("Location", address)])
            }
            let error = try #require(await ChatCompletionsClient(server, apiKey: key).failure().error)
            #expect(error.code == .redirected)
            #expect(error.message.contains("127.0.0.1"))
            try await server.stop()
        }
        #expect(other.requests.isEmpty)
        try await other.stop()
    }

    @Test("No error contains a credential or a message, even if the server quotes them")
    func quotations() async throws {
        let secrets = [key, "header-canary-42", "diary says I hate", "discreet butler", "'canary'"]
        let words = [
            "Incorrect API key provided: \(key)", "header was header-canary-42",
            "invalid value: 'my diary says I hate Mondays'", "input: You are a discreet butler",
            "bad word 'canary'",
        ]
        for status in [400, 401, 404, 422, 429, 500] {
            for word in words {
                let server = try await ModelServer.start { _ in .status(status, word) }
                let client = ChatCompletionsClient(
                    server, apiKey: key, headers: ["api-key": "header-canary-42"])
                let error = try #require(await client.failure(request).error)
                for secret in secrets { #expect(!String(describing: error).contains(secret), "\(status): \(word)") }
                try await server.stop()
            }
        }
    }

    @Test(
        "A line break after a key is removed; a key with a line break inside throws and is not printed")
    func keysThatCannotBeSent() async throws {
        let server = try await ModelServer.start { _ in .text(["ok"]) }
        _ = try await ChatCompletionsClient(server, apiKey: key + "\n").events()
        #expect(server.requests.first?.header("Authorization") == "Bearer \(key)")
        for client in [
            ChatCompletionsClient(server, apiKey: "sk-canary\n0123456789"),
            ChatCompletionsClient(server, headers: ["api-key": "sk-canary\r0123456789"]),
        ] {
            let error = try #require(await client.failure().error)
            #expect(error.message.contains("control character"))
            #expect(!String(reflecting: error).contains("canary"))
        }
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("Printing or dumping a client does not reveal its key")
    func printing() async throws {
        let server = try await ModelServer.start { _ in .text([]) }
        let client = ChatCompletionsClient(server, apiKey: key, headers: ["api-key": key])
        var dumped = ""
        dump(client, to: &dumped)
        for text in ["\(client)", String(reflecting: client), dumped, "\([client])"] {
            #expect(!text.contains(key))
            #expect(text.contains("test"))
        }
        try await server.stop()
    }
}
