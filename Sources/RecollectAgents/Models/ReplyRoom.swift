/// How many bytes of UTF-8 of an answer may still come.
package struct ReplyRoom: Sendable {
    private var left: Int
    /// Whether something did not fit.
    package private(set) var isOver = false

    /// Makes room; a negative number is none.
    package init(bytes: Int) {
        left = max(0, bytes)
    }

    /// The text as far as there is room for it, never half a character of UTF-8.
    package mutating func take(_ text: String) -> String {
        let count = text.utf8.count
        guard count > left || isOver else {
            left -= count
            return text
        }
        guard !isOver else { return "" }
        isOver = true
        defer { left = 0 }
        return text.firstBytes(left)
    }

    /// Takes room for what cannot be cut; returns whether there is enough.
    package mutating func takeWhole(_ count: Int) -> Bool {
        guard count <= left, !isOver else {
            isOver = true
            return false
        }
        left -= count
        return true
    }
}
