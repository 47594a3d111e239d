import Foundation
import Recollect
import RecollectClaudeCodeUI
import RecollectTranscripts

func importSessions(of database: URL, into history: any HistoryStore) async throws -> Int {
    // The file, or the folder with `claude_code_sessions.sqlite`. Importing again adds only new messages.
    let importer = TranscriptImporter(history: history, userId: "ana", formats: [ClaudeCodeUIFormat()])
    let report = try await importer.run([database.path])
    print(report.addedCount, "new messages in", report.sessionCount, "sessions")
    return report.addedCount
}
