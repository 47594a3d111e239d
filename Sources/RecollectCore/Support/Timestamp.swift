import Foundation

/// The conversion between dates and whole milliseconds, used everywhere.
///
/// Every store saves milliseconds since 1970 as an integer, so dates are equal before and after a save.
extension Date {
    /// Creates a date from whole milliseconds since 1970.
    package init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The milliseconds since 1970, rounded to the nearest integer. Dates beyond about ±140,000 years are clamped.
    package var millisecondsSince1970: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        guard milliseconds.isFinite else { return milliseconds == -.infinity ? -Self.extent : Self.extent }
        return Int64(max(-Double(Self.extent), min(Double(Self.extent), milliseconds)))
    }

    /// The date rounded to whole milliseconds.
    package var wholeMilliseconds: Date {
        Date(millisecondsSince1970: millisecondsSince1970)
    }

    /// Whether the date is NaN.
    package var isNotANumber: Bool { timeIntervalSince1970.isNaN }

    /// The limit of dates. Up to 2^52, milliseconds are exact as seconds of a `Date` and as JSON numbers.
    private static let extent: Int64 = 1 << 52
}

extension Duration {
    /// The duration in whole milliseconds.
    package var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
