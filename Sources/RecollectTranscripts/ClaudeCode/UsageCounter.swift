import RecollectCore

/// Spreads the usage of an API message over its lines so that adding up messages counts every token once.
///
/// Claude Code writes one API message as several lines, each with the usage so far, which can grow from line to line. A
/// message of ours carries what its line adds to the largest that earlier lines of the same API message said, so the sum over
/// a session's messages is the largest of each field, once per API message. That also holds when a file is imported while
/// it grows, where the earlier lines are stored already and stay as they are.
struct UsageCounter {
    private var largest: [String: JSONValue] = [:]
    /// The API messages in the order in which they came. Their lines follow one another closely, so a few are enough.
    private var order: [String] = []

    /// How many API messages may be under way at once.
    private static let limit = 1024

    /// What a line's usage adds to that of the earlier lines of its API message; `nil` where that is nothing.
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
