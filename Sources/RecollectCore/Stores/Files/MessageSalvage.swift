import Foundation

/// The search for readable messages in damaged bytes of a JSON array. It takes linear time.
///
/// Tool results may contain objects of the same shape as messages, so an object is a message only at the top level
/// of the array. Damage hides the levels above an object. These facts replace them:
///
/// - All bytes of an object before its first invalid one are inside it, unless brackets were lost.
/// - A message ends before the next line with an object indented no deeper. An intact message may show that a file has
///   such lines inside messages.
/// - An array inside an object is followed by a comma, a brace or a bracket. The array of messages is followed by
///   nothing, or by a save not yet joined to it.
///
/// The stores begin each message on a line of its own, and break no line inside one. From the first such line on, a
/// message after damage must begin a line. Other programs write all messages in one line, and the stores append lines
/// to such files.
struct MessageSalvage {
    private let bytes: [UInt8]
    private let isMessage: (Range<Int>) -> Bool
    /// The position from which messages begin lines.
    private let firstLine: Int
    /// Whether a space follows commas, as in the output of Python.
    private let isSpaced: Bool

    /// Creates a search.
    /// - Parameter isMessage: Whether the bytes of a valid JSON object are a message.
    init(of bytes: [UInt8], isMessage: @escaping (Range<Int>) -> Bool) {
        self.bytes = bytes
        self.isMessage = isMessage
        let line = bytes.indices.dropFirst().first {
            bytes[$0] == Byte.newline && [Byte.comma, Byte.openingBracket].contains(bytes[$0 - 1])
                && MessageArray.skippingSpace(in: bytes, from: $0).map { bytes[$0] } == Byte.openingBrace
        }
        // The first line can be damaged. The array begins before the first line only in a file of another program.
        firstLine = line.map { Self.beginsInLine(bytes) ? $0 : 0 } ?? .max
        isSpaced = bytes.indices.dropFirst(3).contains {
            bytes[$0] == Byte.quote && bytes[$0 - 1] == Byte.space && bytes[$0 - 2] == Byte.comma
                && bytes[$0 - 3] == Byte.quote
        }
    }

    /// Returns the ranges of the messages, in order.
    ///
    /// Bytes after the closing bracket are messages of a save not yet joined to the array. If they are incomplete,
    /// the save was not finished, and all of them are left out. If they are damaged too, some of them may be returned,
    /// although the save was never acknowledged.
    func messages() -> [Range<Int>] {
        var found: [Range<Int>] = []
        // The messages since the last damage, joined by commas.
        var run: [Range<Int>] = []
        var followsDamage = !beginsArray
        // The indentation of the first object, or, after damage to it, of the last message that begins a line.
        let first = followsDamage ? nil : firstObject.flatMap(lineIndentation)
        var indentation = first ?? indentationOfEnds ?? .max
        func endRun() {
            found += run
            indentation = first ?? run.last.flatMap { lineIndentation(of: $0.lowerBound) } ?? indentation
            run = []
        }
        var lines = Lines()
        var attempts = 8
        var candidate = followsDamage ? nextStart(from: 0, indentation) : firstObject
        while let start = candidate {
            switch object(at: start, &lines) {
            case .whole(let end):
                if isMessage(start..<end) {
                    run.append(start..<end)
                } else if !followsDamage || isAtTopLevel(start, indentation) {
                    endRun()
                    followsDamage = true
                }
                let next = follower(of: end)
                if case .object(let nextObject) = next {
                    candidate = nextObject
                    continue
                }
                if case .closing(let bracket, inObject: false) = next, let last = run.last {
                    let rest = MessageArray.layout(ofRest: bytes, from: bracket + 1, begun: false)
                    if rest != nil || isUnfinishedSave(behind: bracket, after: last, &attempts) {
                        return found + run + (rest?.messages ?? []).filter(isMessage)
                    }
                } else if followsDamage || end >= firstLine, isInsideObject(run, endingAt: end, before: next) {
                    removeInnerObjects(from: &run)
                }
                endRun()
                candidate = nextStart(from: end, indentation)
            case .damaged(let end):
                endRun()
                candidate = nextStart(from: end, indentation)
            }
            followsDamage = true
        }
        return found
    }

    // MARK: Objects

    private enum Object {
        /// Valid JSON, up to this position.
        case whole(end: Int)
        /// Invalid JSON: all bytes up to this position are inside the object.
        case damaged(end: Int)
    }

    /// The findings about lines inside messages, from the objects read so far.
    private struct Lines {
        /// Whether a message had a line with an object indented no deeper than itself.
        var areInMessages = false
        /// The number of damaged objects still to be read beyond such a line. Each may take the rest of the bytes.
        var attempts = 8
        /// The result of the last search for a line, with its beginning and indentation.
        var found: (start: Int, indentation: Int, line: Int?)?
    }

