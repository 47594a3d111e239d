import Foundation
import RecollectCore

/// A mild preference for recent messages.
struct Recency {
    /// The part of a score that depends on the age, and the age at which half of it is left, in days.
    private static let (part, halfLife) = (0.1, 30.0)
    private static let day: Int64 = 86_400_000
    private let today: Int64

    /// Creates the preference for a date.
    /// - Parameter now: The current date. Its day counts: the pages of a search are read at different times.
    init(now: Date) {
        today = now.millisecondsSince1970 / Self.day
    }

    /// Returns the share of its score that a message with a timestamp keeps, up to 1.
    func share(of timestamp: Int64) -> Double {
        let age = Double(max(0, today - timestamp / Self.day))
        return 1 - Self.part + Self.part * exp2(-age / Self.halfLife)
    }
}
