/// An integer column with a separate type: the compiler distinguishes the ID of a session from the ID of a scope.
protocol IntegerColumn: RawRepresentable<Int64>, Hashable, Comparable, Sendable, SQLBindable, CustomStringConvertible {
    init(rawValue: Int64)
}

extension IntegerColumn {
    package var description: String { String(rawValue) }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package func bind(to statement: SQL, at index: Int32) throws { try statement.bind(self, at: index) }
}