    private func object(at start: Int, _ lines: inout Lines) -> Object {
        guard !lines.areInMessages, let limit = nextLine(behind: start, &lines) else {
            return object(start..<bytes.count)
        }
        let object = object(start..<limit)
        guard case .damaged = object, lines.attempts > 0 else { return object }
        if case .whole(let end) = self.object(start..<bytes.count) {
            lines.areInMessages = true
            return .whole(end: end)
        }
        lines.attempts -= 1
        return object
    }

    /// Reads an object within a range.
    private func object(_ range: Range<Int>) -> Object {
        bytes.withUnsafeBytes { bytes in
            var parser = JSONParser(UnsafeRawBufferPointer(rebasing: bytes[range]), replacesLoneSurrogates: true)
            do {
                return .whole(end: range.lowerBound + (try parser.skip().upperBound))
            } catch {
                // A string without its end extends to the beginning of the next string, perhaps in another message.
                return .damaged(end: range.lowerBound + max(1, parser.lastSkippedString))
            }
        }
    }

    /// Returns the next object that begins a line and is indented no deeper than an object; `nil` if there is none, or
    /// the object does not begin a line though messages do.
    private func nextLine(behind start: Int, _ lines: inout Lines) -> Int? {
        guard start >= firstLine else { return firstLine < .max ? firstLine : nil }
        guard let indentation = lineIndentation(of: start) else { return nil }
        if let found = lines.found, found.indentation == indentation, found.start <= start,
            start < found.line ?? .max
        {
            return found.line
        }
        let line = nextLine(behind: start, indentation)
        lines.found = (start, indentation, line)
        return line
    }

    private func nextLine(behind start: Int, _ indentation: Int) -> Int? {
        var position = start
        while let newline = bytes[position...].firstIndex(of: Byte.newline) {
            let next = bytes[(newline + 1)...].firstIndex { $0 != Byte.space && $0 != Byte.tab } ?? bytes.count
            if next < bytes.count, bytes[next] == Byte.openingBrace, next - newline - 1 <= indentation,
                isLineBreak(newline)
            {
                return next
            }
            position = newline + 1
        }
        return nil
    }

    /// The first object. A brace before another one is not an object.
    private var firstObject: Int? {
        bytes.indices.first { start in
            guard bytes[start] == Byte.openingBrace else { return false }
            return MessageArray.skippingSpace(in: bytes, from: start + 1).map { bytes[$0] } != Byte.openingBrace
        }
    }

    /// Whether the first object is the first element of the array: at most a bracket and one damaged byte precede it.
    private var beginsArray: Bool {
        let first = firstObject ?? 0
        return bytes[..<first].lazy.filter { !MessageArray.isSpace($0) }.prefix(3).count < 3
    }

    /// The bytes behind a valid object.
    private enum Follower {
        /// A comma and another object, at this position.
        case object(Int)
        /// A comma and another value.
        case value
        /// A bracket at this position. In an object, another part of the object follows.
        case closing(Int, inObject: Bool)
        case closingBrace
        case other
    }

    /// Whether the last messages, joined by commas, are inside an object.
    private func isInsideObject(_ run: [Range<Int>], endingAt end: Int, before next: Follower) -> Bool {
        switch next {
        case .closing(_, inObject: true): true
        // An element of an array with other values, or a member's value with a damaged colon.
        case .value: true
        case .closingBrace: end < firstLine && run.count == 1
        default: false
        }
    }

    /// Removes the messages inside an object from the end of a run: without lines all of them, otherwise those that do
    /// not begin a line.
    ///
    /// A message before them in the same run is the object around them. Lost bytes joined it from two halves.
    private func removeInnerObjects(from run: inout [Range<Int>]) {
        let count = run.count
        while let last = run.last?.lowerBound, last < firstLine || !beginsLine(last) { run.removeLast() }
        if run.count < count, !run.isEmpty { run.removeLast() }
    }

    /// The smallest indentation of a line beginning with a closing brace; `nil` without such lines. Pretty-printed
    /// messages end at the indentation of their beginning.
    private var indentationOfEnds: Int? {
        var smallest: Int?
        var position = bytes.startIndex
        while let newline = bytes[position...].firstIndex(of: Byte.newline) {
            position = newline + 1
            let first = bytes[position...].firstIndex { $0 != Byte.space && $0 != Byte.tab } ?? bytes.endIndex
            if first < bytes.endIndex, bytes[first] == Byte.closingBrace {
                smallest = min(smallest ?? .max, first - position)
            }
        }
        return smallest
    }

    private func beginsLine(_ start: Int) -> Bool {
        bytes[..<start].lastIndex { $0 != Byte.space && $0 != Byte.tab }.map(isLineBreak) ?? false
    }

    /// Whether an object begins a line, indented no deeper than messages.
    private func isAtTopLevel(_ start: Int, _ deepest: Int) -> Bool {
        start >= firstLine && beginsLine(start) && (lineIndentation(of: start) ?? .max) <= deepest
    }

