/// The remaining size for an answer, in bytes of UTF-8.
package struct ReplySizeLimit: Sendable {
    private var left: Int
    /// Whether part of the answer did not fit.
    package private(set) var isOver = false

    /// Creates room for an answer; a negative number counts as 0.
    package init(bytes: Int) {
        left = max(0, bytes)
    }

    /// Takes room for text. Returns the part within the limit, cut between Unicode scalars.
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

    /// Takes room for indivisible content; returns whether it fits.
    package mutating func takeWhole(_ count: Int) -> Bool {
        guard count <= left, !isOver else {
            isOver = true
            return false
        }
        left -= count
        return true
    }
}
