import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

/// Real transcripts, if there are any: in the folder given by `RECOLLECT_SHARED_DATA`.
enum SharedData {
    static let folder = ProcessInfo.processInfo.environment["RECOLLECT_SHARED_DATA"].flatMap { $0.isEmpty ? nil : $0 }

    /// The UUIDs of the message lines of every session, read with Foundation's JSON parser instead of Recollect's. A
    /// sub-agent without such lines has those in lines about its progress.
    static func expectedIds(below folder: String) throws -> [String: Set<String>] {
        var ids: [String: Set<String>] = [:]
        var (agents, nested): (Set<[String]>, [[String]: Set<String>]) = ([], [:])
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where name.hasSuffix(".jsonl") {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            for line in data.split(separator: 0x0A) {
                let fields = try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
                guard let type = fields["type"] as? String, let session = fields["sessionId"] as? String else {
                    continue
                }
                if let data = fields["data"] as? [String: Any], data["type"] as? String == "agent_progress",
                    let agent = data["agentId"] as? String, let message = data["message"] as? [String: Any],
                    let id = message["uuid"] as? String
                {
                    nested[[session, agent], default: []].insert(id)
                }
                guard ["user", "assistant", "system"].contains(type), let id = fields["uuid"] as? String else {
                    continue
                }
                ids[session, default: []].insert(id)
                if let agent = fields["agentId"] as? String { agents.insert([session, agent]) }
            }
        }
        for (agent, messages) in nested where !agents.contains(agent) { ids[agent[0], default: []].formUnion(messages) }
        return ids
    }
}

@Suite(
    "Acceptance on real transcripts",
    .enabled(if: SharedData.folder != nil, "set RECOLLECT_SHARED_DATA to a folder of Claude Code transcripts"))
struct AcceptanceTests {
    @Test("Every message line is imported once, a second import changes nothing, and exported messages are equal")
    func acceptance() async throws {
        let folder = try #require(SharedData.folder)
        let (imported, copied, temporary) = (Imported(), Imported(), try TemporaryFolder())
        let report = try await imported.run(folder)
        let expected = try SharedData.expectedIds(below: folder)
        #expect(report.unreadable.isEmpty)
        #expect(report.addedCount == expected.values.reduce(0) { $0 + $1.count })
        var before: [String: [StoredMessage]] = [:]
        for session in try await imported.sessions() {
            let stored = try await imported.stored(session)
            #expect(stored.count == expected[session.id.sessionId]?.count)
            #expect(Set(stored.map(\.message.id)) == expected[session.id.sessionId])
            before[session.id.sessionId] = stored
        }
        #expect(Set(before.keys) == Set(expected.keys))

        let second = try await imported.run(folder)
        #expect((second.addedCount, second.unchangedCount) == (0, report.messageCount))
        for session in try await imported.sessions() {
            #expect(try await imported.stored(session) == before[session.id.sessionId])
            let path = try temporary.write("export.jsonl", await imported.export(session, .jsonl))
            _ = try await copied.run(path)
            let copy = try #require(try await copied.history.session(session.id))
            #expect(copy == session)
            for agent in session.agentIds {
                let same =
                    try await copied.messages(copy, agentId: agent) == imported.messages(session, agentId: agent)
                #expect(same, "\(session.id.sessionId) \(agent)")
            }
        }
    }

    @Test("The tokens of a session are the sum of the largest counts of each API message")
    func usage() async throws {
        let folder = try #require(SharedData.folder)
        var largest: [String: [String: Int64]] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init()
        where name.hasSuffix(".jsonl") {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            for line in data.split(separator: 0x0A) {
                let fields = try JSONSerialization.jsonObject(with: line) as? [String: Any] ?? [:]
                let nested = (fields["data"] as? [String: Any])?["message"] as? [String: Any] ?? fields
                guard nested["type"] as? String == "assistant", let message = nested["message"] as? [String: Any],
                    let id = message["id"] as? String, let usage = message["usage"] as? [String: Any],
                    let tokens = usage["output_tokens"] as? Int64, let session = fields["sessionId"] as? String
                else { continue }
                largest[session, default: [:]][id] = max(largest[session]?[id] ?? 0, tokens)
            }
        }
        let imported = Imported()
        _ = try await imported.run(folder)
        for session in try await imported.sessions() {
            let sum = try await imported.messages(session).reduce(0) {
                $0 + ($1.metadata["usage"]?["output_tokens"]?.integerValue ?? 0)
            }
            #expect(sum == largest[session.id.sessionId]?.values.reduce(0, +))
        }
    }
}
