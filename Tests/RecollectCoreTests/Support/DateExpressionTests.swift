import Foundation
import Testing

@testable import RecollectCore

@Suite("Dates in inputs")
struct DateExpressionTests {
    /// The day that a string names, as `2026-03-16`, and the rest of the text.
    private func day(_ text: String) -> (day: String, rest: String)? {
        guard let found = DateExpression.find(in: text, now: morning, calendar: utc),
            utc.date(byAdding: .day, value: 1, to: found.time.from) == found.time.until
        else { return nil }
        let day = utc.dateComponents([.year, .month, .day], from: found.time.from)
        let rest = found.rest.split(separator: " ").joined(separator: " ")
        return (String(format: "%04d-%02d-%02d", day.year ?? 0, day.month ?? 0, day.day ?? 0), rest)
    }

    @Test(
        "A date names a day; without a year, it is the latest such day that has begun",
        arguments: [
            ("tea 16 Mar 2026", "2026-03-16", "tea"), ("tea on 16 March", "2026-03-16", "tea on"),
            ("March 16: tea", "2026-03-16", ": tea"), ("tea 16. März", "2026-03-16", "tea"),
            ("tea Mar 16, 2025", "2025-03-16", "tea"), ("tea the 3rd of May", "2026-05-03", "tea the"),
            ("tea 21 Nov", "2026-11-21", "tea"), ("tea 22 Nov", "2025-11-22", "tea"),
            ("tea 24 December", "2025-12-24", "tea"), ("tea 29 Feb", "2024-02-29", "tea"),
            ("Tee am 1. Mai 2024", "2024-05-01", "Tee am"), ("thé le 1er août", "2026-08-01", "thé le"),
            ("té el 3 de enero de 2025", "2025-01-03", "té el"), ("2025年3月16日茶", "2025-03-16", "茶"),
            ("茶3月16号", "2026-03-16", "茶"), ("tea 2026-05-03", "2026-05-03", "tea"),
            ("31 Feb or 2 Feb", "2026-02-02", "31 Feb or"),
        ])
    func dates(text: String, expected: String, rest: String) throws {
        let found = try #require(day(text))
        #expect(found.day == expected)
        #expect(found.rest == rest)
    }

    @Test(
        "A text that only resembles a date is not a date",
        arguments: [
            "may the budget change", "march on", "31 Feb 2026", "2026-02-31", "16 marbles", "0 May", "32 May",
            "room 16",
            "mars 16", "1600 May flowers",
        ])
    func noDates(text: String) {
        #expect(DateExpression.find(in: text, now: morning, calendar: utc) == nil)
    }

    @Test(
        "The French word for yesterday is distinguished from the German word for here",
        arguments: [
            ("qu'est-ce que j'ai dit hier ?", true), ("Hier, on a parlé de la maison", true),
            ("mes notes d'hier", true),
            ("thé hier", true), ("hier", true), ("la réunion d’hier", true), ("Was steht hier?", false),
            ("was habe ich hier über den Urlaub gesagt", false), ("Hier ist die Adresse", false),
            ("Zeig mir, was hier notiert ist", false),
        ])
    func yesterdayOrHere(text: String, isYesterday: Bool) {
        #expect(day(text)?.day == (isYesterday ? "2026-11-20" : nil))
    }

    @Test(
        "A month has the year after it; without a year, it is the latest one that has begun",
        arguments: [
            ("in May", "2026-05"), ("in May 2023", "2023-05"), ("in May, 2023", "2023-05"), ("in December", "2025-12"),
            ("im Mai 2023", "2023-05"), ("en mai 2023", "2023-05"), ("en mayo de 2023", "2023-05"), ("十二月", "2025-12"),
        ])
    func months(text: String, expected: String) throws {
        let found = try #require(DateExpression.find(in: "tea \(text)", now: morning, calendar: utc))
        let month = utc.dateComponents([.year, .month], from: found.time.from)
        #expect(String(format: "%04d-%02d", month.year ?? 0, month.month ?? 0) == expected)
        #expect(utc.date(byAdding: .month, value: 1, to: found.time.from) == found.time.until)
        #expect(found.time.name == text && found.rest.split(separator: " ") == ["tea"])
    }

    private let morning = Date(timeIntervalSince1970: 1_795_252_327)
    private let utc = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}
