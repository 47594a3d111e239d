import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

@Suite("Agent Squad folders")
struct AgentSquadTests {
    @Test("Names give users, sessions and agents, agents are merged by time, and parts are unchanged")
    func fixture() async throws {
        let imported = Imported()
        let report = try await imported.fixture("agent-squad")
        #expect((report.sessionCount, report.messageCount, report.addedCount, report.unreadableCount) == (3, 8, 8, 0))
        #expect(report.users == ["Bob@example.com", "ada"])
        let sessions = try await imported.sessions()
        #expect(sessions.map(\.id.sessionId) == ["", "session-1"])
        #expect(sessions[1].agentIds == ["moon", "Sun"])
        let stored = try await imported.stored(sessions[1])
        #expect(stored.map(\.message.id) == ["m1", "s1", "m2", "m3", "s2", "m4"])
        #expect(stored.map(\.agentId) == ["moon", "Sun", "moon", "moon", "Sun", "moon"])
        #expect(
            stored[2].message.parts == [
                .toolCall(id: "c1", name: "lookup", arguments: ["body": "moon", "units": ["km"]])
            ])
        #expect(
            stored[4].message.parts.dropFirst() == [
                .unknown(["widget": ["_0": ["kind": "map"]]]), .audioTranscript("…"),
            ])
        #expect(stored[3].message.timestamp == Date(millisecondsSince1970: 1_770_109_202_500))
        let bob = SessionKey(userId: "Bob@example.com", sessionId: "s")
        #expect(try await imported.history.session(bob)?.messageCount == 1)

        let again = try await imported.fixture("agent-squad")
        #expect((again.addedCount, again.unchangedCount) == (0, 8))
    }

    @Test("A single user of a folder can be imported")
    func oneUser() async throws {
        let imported = Imported()
        let importer = TranscriptImporter(
            history: imported.history, userId: "ada", formats: [AgentSquadFormat(userId: "Bob@example.com")])
        #expect(try await importer.run([Fixtures.path("agent-squad")]).users == ["Bob@example.com"])
        #expect(try await imported.sessions().isEmpty)
    }

    @Test("A folder written by FileChatStorage is imported whole, whatever its IDs, and is not changed")
    func ours() async throws {
        let (imported, folder) = (Imported(), try TemporaryFolder())
        let files = FileChatStorage(baseURL: URL(fileURLWithPath: folder.path), sameRole: .keep)
        let ids = ["", "a/b", "..", "\u{E9}", "e\u{301}", String(repeating: "long ", count: 80)]
        for id in ids {
            let messages = (0..<3).map { ConversationMessage(id: "\(id)-\($0)", role: .user, text: "text \($0)") }
            try await files.saveMessages(messages, userId: "ada", sessionId: id, agentId: id, maxMessages: nil)
        }
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        #expect(try await imported.run(folder.path).addedCount == 3 * ids.count)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
        for id in ids {
            let expected = try await files.fetch(userId: "ada", sessionId: id, agentId: id, maxMessages: nil)
            let scope = Scope(userId: "ada", sessionId: id, agentId: id)
            #expect(try await imported.history.window(of: scope, maxMessages: nil) == expected)
        }
    }

    @Test("A damaged file is reported, its readable messages are imported, and it stays unchanged")
    func damaged() async throws {
        let (imported, folder) = (Imported(), try TemporaryFolder())
        let message = "{\"id\":\"m1\",\"role\":\"user\",\"timestamp\":1,\"parts\":[{\"text\":{\"_0\":\"hello\"}}]}"
        let path = try folder.write("ada/s/a.json", "[\n\(message),\n{\"id\":\"m2\",\"ro")
        try folder.write("ada/s/b.json", "[\(message.replacingOccurrences(of: "m1", with: "m3"))]")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let report = try await imported.run(folder.path)
        #expect((report.addedCount, report.unreadableCount) == (2, 1))
        #expect(report.unreadable.first?.reason.contains("a.json") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path + "/ada/s").sorted() == [
                "a.json", "b.json",
            ])
    }

    @Test("Folders of other programs and links out of the folder are not imported")
    func foreign() async throws {
        let (imported, folder, outside) = (Imported(), try TemporaryFolder(), try TemporaryFolder())
        try folder.write("src/app/package.json", "{\"name\":\"app\"}")
        let error = await #expect(throws: RecollectError.self) { try await imported.run(folder.path) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("Agent Squad") == true)
        let message = "{\"id\":\"m1\",\"role\":\"user\",\"timestamp\":1,\"parts\":[]}"
        try outside.write("s/a.json", "[\(message)]")
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/eve", withDestinationPath: outside.path)
        try folder.write("ada/s/a.json", "[\(message)]")
        #expect(try await imported.run(folder.path).users == ["ada"])
    }

    @Test("Verification reads messages back, and throws if the history has different content")
    func verification() async throws {
        let imported = Imported()
        let scope = Scope(userId: "ada", sessionId: "s", agentId: "a")
        let messages = [ConversationMessage(id: "1", role: .user, text: "caf\u{E9}")]
        try await imported.history.append(messages, to: scope)
        try await imported.history.verify(messages, in: scope)
        let other = [ConversationMessage(id: "1", role: .user, text: "cafe\u{301}", timestamp: messages[0].timestamp)]
        let error = await #expect(throws: RecollectError.self) { try await imported.history.verify(other, in: scope) }
        #expect(error?.code == .verificationFailed)
        #expect(error?.message.contains("`parts`") == true)
        await #expect(throws: RecollectError.self) {
            try await imported.history.verify([ConversationMessage(id: "2", role: .user, text: "")], in: scope)
        }
    }
}
