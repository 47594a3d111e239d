import Foundation
import RecollectCore
import Testing

@testable import RecollectBuiltInAgents

@Suite("Dates in replies")
struct WrittenDateTests {
    @Test(
        "Dates are recognized as they are formatted in replies",
        arguments: ["en_GB", "en_US", "de_DE", "fr_FR", "es_ES", "zh_CN"])
    func written(locale: String) throws {
        for month in 1...12 {
            let date = try #require(utc.date(from: DateComponents(year: 2025, month: month, day: 16, hour: 9)))
            let text = date.formatted(for: calendar("UTC", locale))
            let found = DateExpression.find(in: text, now: morning, calendar: utc)
            #expect(found?.time.from == utc.startOfDay(for: date), "\(text)")
        }
    }
}
