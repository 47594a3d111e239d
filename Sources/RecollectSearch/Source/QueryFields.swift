import Foundation
import RecollectCore

/// The fields of a query's text: `session:`, `agent:`, `role:`, `before:` and `after:`, each followed by a value
/// without a space or in quotation marks.
///
/// A field with an unknown value is searched for as text: `role:admin` may be in a log.
package enum QueryFields {
    /// Returns the query with its fields as filters, and its text without them; `nil` if the filters exclude each
    /// other.
    package static func applied(
        to query: SearchQuery, _ source: any SearchSource
    ) throws -> SearchQuery? {
        guard query.text.utf8.contains(UInt8(ascii: ":")) else { return query }
        var applied = query
        applied.text = ""
        var roles: Set<String> = []
        let pieces = pieces(of: ParsedQuery.withStraightMarks(ParsedQuery.limited(query.text)))
        let filters = try source.together(pieces) { piece in
            try field(in: piece).flatMap { try Filter($0.name, $0.value, source) }
        }
        for (piece, filter) in zip(pieces, filters) {
            guard let filter else {
                applied.text += piece
                continue
            }
            switch filter {
            case .session(let id): guard unite(&applied.sessionId, id) else { return nil }
            case .agent(let id): guard unite(&applied.agentId, id) else { return nil }
            case .role(let role): roles.insert(role)
            case .before(let date): applied.until = min(applied.until ?? date, date)
            case .after(let date): applied.from = max(applied.from ?? date, date)
            }
        }
        guard !roles.isEmpty else { return applied }
        applied.roles =
            query.roles.isEmpty ? roles.sorted().map(Role.init) : query.roles.filter { roles.contains($0.rawValue) }
        return applied.roles.isEmpty ? nil : applied
    }

    /// Sets a filter. Returns whether it had no other value.
    private static func unite(_ filter: inout String?, _ value: String) -> Bool {
        defer { filter = value }
        return filter.map { $0.hasSameBytes(as: value) } ?? true
    }

    private enum Filter {
        case session(String), agent(String), role(String), before(Date), after(Date)

        /// Creates the filter of a field, or returns `nil` if the value is unknown.
        init?(_ name: String, _ value: String, _ source: any SearchSource) throws {
            var filter: Filter?
            switch name {
            case "session": filter = try QueryFields.session(value, source).map(Filter.session)
            case "agent": filter = try source.hasAgent(value) ? .agent(value) : nil
            case "role":
                let isKnown = [Role.user, .assistant, .system, .tool].contains { $0.rawValue == value.lowercased() }
                filter = isKnown ? .role(value.lowercased()) : nil
            case "before": filter = QueryFields.date(value).map(Filter.before)
            case "after": filter = QueryFields.date(value).map(Filter.after)
            default: filter = nil
            }
            guard let filter else { return nil }
            self = filter
        }
    }

    /// Returns the pieces of a string: those between white space, and the white space. White space between quotation
    /// marks does not separate. Of an odd number of marks, the last one is ignored.
    private static func pieces(of text: String) -> [Substring] {
        var pieces: [Substring] = []
        var isQuoted = false
        var start = text.startIndex
        var isSpace = false
        var marks = text.unicodeScalars.filter { $0 == "\"" }.count / 2 * 2
        for index in text.unicodeScalars.indices {
            let scalar = text.unicodeScalars[index]
            if scalar == "\"", marks > 0 {
                isQuoted.toggle()
                marks -= 1
            }
            let isSpaceHere = scalar.properties.isWhitespace && !isQuoted
            if isSpaceHere != isSpace {
                pieces.append(text[start..<index])
                (start, isSpace) = (index, isSpaceHere)
            }
        }
        return pieces + [text[start...]]
    }

    private static func field(in piece: Substring) -> (name: String, value: String)? {
        guard let colon = piece.firstIndex(of: ":") else { return nil }
        let name = piece[..<colon].lowercased()
        var value = piece[piece.index(after: colon)...]
        if value.hasPrefix("\"") {
            guard value.count > 1, value.hasSuffix("\"") else { return nil }
            value = value.dropFirst().dropLast()
        }
        return value.isEmpty || value.contains("\"") ? nil : (name, String(value))
    }

    /// Returns the ID of the user's session with an ID, or the only one with an ID beginning with it.
    private static func session(_ value: String, _ source: any SearchSource) throws -> String? {
        let found = try source.sessionIDs(beginningWith: value)
        return found.count == 1 || found.first?.hasSameBytes(as: value) == true ? found.first : nil
    }

    /// Returns the date of a time, or the start of a day (`2026-05-03`), month (`2026-05`) or year in the current time
    /// zone.
    private static func date(_ text: String) -> Date? {
        if let date = ISO8601.date(text) { return date }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), parts[0].utf8.count == 4,
            parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
        else {
            return nil
        }
        let numbers = parts.compactMap { part in part.utf8.allSatisfy { $0 &- 0x30 < 10 } ? Int(part) : nil }
        guard numbers.count == parts.count else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        let components = DateComponents(
            year: numbers[0], month: numbers.count > 1 ? numbers[1] : 1, day: numbers.count > 2 ? numbers[2] : 1)
        return components.isValidDate(in: calendar) ? calendar.date(from: components) : nil
    }
}
