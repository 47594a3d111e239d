import Foundation
import Recollect
import RecollectTranscripts

func importTranscripts(of folder: URL, into history: any HistoryStore) async throws -> String {
    // Importing again adds only new messages, and never changes existing ones.
    let report = try await TranscriptImporter(history: history, userId: "ana").run([folder.path])
    print(report.addedCount, "new messages in", report.sessionCount, "sessions")
    for line in report.unreadable { print("\(line.file):\(line.line): \(line.reason)") }

    // Exports the last session as Markdown, in pieces.
    var markdown: [UInt8] = []
    if let last = try await history.sessions(of: "ana", page: PageRequest(limit: 1)).elements.first {
        try await SessionExporter(history: history).export(last.id, as: .markdown) { markdown += $0 }
    }
    return String(decoding: markdown, as: UTF8.self)
}
