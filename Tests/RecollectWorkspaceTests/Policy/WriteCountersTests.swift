import Foundation
import Testing

@testable import RecollectWorkspace

@Suite("Write counters")
struct WriteCountersTests {
    private let start = Date(timeIntervalSince1970: 1_750_000_000)

    @Test("Writes of each file are counted, in total and for the last minute")
    func counts() throws {
        let counters = WriteCounters()
        let (note, other) = (try WorkspacePath("note.md"), try WorkspacePath("Journal/other.md"))
        for second in 0..<10 {
            #expect(counters.count(note, at: start.addingTimeInterval(Double(second))) == second + 1)
        }
        #expect(counters.count(other, at: start) == 1)
        // At 60 seconds, the first write is one minute old.
        #expect(counters.count(note, at: start.addingTimeInterval(60)) == 10)
        #expect(counters.count(note, at: start.addingTimeInterval(600)) == 1)
        let snapshot = counters.snapshot(at: start.addingTimeInterval(630))
        #expect(snapshot[note] == .init(total: 12, lastMinute: 1, last: start.addingTimeInterval(600)))
        #expect(snapshot[other] == .init(total: 1, lastMinute: 0, last: start))
    }

    @Test("Setting back the clock neither stops the count nor preserves outdated writes")
    func clockSetBack() throws {
        let counters = WriteCounters()
        let note = try WorkspacePath("note.md")
        #expect(counters.count(note, at: start) == 1)
        #expect(counters.count(note, at: start.addingTimeInterval(-3_600)) == 1)
        #expect(counters.count(note, at: start.addingTimeInterval(-3_599)) == 2)
        #expect(counters.snapshot(at: start)[note]?.total == 3)
    }

    @Test("The numbers of dates and files are bounded, and the file unused for the longest time is removed")
    func bounds() throws {
        let counters = WriteCounters()
        let busy = try WorkspacePath("busy.md")
        for _ in 0..<(WriteCounters.maxDates + 50) { _ = counters.count(busy, at: start) }
        #expect(counters.snapshot(at: start)[busy]?.lastMinute == WriteCounters.maxDates)
        #expect(counters.snapshot(at: start)[busy]?.total == WriteCounters.maxDates + 50)
        for index in 0..<WriteCounters.maxFileCount {
            _ = counters.count(try WorkspacePath("file \(index).md"), at: start.addingTimeInterval(Double(index + 1)))
        }
        let snapshot = counters.snapshot(at: start)
        #expect(snapshot.count == WriteCounters.maxFileCount && snapshot[busy] == nil)
    }
}
