import Foundation
import RecollectCore
import Testing

@testable import RecollectSQLite

@Suite("Known transcripts of a session storage")
struct KnownTranscriptsTests {
    private let first = ChatMessage(role: .user, content: "first")
    private let second = ChatMessage(role: .assistant, content: "second")

    @Test("After overlapping saves, entries with different content are compared again", arguments: [false, true])
    func overlapping(inOrder: Bool) {
        let known = KnownTranscripts()
        var edited = first
        edited.content = "edited"
        let (one, other) = (known.beginSaving("s", [first]), known.beginSaving("s", [edited, second]))
        for saving in inOrder ? [one, other] : [other, one] { known.finish(saving, SaveTranscriptOperation.Outcome()) }
        let next = known.beginSaving("s", [first]).difference
        #expect(next.changed == 0..<1)
        #expect(next.unchanged.isEmpty)
        #expect(next.removed == [second.id])
    }

    @Test("A save that ends after a deletion is compared again", arguments: [false, true])
    func deletedMeanwhile(isUser: Bool) {
        let known = KnownTranscripts()
        let saving = known.beginSaving("s", [first])
        isUser ? known.forgetAll() : known.forget("s")
        known.finish(saving, SaveTranscriptOperation.Outcome())
        let next = known.beginSaving("s", [first]).difference
        #expect(next.changed == 0..<1)
        #expect(next.unchanged.isEmpty)
    }

    @Test("After a single save, only new entries are compared")
    func alone() {
        let known = KnownTranscripts()
        known.finish(known.beginSaving("s", [first]), SaveTranscriptOperation.Outcome())
        let next = known.beginSaving("s", [first, second]).difference
        #expect(next.changed == 1..<2)
        #expect(next.removed.isEmpty)
    }

    @Test("After overlapping saves, entries changed by one of them are known as it saved them")
    func overlappingAlike() {
        let known = KnownTranscripts()
        let (one, other) = (known.beginSaving("s", [first]), known.beginSaving("s", [first, second]))
        for saving in [one, other] { known.finish(saving, SaveTranscriptOperation.Outcome()) }
        let next = known.beginSaving("s", [first, second]).difference
        #expect(next.changed == 0..<2)
        #expect(next.unchanged == [first.id, second.id])
    }

    @Test("Transcripts not kept in full are known as well")
    func manySessions() {
        let known = KnownTranscripts()
        for number in 0..<(2 * KnownTranscripts.limit) {
            known.finish(known.beginSaving("\(number)", [first, second]), SaveTranscriptOperation.Outcome())
        }
        var edited = second
        edited.content = "edited"
        let next = known.beginSaving("0", [first, edited]).difference
        #expect(next.changed == 1..<2)
        #expect(known.beginSaving("0", [second]).difference.removed == [first.id])
    }
}
