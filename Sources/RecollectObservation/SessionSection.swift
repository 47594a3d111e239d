import Foundation
import RecollectCore

/// A section of a session list: the pinned sessions, those of today, those of a month.
public struct SessionSection: Hashable, Sendable, Identifiable {
    /// The common property of a section's sessions.
    public enum Kind: Hashable, Sendable {
        /// Pinned, of any date.
        case pinned
        /// Of today, or of a future date, as after the clock was set back.
        case today
        /// Of the day before today.
        case yesterday
        /// Of the seven days before today, except yesterday.
        case previous7Days
        /// Of the thirty days before today, except the last seven.
        case previous30Days
        /// Of one earlier month, given by its first instant.
        case month(Date)
        /// In an order not by date.
        case all
    }

    /// The kind, different for each section of a list.
    public let kind: Kind
    /// The sessions in the list's order, at least one.
    public internal(set) var sessions: [Session]

    /// The kind.
    public var id: Kind { kind }

    /// Divides a list into sections. A pure function of its arguments.
    ///
    /// Pinned sessions come first. Sections are in the order of their first sessions in the list, so that a list
    /// in reverse order starts with its oldest section. Days are those of the calendar and its time zone: a day of
    /// 23 or 25 hours is one day, and a day skipped by a country is none.
    ///
    /// - Parameters:
    ///   - sessions: the list, in order.
    ///   - order: the order of the list. It determines the date used: last activity, last access, or creation.
    ///   - date: the current date.
    ///   - calendar: the calendar for days and months.
    public static func sections(
        of sessions: [Session], by order: SessionQuery.Order, at date: Date, calendar: Calendar
    ) -> [SessionSection] {
        var days = RecentDays(date, calendar)
        var sections: [SessionSection] = []
        var positions: [Kind: Int] = [:]
        for session in sessions.filter(\.isPinned) + sessions.filter({ !$0.isPinned }) {
            let kind = session.isPinned ? .pinned : order.date(of: session).map { days.kind(of: $0) } ?? .all
            if let position = positions[kind] {
                sections[position].sessions.append(session)
            } else {
                positions[kind] = sections.count
                sections.append(SessionSection(kind: kind, sessions: [session]))
            }
        }
        return sections
    }
}

extension SessionQuery.Order {
    /// The date a session is listed under; `nil` in an order not by date.
    fileprivate func date(of session: Session) -> Date? {
        switch self {
        case .lastActivity: session.lastActivityAt
        case .lastAccess: session.lastAccessedAt
        case .creation: session.createdAt
        case .title, .messageCount: nil
        }
    }
}

/// The first instants of the recent days.
private struct RecentDays {
    private let calendar: Calendar
    private let today: Date
    private let yesterday: Date
    private let sevenDaysAgo: Date
    private let thirtyDaysAgo: Date
    /// The month of the previous call. Neighbors in a list are mostly of the same month, and a calendar is slow.
    private var month: DateInterval?

    init(_ date: Date, _ calendar: Calendar) {
        self.calendar = calendar
        today = calendar.startOfDay(for: date)
        // Step back by the last second of each previous day. Subtracting days would need a midnight, and some days
        // have none.
        var start = today
        var starts: [Date] = []
        for _ in 1...30 {
            start = calendar.startOfDay(for: start - 1)
            starts.append(start)
        }
        (yesterday, sevenDaysAgo, thirtyDaysAgo) = (starts[0], starts[6], starts[29])
    }

    mutating func kind(of date: Date) -> SessionSection.Kind {
        if date >= today { return .today }
        if date >= yesterday { return .yesterday }
        if date >= sevenDaysAgo { return .previous7Days }
        if date >= thirtyDaysAgo { return .previous30Days }
        if let month, month.start <= date, date < month.end { return .month(month.start) }
        month = calendar.dateInterval(of: .month, for: date)
        return .month(month?.start ?? calendar.startOfDay(for: date))
    }
}
