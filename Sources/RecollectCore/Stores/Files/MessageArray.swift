import Foundation

/// Finds the messages in the bytes of a JSON array without decoding them. For damaged bytes, see `MessageSalvage`.
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

    /// Returns the end of the object beginning at `start`; `nil` if there is none, it does not end, or it is
    /// nested too deeply.
    private static func endOfObject(in bytes: [UInt8], at start: Int) -> Int? {
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
                    if depth > JSONParser.depthLimit { return nil }
                case Byte.closingBrace, Byte.closingBracket:
                    depth -= 1
                    if depth == 0 { return byte == Byte.closingBrace ? position : nil }
                default: continue
                }
            }
            return nil
        }
    }

    /// Returns the position of the next byte other than white space; `nil` at the end.
    static func skippingSpace(in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var position = start
            while position < bytes.count {
                guard isSpace(bytes[position]) else { return position }
                position += 1
            }
            return nil
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool {
        switch byte {
        case Byte.space, Byte.newline, Byte.tab, Byte.carriageReturn: true
        default: false
        }
    }
}
