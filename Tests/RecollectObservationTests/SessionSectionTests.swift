import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectObservation

@Suite("Session sections") struct SessionSectionTests {
    private func session(_ date: Date, pinned: Bool = false) -> Session {
        Session(
            id: key("\(date.timeIntervalSince1970)"), createdAt: date, lastActivityAt: date, messageCount: 1,
            isPinned: pinned)
    }

    private func kinds(_ dates: [Date], at moment: Date = noon, _ calendar: Calendar = utc)
        -> [SessionSection.Kind]
    {
        SessionSection.sections(
            of: dates.map { session($0) }, by: .lastActivity, at: moment, calendar: calendar
        ).map(\.kind)
    }

    private func date(_ text: String) throws -> Date {
        try Date(text, strategy: .iso8601)
    }

    @Test("Sections for today, yesterday, 7 days, 30 days and months start with the first second of a day")
    func boundaries() throws {
        let now = try date("2026-03-31T12:00:00Z")
        let expected: [(String, SessionSection.Kind)] = [
            ("2026-03-31T00:00:00Z", .today), ("2026-03-30T23:59:59Z", .yesterday),
            ("2026-03-30T00:00:00Z", .yesterday), ("2026-03-29T23:59:59Z", .previous7Days),
            ("2026-03-24T00:00:00Z", .previous7Days), ("2026-03-23T23:59:59Z", .previous30Days),
            ("2026-03-01T00:00:00Z", .previous30Days),
            ("2026-02-28T23:59:59Z", .month(try date("2026-02-01T00:00:00Z"))),
            ("2025-02-28T23:59:59Z", .month(try date("2025-02-01T00:00:00Z"))),
        ]
        for (text, kind) in expected { #expect(kinds([try date(text)], at: now) == [kind], "\(text)") }
    }

    @Test("After the clock is set back, sessions with future dates are shown under today")
    func clockPutBack() {
        let dates = [noon + 86_400 * 400, noon + 60, noon - 60]
        #expect(kinds(dates) == [.today])
    }

    @Test("Pinned sessions form the first section, and a reversed list starts with its oldest section")
    func pinnedAndReversed() {
        let old = noon - 86_400 * 100
        let list = [session(old), session(noon - 86_400, pinned: true), session(noon)]
        let sections = SessionSection.sections(of: list, by: .lastActivity, at: noon, calendar: utc)
        #expect(sections.count == 3)
        #expect(sections[0].kind == .pinned)
        #expect(sections[1].sessions == [list[0]])
        #expect(sections[2].kind == .today)
    }

    @Test("Each order by date has sections of that date, and every other order has a single section")
    func orders() {
        var mixed = session(noon)
        mixed.createdAt = noon - 86_400
        mixed.lastAccessedAt = noon - 86_400 * 3
        let kinds = SessionQuery.Order.allCases.map {
            SessionSection.sections(of: [mixed], by: $0, at: noon, calendar: utc).map(\.kind)
        }
        #expect(kinds == [[.today], [.previous7Days], [.yesterday], [.all], [.all]])
        #expect(SessionSection.sections(of: [], by: .title, at: noon, calendar: utc).isEmpty)
    }

    /// Time zones with days that start at 1:00, end at 23:00, last half an hour longer, or are skipped.
    private static let zones: [(name: String, around: String)] = [
        ("America/Sao_Paulo", "2018-11-04T12:00:00Z"), ("America/Sao_Paulo", "2018-02-18T12:00:00Z"),
        ("Asia/Beirut", "2026-03-29T12:00:00Z"),
        ("Africa/Cairo", "2026-04-24T12:00:00Z"), ("Pacific/Apia", "2011-12-31T12:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-05T12:00:00Z"), ("America/Havana", "2026-11-01T12:00:00Z"),
        ("Asia/Kathmandu", "2026-01-01T12:00:00Z"), ("Pacific/Kiritimati", "1995-01-01T12:00:00Z"),
        ("Europe/Berlin", "2026-10-25T12:00:00Z"), ("America/Havana", "2026-03-08T12:00:00Z"),
    ]

    @Test("Days follow the calendar across changes of daylight saving time and time zone", arguments: zones)
    func oddDays(zone: (name: String, around: String)) async {
        await Seeds.run(4) { seed in
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try #require(TimeZone(identifier: zone.name))
            let around = try date(zone.around)
            func day(_ date: Date) -> DateComponents { calendar.dateComponents([.year, .month, .day], from: date) }
            var generator = SeededGenerator(seed: seed)
            let now = around + Double.random(in: -40...40, using: &generator).rounded() * 3600
            // The existing days, sampled every 15 minutes.
            var days = [day(now)]
            for quarter in 1...(33 * 96) {
                let components = day(now - Double(quarter) * 900)
                if components != days.last { days.append(components) }
            }
            for _ in 0..<40 {
                let moment = now - Double.random(in: 0..<(32 * 86_400), using: &generator).rounded()
                let number = try #require(days.firstIndex(of: day(moment)))
                let kind = kinds([moment], at: now, calendar)[0]
                let expected: SessionSection.Kind? =
                    switch number {
                    case 0: .today
                    case 1: .yesterday
                    case ...7: .previous7Days
                    case ...30: .previous30Days
                    default: nil
                    }
                if let expected {
                    #expect(kind == expected, "\(zone.name) now \(now), of \(moment)")
                } else if case .month(let start) = kind {
                    #expect(calendar.isDate(start, equalTo: moment, toGranularity: .month))
                } else {
                    Issue.record("\(zone.name) \(kind) for \(moment) at \(now)")
                }
            }
        }
    }
}
