import Foundation

/// The arguments of a tool call, with error messages for the model.
package struct ToolArguments {
    /// An invalid argument, with a message for the model.
    package struct Failure: Error {
        package let message: String
        /// Additional data for the model, for a better call.
        package let details: [String: JSONValue]

        package init(message: String, details: [String: JSONValue] = [:]) {
            self.message = message
            self.details = details
        }
    }

    private let members: [String: JSONValue]
    private let calendar: Calendar

    /// Creates arguments; days are days of the calendar.
    /// - Throws: `Failure` if they are not an object, or have a name missing in `names`.
    package init(_ arguments: JSONValue, names: [String], calendar: Calendar) throws {
        guard let members = arguments.objectValue else {
            throw Failure(message: "The arguments must be a JSON object.")
        }
        for name in members.keys.sorted() where !names.contains(name) {
            throw Failure(
                message:
                    "There is no argument “\(String(name.unicodeScalars.prefix(80)))”. Use \(names.joined(separator: ", "))."
            )
        }
        self.members = members.filter { $0.value != .null }
        self.calendar = calendar
    }

    /// Returns a string that is not blank; `nil` if it is missing.
    package func text(_ name: String) throws -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.stringValue, text.contains(where: { !$0.isWhitespace }) else {
            throw Failure(message: "“\(name)” must be a non-empty string.")
        }
        return text
    }

    /// Returns a required string that is not blank.
    package func requiredText(_ name: String) throws -> String {
        guard let text = try text(name) else { throw Failure(message: "“\(name)” is missing.") }
        return text
    }

    /// Returns a required string, possibly empty.
    package func requiredString(_ name: String) throws -> String {
        guard let text = members[name]?.stringValue else { throw Failure(message: "“\(name)” must be a string.") }
        return text
    }

    /// Returns a Boolean value; `false` if it is missing.
    package func flag(_ name: String) throws -> Bool {
        guard let value = members[name] else { return false }
        guard let flag = value.boolValue else { throw Failure(message: "“\(name)” must be true or false.") }
        return flag
    }

    /// Returns one of several strings; `nil` if it is missing.
    package func choice(_ name: String, of choices: [String]) throws -> String? {
        guard let text = try text(name) else { return nil }
        guard choices.contains(text) else {
            throw Failure(message: "“\(name)” must be one of \(choices.joined(separator: ", ")).")
        }
        return text
    }

    /// Returns an integer within a range, or the default if it is missing.
    package func number(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws -> Int {
        guard let value = members[name] else { return fallback }
        guard let number = value.integerValue.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw Failure(
                message: "“\(name)” must be an integer from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Returns a date, given in full or as the beginning or end of a day; `nil` if it is missing.
    package func date(_ name: String, isEnd: Bool) throws -> Date? {
        guard let text = try text(name) else { return nil }
        if let date = ISO8601.date(text) { return date }
        guard let day = JournalDay(fileName: text + ".md", in: calendar.timeZone),
            let noon = day.date(hour: 12, minute: 0), let stretch = calendar.dateInterval(of: .day, for: noon)
        else {
            throw Failure(
                message: "“\(name)” must be a day (2026-05-03) or a date and time (2026-05-03T14:00:00Z).")
        }
        return isEnd ? stretch.end : stretch.start
    }
}

extension AgentTool {
    /// Creates a tool with arguments parsed by its schema. Invalid arguments are reported to the model.
    package init(
        name: String, description: String, properties: [String: JSONValue], required: [String], calendar: Calendar,
        run: @escaping @Sendable (ToolArguments, AgentContext) async throws -> JSONValue
    ) {
        let schema: JSONValue = [
            "type": "object", "properties": .object(properties), "required": .array(required.map { .string($0) }),
            "additionalProperties": false,
        ]
        let names = properties.keys.sorted()
        self.init(name: name, description: description, inputSchema: schema) { arguments, context in
            do {
                let arguments = try ToolArguments(arguments, names: names, calendar: calendar)
                return ToolResult(try await run(arguments, context))
            } catch let failure as ToolArguments.Failure {
                var details = failure.details
                details["error"] = .string(failure.message)
                return ToolResult(.object(details), isError: true)
            }
        }
    }
}

extension Date {
    /// Returns the date in the format for models: ISO 8601 with the offset of a time zone.
    package func forModel(in calendar: Calendar) -> JSONValue {
        .string(formatted(Date.ISO8601FormatStyle(timeZone: calendar.timeZone)))
    }
}
