import RecollectCore

/// Distributes the usage of an API message over its lines, so that the sum over all messages counts every token once.
///
/// Claude Code writes one API message as several lines, each with the usage so far. The usage can grow from line
/// to line. The message made from a line has only its increase over the maximum of earlier lines of the same API
/// message. So the sum over a session's messages is the maximum of each field, once per API message. This also
/// holds for a file imported while it grows: its earlier lines are saved already and do not change.
struct UsageCounter {
    private var largest: [String: JSONValue] = [:]
    /// The IDs of API messages in order of arrival. Lines of one API message are close together, so a few are enough.
    private var order: [String] = []

    /// The minimum number of recent API messages to keep.
    private static let limit = 1024

    /// Returns the increase of a line's usage over the earlier lines of its API message; `nil` for no increase.
    mutating func increase(_ usage: JSONValue, of apiMessageId: String?) -> JSONValue? {
        guard let apiMessageId else { return usage }
        if largest[apiMessageId] == nil {
            if order.count == 2 * Self.limit {
                order.prefix(Self.limit).forEach { largest[$0] = nil }
                order.removeFirst(Self.limit)
            }
            order.append(apiMessageId)
        }
        return Self.increase(usage, &largest[apiMessageId])
    }

    private static func increase(_ value: JSONValue, _ largest: inout JSONValue?) -> JSONValue? {
        switch (value, largest) {
        case (.object(let members), .object(var before)):
            var added: [String: JSONValue] = [:]
            for (key, member) in members {
                added[key] = increase(member, &before[key])
            }
            largest = .object(before)
            return added.isEmpty ? nil : .object(added)
        case (.integer(let new), .integer(let old)):
            let (added, tooLarge) = new.subtractingReportingOverflow(old)
            guard !tooLarge, added > 0 else { return nil }
            largest = value
            return .integer(added)
        case (.number, .number), (.number, .integer), (.integer, .number):
            guard let new = value.doubleValue, let old = largest?.doubleValue, new > old else { return nil }
            largest = value
            return .number(new - old)
        default:
            guard value != largest else { return nil }
            largest = value
            return value
        }
    }
}
