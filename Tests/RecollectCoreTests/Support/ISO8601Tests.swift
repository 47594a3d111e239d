import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Dates in ISO 8601")
struct ISO8601Tests {
    @Test(
        "Dates are read in the formats of JavaScript and other programs",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-02-03T09:00:01.007Z", 1_770_109_201_007),
            ("2024-02-29T23:59:59.9Z", 1_709_251_199_900), ("2026-02-03T10:00:01.007999+01:00", 1_770_109_201_007),
            ("1969-12-31T23:59:59.999Z", -1), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2026-02-03T04:30:01-04:30", 1_770_109_201_000),
        ] as [(String, Int64)])
    func moments(text: String, milliseconds: Int64) {
        #expect(ISO8601.date(text)?.millisecondsSince1970 == milliseconds)
    }

    @Test(
        "A text that is not a valid date gives no date",
        arguments: [
            "", "yesterday", "2026-02-03", "2026-13-03T09:00:00Z", "2026-02-03T09:00:00", "2026-02-03T09:00:00.Z",
            "2026-02-03T09:00:00Zx", "2026-02-31T09:00:00Z", "2026-02-29T09:00:00Z", "2100-02-29T09:00:00Z",
            "2026-04-31T09:00:00Z", "2026-02-00T09:00:00Z", "2026-01-32T09:00:00Z",
        ])
    func noMoments(text: String) {
        #expect(ISO8601.date(text) == nil)
    }

    /// The beginning of the Gregorian calendar, 1582-10-15. Foundation writes earlier dates in the Julian calendar, in
    /// contradiction to ISO 8601.
    private static let gregorianCalendar: Int64 = -12_219_292_800_000

    @Test("A date is written as by Foundation, with milliseconds, and read back")
    func written() {
        var random = SeededGenerator(seed: 12)
        let edges: [Int64] = [
            0, -1, -1000, 951_782_399_999, 951_782_400_000, 951_868_799_999, 4_107_542_399_999, 4_107_542_400_000,
            253_402_300_799_999, 253_402_300_800_000, -62_135_596_800_000,
        ]
        let dates =
            edges + (0..<2000).map { _ in Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random) }
        for milliseconds in dates {
            let date = Date(millisecondsSince1970: milliseconds)
            let second = Date(timeIntervalSince1970: (Double(milliseconds) / 1000).rounded(.down))
            let rest = milliseconds - Int64(second.timeIntervalSince1970) * 1000
            let text = ISO8601.text(of: date)
            if milliseconds > Self.gregorianCalendar {
                let fraction = String(1000 + rest).dropFirst()
                let expected = "\(second.formatted(.iso8601).dropLast()).\(fraction)Z"
                #expect(text == expected)
            }
            if milliseconds < 253_402_300_800_000 {
                #expect(ISO8601.date(text)?.millisecondsSince1970 == milliseconds)
            }
        }
    }
}
