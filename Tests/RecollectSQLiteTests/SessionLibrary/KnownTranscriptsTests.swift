import Foundation
import RecollectCore
import Testing

@testable import RecollectSQLite

@Suite("Known transcripts of a session storage")
struct KnownTranscriptsTests {
    private let first = ChatMessage(role: .user, content: "first")
    private let second = ChatMessage(role: .assistant, content: "second")

    private func save(_ transcript: [ChatMessage], in id: String, _ known: KnownTranscripts) {
        known.note(difference(to: transcript, in: id, known), SaveTranscriptOperation.Outcome(), of: id)
    }

    private func difference(
        to transcript: [ChatMessage], in id: String, _ known: KnownTranscripts
    ) -> TranscriptDifference {
        TranscriptDifference(from: known.entries(of: id).entries, to: transcript)
    }

    @Test("After a deletion, the next save is compared again", arguments: [false, true])
    func deleted(isUser: Bool) {
        let known = KnownTranscripts()
        save([first], in: "s", known)
        isUser ? known.forgetAll() : known.forget("s")
        let next = difference(to: [first], in: "s", known)
        #expect(next.changed == 0..<1)
        #expect(next.unchanged.isEmpty)
    }

    @Test("After a save, only new entries are compared")
    func saved() {
        let known = KnownTranscripts()
        save([first], in: "s", known)
        let next = difference(to: [first, second], in: "s", known)
        #expect(next.changed == 1..<2)
        #expect(next.removed.isEmpty)
    }

    @Test("Transcripts not kept in full are known as well")
    func manySessions() {
        let known = KnownTranscripts()
        for number in 0..<(2 * KnownTranscripts.limit) { save([first, second], in: "\(number)", known) }
        var edited = second
        edited.content = "edited"
        #expect(difference(to: [first, edited], in: "0", known).changed == 1..<2)
        #expect(difference(to: [second], in: "0", known).removed == [first.id])
    }
}
