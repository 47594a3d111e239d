import Foundation
import RecollectCore
import Testing

@testable import RecollectTranscripts

@Suite("Sample transcripts")
struct SampleTests {
    @Test("Every line is read, every session has a title, and tool exchanges are whole")
    func samples() async throws {
        let folder = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Samples/Transcripts")
        let imported = Imported()
        let report = try await imported.run(folder.standardizedFileURL.path)
        #expect(report.unreadable.isEmpty)
        #expect(report.sessionCount == 3)
        for session in try await imported.sessions() {
            #expect(session.title != nil)
            for agent in session.agentIds {
                let messages = try await imported.messages(session, agentId: agent)
                #expect(messages.wholeExchanges() == messages)
            }
        }
        #expect(try await imported.sessions().map(\.agentIds.count) == [2, 1, 1])
    }
}
