import Foundation

/// The one place that turns dates into whole milliseconds and back.
///
/// Every store keeps milliseconds since 1970 as an integer, so a date that passed through any of them compares equal to
/// the date in the message that was made.
extension Date {
    /// A date from whole milliseconds since 1970.
    public init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Milliseconds since 1970, rounded to the nearest; dates outside about ±140,000 years are clamped.
    public var millisecondsSince1970: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        guard milliseconds.isFinite else { return milliseconds == -.infinity ? -Self.extent : Self.extent }
        return Int64(max(-Double(Self.extent), min(Double(Self.extent), milliseconds)))
    }

    /// The same moment in whole milliseconds.
    public var wholeMilliseconds: Date {
        Date(millisecondsSince1970: millisecondsSince1970)
    }

    /// Whether the date is NaN.
    package var isNotANumber: Bool { timeIntervalSince1970.isNaN }

    /// Milliseconds up to 2^52 pass unharmed through the seconds of a `Date` and through JSON numbers.
    private static let extent: Int64 = 1 << 52
}
