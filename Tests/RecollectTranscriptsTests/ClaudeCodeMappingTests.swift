import Foundation
import RecollectCore
import Testing

@testable import RecollectTranscripts

@Suite("Claude Code lines as messages")
struct ClaudeCodeMappingTests {
    @Test("Each message line becomes one message with its UUID, role, parts, date and metadata")
    func message() async throws {
        let imported = Imported()
        let report = try await imported.fixture("one-api-message-over-several-lines.jsonl")
        #expect(report.messageCount == 7)
        #expect(report.skippedLines == ["file-history-snapshot": 1, "progress": 1, "queue-operation": 1])
        #expect(report.unreadable.isEmpty)
        let messages = try await imported.messages(imported.only(), agentId: TranscriptReader.mainAgentId)
        #expect(messages.map(\.id) == ["u1", "a1", "a2", "a3", "u2", "a4", "s1"])
        #expect(messages.map(\.role) == [.user, .assistant, .assistant, .assistant, .tool, .assistant, .system])
        #expect(messages[0].parts == [.text("Why does the build fail?")])
        #expect(messages[1].parts == [.thinking("Look at the log first.", signature: "c2ln")])
        #expect(
            messages[3].parts == [.toolCall(id: "toolu_1", name: "Bash", arguments: ["command": "cat build.log"])])
        #expect(messages[4].parts == [.toolResult(id: "toolu_1", content: "error: no such module")])
        #expect(messages[6].parts.isEmpty)
        #expect(messages[0].timestamp.millisecondsSince1970 == 1_770_109_201_007)
        let answer = messages[3].metadata
        #expect(answer["model"] == "claude-opus-4-6")
        #expect(answer["workingDirectory"] == "/home/ada/atlas")
        #expect(answer["branch"] == "main")
        #expect(answer["version"] == "2.1.30")
        #expect(answer["parentId"] == "a2")
        #expect(answer["apiMessageId"] == "msg_1")
        #expect(answer["requestId"] == "req_msg_1")
        #expect(answer["partFields"] == ["0": ["caller": ["type": "direct"]]])
        #expect(answer["isSidechain"] == nil)
    }

    @Test("Fields without an equivalent are saved under their own names")
    func others() async throws {
        let imported = Imported()
        _ = try await imported.fixture("one-api-message-over-several-lines.jsonl")
        let messages = try await imported.messages(imported.only())
        #expect(messages[0].metadata["claudeCode"] == ["userType": "external", "permissionMode": "default"])
        #expect(messages[4].metadata["partFields"] == ["0": ["is_error": true]])
        #expect(messages[4].metadata["claudeCode"]?["toolUseResult"]?["stderr"] == "error: no such module")
        #expect(messages[4].metadata["claudeCode"]?["sourceToolAssistantUUID"] == "a3")
        #expect(messages[6].metadata["claudeCode"]?["durationMs"] == 5200)
    }

    @Test("The tokens of an API message over several lines count once, with the largest value of each field")
    func usage() async throws {
        let imported = Imported()
        _ = try await imported.fixture("one-api-message-over-several-lines.jsonl")
        let messages = try await imported.messages(imported.only())
        func sum(_ path: String...) -> Int64 {
            messages.reduce(0) { total, message in
                let value = path.reduce(message.metadata["usage"]) { $0?[$1] }
                return total + (value?.integerValue ?? 0)
            }
        }
        #expect(sum("output_tokens") == 211 + 7)
        #expect(sum("input_tokens") == 100 + 300)
        #expect(sum("cache_creation", "ephemeral_5m_input_tokens") == 40 + 40)
        #expect(messages[2].metadata["usage"] == nil)
        #expect(messages[3].metadata["usage"] == ["output_tokens": 201])
    }

    @Test("A sub-agent's file and sidechain lines become agents of the session")
    func agents() async throws {
        let imported = Imported()
        _ = try await imported.fixture("session-with-subagent")
        let session = try await imported.only()
        #expect(session.agentIds == ["claude", "a1b2c3"])
        #expect(session.branchName == "maps")
        #expect(try await imported.messages(session, agentId: "a1b2c3").map(\.id) == ["g1", "g2"])
        #expect(try await imported.messages(session, agentId: "a1b2c3")[0].metadata["isSidechain"] == true)

        let old = Imported()
        _ = try await old.fixture("sidechain-in-the-session-file.jsonl", "agent-beside-the-session")
        let oldSession = try await old.only()
        #expect(Set(oldSession.agentIds) == ["claude", "sidechain", "77"])
        #expect(try await old.messages(oldSession, agentId: "sidechain").map(\.id) == ["x1", "x2"])
        #expect(try await old.messages(oldSession, agentId: "claude").map(\.id) == ["o1", "o2"])
    }

    @Test("Importing a session's file alone also imports its sub-agents")
    func subagentsOfANamedFile() async throws {
        let imported = Imported()
        _ = try await imported.fixture("session-with-subagent/22222222-0000-4000-8000-000000000002.jsonl")
        #expect(try await imported.only().agentIds == ["claude", "a1b2c3"])
    }

    @Test("Images become attachments once, even if a line repeats them")
    func images() async throws {
        let imported = Imported()
        _ = try await imported.fixture("images.jsonl")
        let messages = try await imported.messages(imported.only())
        let stored = try #require(messages[0].parts.last)
        guard case .attachment(let image) = stored, case .stored(let sha256, let count) = image.content else {
            Issue.record("not a stored attachment: \(stored)")
            return
        }
        #expect(image.mediaType == "image/png")
        #expect(try await imported.history.attachment(sha256: sha256, userId: "ada").count == count)
        #expect(messages[2].role == .tool)
        let reference: JSONValue = [["type": "image", "source": ["type": "attachment", "sha256": .string(sha256)]]]
        #expect(messages[2].parts == [.toolResult(id: "toolu_i", content: reference), .attachment(image)])
        let result = messages[2].metadata["claudeCode"]?["toolUseResult"]
        #expect(result?["file"]?["base64"] == .string("sha256:\(sha256)"))
        #expect(
            messages[3].parts.first
                == .attachment(Attachment(mediaType: "image/*", content: .remote(url: "https://example.org/a.png"))))
        #expect(messages[3].metadata["partFields"] == ["1": ["type": "document", "title": "Plan"]])
        #expect(
            messages[3].parts.last
                == .unknown(["type": "image", "source": ["type": "base64", "media_type": "image/png", "data": "%%%"]]))
    }

    @Test("Blocks and fields of newer versions are preserved, and lines of unknown types are counted")
    func newerVersions() async throws {
        let imported = Imported()
        let report = try await imported.fixture("blocks-and-fields-of-newer-versions.jsonl")
        #expect(report.skippedLines == ["brand-new-kind": 1])
        let messages = try await imported.messages(imported.only())
        #expect(
            messages[0].parts == [
                .unknown(["type": "server_tool_use", "id": "s", "name": "web_search", "input": [:]]),
                .unknown(["type": "redacted_thinking", "data": "xx"]), .text("Found."), .unknown("a bare string"),
                .unknown(["type": "text"]),
            ])
        #expect(messages[0].metadata["partFields"] == ["2": ["citations": [["url": "u"]]]])
        #expect(messages[0].metadata["claudeCode"]?["brandNew"] == ["deep": [1, .null]])
        #expect(messages[0].metadata["claudeCode"]?["isApiErrorMessage"] == false)
        #expect(messages[1].parts == [.unknown(["odd": true])])
        #expect(messages[2].parts == [.text("Conversation compacted")])
        #expect(messages[2].metadata["claudeCode"]?["compactMetadata"]?["preTokens"] == 150_000)
    }

    @Test("A string cut inside an emoji is read")
    func halfAnEmoji() async throws {
        let imported = Imported()
        _ = try await imported.fixture("half-of-an-emoji.jsonl")
        #expect(try await imported.messages(imported.only())[0].text == "cut \u{FFFD}")
    }
}
