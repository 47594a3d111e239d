import Foundation
import RecollectCore

/// A part of a list of conversations with a heading of its own: the pinned ones, today's, those of a month.
public struct ConversationSection: Hashable, Sendable, Identifiable {
    /// What a section's conversations have in common.
    public enum Kind: Hashable, Sendable {
        /// They are pinned, whatever their date.
        case pinned
        /// They are of today, or of a moment to come: the clock may have been put back since.
        case today
        /// They are of the day before today.
        case yesterday
        /// They are of the seven days before today, but for yesterday.
        case previous7Days
        /// They are of the thirty days before today, but for the last seven.
        case previous30Days
        /// They are older and of one month; the date is the month's first moment.
        case month(Date)
        /// They are in an order that is not of time.
        case all
    }

    /// What its conversations have in common; no two sections of a list have the same.
    public let kind: Kind
    /// The conversations in the list's order, at least one.
    public internal(set) var conversations: [Conversation]

    /// The kind.
    public var id: Kind { kind }

    /// Divides a list into sections. A pure function of its arguments.
    ///
    /// Pinned conversations come first; all sections are in the order in which the list has their first conversations, so that a
    /// list turned round has its oldest section first. Days are those of the calendar and its time zone: a day of 23 or 25
    /// hours is one day, and one that a country skipped is none.
    /// - Parameters:
    ///   - conversations: the list, in order.
    ///   - order: what it is ordered by, which tells the date that counts: the last activity, the last access or the creation.
    ///   - moment: now.
    ///   - calendar: whose days and months count.
    public static func sections(
        of conversations: [Conversation], by order: ConversationQuery.Order, at moment: Date, calendar: Calendar
    ) -> [ConversationSection] {
        var days = RecentDays(moment, calendar)
        var sections: [ConversationSection] = []
        var places: [Kind: Int] = [:]
        for conversation in conversations.filter(\.isPinned) + conversations.filter({ !$0.isPinned }) {
            let kind = conversation.isPinned ? .pinned : order.date(of: conversation).map { days.kind(of: $0) } ?? .all
            if let place = places[kind] {
                sections[place].conversations.append(conversation)
            } else {
                places[kind] = sections.count
                sections.append(ConversationSection(kind: kind, conversations: [conversation]))
            }
        }
        return sections
    }
}

extension ConversationQuery.Order {
    /// The date that a conversation is listed under; `nil` in an order that is not of time.
    fileprivate func date(of conversation: Conversation) -> Date? {
        switch self {
        case .lastActivity: conversation.lastActivityAt
        case .lastAccess: conversation.lastAccessedAt
        case .creation: conversation.createdAt
        case .title, .messageCount: nil
        }
    }
}

/// Where the days begin that sections are made of.
private struct RecentDays {
    private let calendar: Calendar
    private let today: Date
    private let yesterday: Date
    private let sevenDaysAgo: Date
    private let thirtyDaysAgo: Date
    /// The month that was asked for last: neighbours in a list are mostly of the same, and a calendar is slow.
    private var month: DateInterval?

    init(_ moment: Date, _ calendar: Calendar) {
        self.calendar = calendar
        today = calendar.startOfDay(for: moment)
        // From day to day by their last seconds. To subtract days would need a midnight that not every day has.
        var start = today
        var starts: [Date] = []
        for _ in 1...30 {
            start = calendar.startOfDay(for: start - 1)
            starts.append(start)
        }
        (yesterday, sevenDaysAgo, thirtyDaysAgo) = (starts[0], starts[6], starts[29])
    }

    mutating func kind(of date: Date) -> ConversationSection.Kind {
        if date >= today { return .today }
        if date >= yesterday { return .yesterday }
        if date >= sevenDaysAgo { return .previous7Days }
        if date >= thirtyDaysAgo { return .previous30Days }
        if let month, month.start <= date, date < month.end { return .month(month.start) }
        month = calendar.dateInterval(of: .month, for: date)
        return .month(month?.start ?? calendar.startOfDay(for: date))
    }
}