    /// Whether the bytes after a closing bracket are a save not joined to the array: a message in the next line, or
    /// NUL bytes after a power loss.
    ///
    /// Otherwise the bracket was copied there from the end of the array, and more messages follow. The same is true if
    /// the message before it is repeated.
    private func isUnfinishedSave(behind closing: Int, after message: Range<Int>, _ attempts: inout Int) -> Bool {
        let rest = bytes[(closing + 1)...]
        guard attempts > 0, rest.first != 0 else { return true }
        guard rest.starts(with: [Byte.newline, Byte.openingBrace]) else { return false }
        attempts -= 1
        return Data(rest).range(of: Data(bytes[message])) == nil
    }

    private func follower(of end: Int) -> Follower {
        guard let mark = MessageArray.skippingSpace(in: bytes, from: end) else { return .other }
        let next = MessageArray.skippingSpace(in: bytes, from: mark + 1)
        switch (bytes[mark], next.map { bytes[$0] }) {
        case (Byte.comma, Byte.openingBrace): return .object(next ?? mark)
        case (Byte.comma, let byte?) where Self.beginsValue(byte): return .value
        case (Byte.closingBracket, let byte):
            let others = [Byte.comma, Byte.closingBrace, Byte.closingBracket]
            return .closing(mark, inObject: byte.map(others.contains) ?? false)
        case (Byte.closingBrace, _): return .closingBrace
        default: return .other
        }
    }

    /// Whether a byte begins a JSON value other than an object.
    private static func beginsValue(_ byte: UInt8) -> Bool {
        switch byte {
        case Byte.quote, Byte.openingBracket, UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            true
        default: false
        }
    }

    // MARK: Candidates

    /// Returns the possible beginning of the next message after damage.
    ///
    /// If messages begin lines there, this is an object at the beginning of a line, indented no deeper than the last
    /// readable message. Otherwise it is any object other than a member's value.
    private func nextStart(from position: Int, _ deepest: Int) -> Int? {
        var candidate = bytes[position...].firstIndex(of: Byte.openingBrace)
        while let start = candidate {
            if start >= firstLine {
                if let indentation = lineIndentation(of: start), indentation <= deepest { return start }
            } else if bytes[..<start].last(where: { $0 != Byte.space }) != Byte.colon {
                return start
            }
            candidate = bytes[(start + 1)...].firstIndex(of: Byte.openingBrace)
        }
        return nil
    }

    /// Returns the number of spaces and tabs between the beginning of a line and an object; `nil` if other bytes
    /// stand there. A damaged line break after a comma and another object counts as a line break.
    private func lineIndentation(of start: Int) -> Int? {
        guard let mark = bytes[..<start].lastIndex(where: { $0 != Byte.space && $0 != Byte.tab }) else { return nil }
        func isComma(_ position: Int) -> Bool {
            position >= 1 && bytes[position] == Byte.comma && bytes[position - 1] == Byte.closingBrace
        }
        if isLineBreak(mark) || isComma(mark - 1) { return start - mark - 1 }
        // The line break became a space.
        return !isSpaced && isComma(mark) && start > mark + 1 ? start - mark - 2 : nil
    }

    /// Whether a line break may be before a message. After a colon, a brace, a string, an array or the beginning of one
    /// inside a message, a damaged byte became the line break. If a message is in the line, the byte before the line
    /// break is damaged instead.
    private func isLineBreak(_ position: Int) -> Bool {
        guard bytes[position] == Byte.newline else { return false }
        guard position > 0 else { return true }
        let isOutside =
            switch bytes[position - 1] {
            case Byte.colon, Byte.closingBrace, Byte.closingBracket, Byte.quote: false
            case Byte.openingBracket:
                position < 2 || ![Byte.colon, Byte.comma, Byte.openingBracket].contains(bytes[position - 2])
            case Byte.comma: position < 2 || ![Byte.closingBracket, Byte.quote].contains(bytes[position - 2])
            default: true
            }
        return isOutside || isMessageLine(position + 1)
    }

    /// Whether a line begins a message of the array: a line with another object follows, or the array's end. There are
    /// no such lines inside a message: its objects are in one line with it, or indented more deeply.
    private func isMessageLine(_ line: Int) -> Bool {
        guard let start = MessageArray.skippingSpace(in: bytes, from: line) else { return false }
        let lineEnd = bytes[line...].firstIndex(of: Byte.newline) ?? bytes.count
        // A pretty-printed object has only its brace in the first line.
        let end = start + 1 == lineEnd ? bytes.count : lineEnd
        guard start < end, case .whole(let objectEnd) = object(start..<end), isMessage(start..<objectEnd)
        else { return false }
        return switch follower(of: objectEnd) {
        case .object(let next): bytes[objectEnd..<next].contains(Byte.newline)
        case .closing(let bracket, inObject: false): MessageArray.skippingSpace(in: bytes, from: bracket + 1) == nil
        default: false
        }
    }

    /// Whether the first message follows the bracket in its line, though one of the first bytes may be damaged.
    private static func beginsInLine(_ bytes: [UInt8]) -> Bool {
        bytes.count > 2 && !bytes[..<3].contains(Byte.newline)
            && (bytes[1] == Byte.openingBrace || bytes[2] != Byte.openingBrace)
    }
}
