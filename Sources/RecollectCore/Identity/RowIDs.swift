/// The number of a session in a store. Never reused.
package struct SessionRowID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: Int64

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    package var description: String { String(rawValue) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
