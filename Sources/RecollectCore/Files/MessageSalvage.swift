/// The search for readable messages in damaged bytes of a JSON array. It takes linear time.
///
/// Tool results may contain objects of the same shape as messages, so an object is a message only at the top level
/// of the array. Damage hides the levels above an object. Two facts replace them:
///
/// - All bytes of an object before its first invalid one are inside it.
/// - An array inside an object is followed by a comma, a brace or a bracket. The array of messages is followed by
///   nothing, or by a save not yet joined to it.
///
/// The stores begin each message on a line of its own, and break no line inside one. If a file has such lines, a
/// message after damage must begin one. Other programs write all messages in one line.
struct MessageSalvage {
    private let bytes: [UInt8]
    private let isMessage: (Range<Int>) -> Bool
    /// Whether objects in an array begin lines.
    private let hasLines: Bool

    /// Creates a search.
    /// - Parameter isMessage: Whether the bytes of a valid JSON object are a message.
    init(of bytes: [UInt8], isMessage: @escaping (Range<Int>) -> Bool) {
        self.bytes = bytes
        self.isMessage = isMessage
        hasLines = bytes.indices.dropFirst().contains {
            bytes[$0] == Byte.newline && [Byte.comma, Byte.openingBracket].contains(bytes[$0 - 1])
                && MessageArray.skippingSpace(in: bytes, from: $0).map { bytes[$0] } == Byte.openingBrace
        }
    }

    /// Returns the ranges of the messages, in order.
    ///
    /// Bytes after the closing bracket are messages of a save not yet joined to the array. If they are incomplete,
    /// the save was not finished, and all of them are left out.
    func messages() -> [Range<Int>] {
        var found: [Range<Int>] = []
        // The messages since the last damage, joined by commas.
        var run: [Range<Int>] = []
        var followsDamage = !beginsArray
        // The indentation of the last found message that begins a line.
        var indentation = Int.max
        func endRun() {
            found += run
            indentation = run.last.flatMap { lineIndentation(of: $0.lowerBound) } ?? indentation
            run = []
        }
        var candidate = followsDamage ? nextStart(from: 0, indentation) : bytes.firstIndex(of: Byte.openingBrace)
        while let start = candidate {
            switch object(at: start) {
            case .whole(let end):
                if isMessage(start..<end) {
                    run.append(start..<end)
                } else if !followsDamage {
                    endRun()
                    followsDamage = true
                }
                let next = follower(of: end)
                if case .object(let place) = next {
                    candidate = place
                    continue
                }
                if followsDamage, isInsideObject(run, before: next) {
                    run = []
                } else if case .closing(let place, _) = next, !run.isEmpty {
                    let rest = MessageArray.layout(ofRest: bytes, from: place + 1, begun: false)
                    return found + run + (rest?.messages ?? []).filter(isMessage)
                }
                endRun()
                candidate = nextStart(from: end, indentation)
            case .damaged(let place):
                endRun()
                candidate = nextStart(from: place, indentation)
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
        case damaged(place: Int)
    }

    private func object(at start: Int) -> Object {
        bytes.withUnsafeBytes { bytes in
            var parser = JSONParser(UnsafeRawBufferPointer(rebasing: bytes[start...]))
            do {
                return .whole(end: start + (try parser.skip().upperBound))
            } catch {
                // A string without its end extends to the beginning of the next string, perhaps in another message.
                return .damaged(place: start + max(1, parser.lastSkippedString))
            }
        }
    }

    /// Whether the first object is the first element of the array: at most a bracket and one damaged byte precede it.
    private var beginsArray: Bool {
        let first = bytes.firstIndex(of: Byte.openingBrace) ?? 0
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

    /// Whether messages after damage, joined by commas, are inside an object.
    private func isInsideObject(_ run: [Range<Int>], before next: Follower) -> Bool {
        switch next {
        case .closing(_, inObject: true): true
        // An element of an array with other values, or a member's value with a damaged colon. Damage to a line's
        // first byte must not look like this.
        case .value: !hasLines
        case .closingBrace: !hasLines && run.count == 1
        default: false
        }
    }

    private func follower(of end: Int) -> Follower {
        guard let place = MessageArray.skippingSpace(in: bytes, from: end) else { return .other }
        let next = MessageArray.skippingSpace(in: bytes, from: place + 1)
        switch (bytes[place], next.map { bytes[$0] }) {
        case (Byte.comma, Byte.openingBrace): return .object(next ?? place)
        case (Byte.comma, Byte.quote), (Byte.comma, Byte.openingBracket): return .value
        case (Byte.closingBracket, let byte):
            let others = [Byte.comma, Byte.closingBrace, Byte.closingBracket]
            return .closing(place, inObject: byte.map(others.contains) ?? false)
        case (Byte.closingBrace, _): return .closingBrace
        default: return .other
        }
    }

    // MARK: Candidates

    /// Returns the possible beginning of the next message after damage.
    ///
    /// If messages begin lines, this is an object at the beginning of a line, indented no deeper than the last
    /// readable message. Otherwise it is any object other than a member's value.
    private func nextStart(from position: Int, _ deepest: Int) -> Int? {
        var candidate = bytes[position...].firstIndex(of: Byte.openingBrace)
        while let start = candidate {
            if hasLines {
                if let indentation = lineIndentation(of: start) ?? (hadLineBreak(before: start) ? 0 : nil),
                    indentation <= deepest
                {
                    return start
                }
            } else if bytes[..<start].last(where: { $0 != Byte.space }) != Byte.colon {
                return start
            }
            candidate = bytes[(start + 1)...].firstIndex(of: Byte.openingBrace)
        }
        return nil
    }

    /// Returns the number of spaces and tabs between the beginning of a line and an object; `nil` if other bytes
    /// stand there.
    private func lineIndentation(of start: Int) -> Int? {
        let mark = bytes[..<start].lastIndex { $0 != Byte.space && $0 != Byte.tab }
        return mark.flatMap { bytes[$0] == Byte.newline ? start - $0 - 1 : nil }
    }

    /// Whether an object may have begun a line before damage to the line break: the stores write exactly one byte
    /// between a comma and an object.
    private func hadLineBreak(before start: Int) -> Bool {
        start >= 3 && bytes[start - 2] == Byte.comma && bytes[start - 3] == Byte.closingBrace
    }
}
