import Foundation

/// Finds the messages in the bytes of a JSON array without decoding them.
///
/// The stores give white space a meaning: each appended message begins a line. So the next message after a damaged
/// one is found reliably, independent of the damaged bytes.
enum MessageArray {
    /// The layout of a whole array: the ranges of its messages, and the position of its closing bracket.
    struct Layout {
        var messages: [Range<Int>] = []
        var closing = 0
    }

    /// Returns the layout of an array of objects, with white space around it; `nil` for other bytes.
    static func layout(of bytes: [UInt8]) -> Layout? {
        guard let start = skippingSpace(in: bytes, from: 0), bytes[start] == Byte.openingBracket else { return nil }
        return layout(ofRest: bytes, from: start + 1, begun: false)
    }

    /// Returns the layout of the rest of an array, after its opening bracket or after a message; `nil` for other
    /// bytes.
    /// - Parameter begun: Whether the rest follows a message, so that a comma must come first.
    static func layout(ofRest bytes: [UInt8], from start: Int, begun: Bool) -> Layout? {
        var layout = Layout()
        var needsComma = begun
        var mayClose = true
        var position = start
        while let next = skippingSpace(in: bytes, from: position) {
            if bytes[next] == Byte.closingBracket, mayClose {
                layout.closing = next
                return skippingSpace(in: bytes, from: next + 1) == nil ? layout : nil
            }
            if needsComma {
                guard bytes[next] == Byte.comma else { return nil }
                (needsComma, mayClose) = (false, false)
                position = next + 1
            } else {
                guard let end = endOfObject(in: bytes, at: next) else { return nil }
                layout.messages.append(next..<end)
                (needsComma, mayClose) = (true, true)
                position = end
            }
        }
        return nil
    }

    /// Joins JSON messages into an array, each at the beginning of a line.
    static func joined(_ messages: [ArraySlice<UInt8>]) -> [UInt8] {
        var text = [Byte.openingBracket]
        text.reserveCapacity(messages.reduce(2) { $0 + $1.count + 2 })
        for message in messages {
            if text.count > 1 { text.append(Byte.comma) }
            text.append(Byte.newline)
            text += message
        }
        text.append(Byte.closingBracket)
        return text
    }

    /// Returns the ranges of the readable messages in damaged bytes, in order.
    ///
    /// Bytes after the closing bracket are messages of a save not yet joined to the array. If they are incomplete,
    /// the save was not finished, and all of them are left out.
    static func salvage(_ bytes: [UInt8], isMessage: (Range<Int>) -> Bool) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var candidate = nextObject(in: bytes, from: 0)
        // Whether the damaged message began a line; `nil` while no message is damaged.
        var damagedLine: Bool?
        while let start = candidate {
            guard let end = endOfObject(in: bytes, at: start), isMessage(start..<end) else {
                let byLines = damagedLine ?? beginsLine(start, in: bytes)
                damagedLine = byLines
                candidate = nextMessageStart(in: bytes, after: start, byLines: byLines)
                continue
            }
            damagedLine = nil
            found.append(start..<end)
            if let next = skippingSpace(in: bytes, from: end), bytes[next] == Byte.closingBracket {
                let rest = layout(ofRest: bytes, from: next + 1, begun: false)
                return found + (rest?.messages ?? []).filter(isMessage)
            }
            candidate =
                follower(of: end, in: bytes)
                // The next object may be part of a message with a missing brace.
                ?? nextMessageStart(in: bytes, after: end - 1, byLines: beginsLine(start, in: bytes))
        }
        return found
    }

    /// Returns the end of the object beginning at `start`; `nil` if there is none, it does not end, or it is
    /// nested too deeply.
    static func endOfObject(in bytes: [UInt8], at start: Int) -> Int? {
        guard bytes[start] == Byte.openingBrace else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            var depth = 0
            var inString = false
            var position = start
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                if inString {
                    if byte == Byte.backslash { position += 1 } else if byte == Byte.quote { inString = false }
                    continue
                }
                switch byte {
                case Byte.quote: inString = true
                case Byte.openingBrace, Byte.openingBracket:
                    depth += 1
                    // The decoders have this limit, too. It keeps a search through garbage from taking quadratic time.
                    if depth > 512 { return nil }
                case Byte.closingBrace, Byte.closingBracket:
                    depth -= 1
                    if depth == 0 { return byte == Byte.closingBrace ? position : nil }
                default: continue
                }
            }
            return nil
        }
    }

    /// Returns the position of the object after the comma behind a message; `nil` if other bytes follow.
    private static func follower(of end: Int, in bytes: [UInt8]) -> Int? {
        guard let comma = skippingSpace(in: bytes, from: end), bytes[comma] == Byte.comma,
            let next = skippingSpace(in: bytes, from: comma + 1), bytes[next] == Byte.openingBrace
        else { return nil }
        return next
    }

    private static func nextObject(in bytes: [UInt8], from start: Int) -> Int? {
        bytes[start...].firstIndex(of: Byte.openingBrace)
    }

    /// Returns the possible beginning of the next message after damage.
    ///
    /// With `byLines`, this is an object at the beginning of a line. Otherwise it is also any object other than a
    /// member's value, because other programs write all messages in one line.
    private static func nextMessageStart(in bytes: [UInt8], after start: Int, byLines: Bool) -> Int? {
        var candidate = nextObject(in: bytes, from: start + 1)
        while let position = candidate {
            if beginsLine(position, in: bytes) || !byLines && mark(before: position, in: bytes) != Byte.colon {
                return position
            }
            candidate = nextObject(in: bytes, from: position + 1)
        }
        return nil
    }

    /// Whether a line begins at a position, or did before damage to its line break: the stores write exactly one
    /// byte between a comma and an object.
    private static func beginsLine(_ position: Int, in bytes: [UInt8]) -> Bool {
        mark(before: position, in: bytes) == Byte.newline
            || position >= 3 && bytes[position - 2] == Byte.comma && bytes[position - 3] == Byte.closingBrace
    }

    /// Returns the last byte before a position, ignoring spaces.
    private static func mark(before position: Int, in bytes: [UInt8]) -> UInt8? {
        bytes[..<position].lastIndex { $0 != Byte.space }.map { bytes[$0] }
    }

    private static func skippingSpace(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var position = start
            while position < bytes.count {
                switch bytes[position] {
                case Byte.space, Byte.newline, Byte.tab, Byte.carriageReturn: position += 1
                default: return position
                }
            }
            return nil
        }
    }
}

/// The structural bytes of JSON.
enum Byte {
    static let openingBracket = UInt8(ascii: "[")
    static let closingBracket = UInt8(ascii: "]")
    static let openingBrace = UInt8(ascii: "{")
    static let closingBrace = UInt8(ascii: "}")
    static let comma = UInt8(ascii: ",")
    static let dot = UInt8(ascii: ".")
    static let colon = UInt8(ascii: ":")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let space = UInt8(ascii: " ")
    static let newline = UInt8(ascii: "\n")
    static let tab = UInt8(ascii: "\t")
    static let carriageReturn = UInt8(ascii: "\r")
}
