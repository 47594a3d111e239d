extension [String: JSONValue] {
    /// The members ordered by the bytes of their keys.
    ///
    /// The operator `<` of strings is not a consistent order: in Swift 6.3, neither of `é\` and a decomposed `é` is
    /// less than the other.
    package var inOrderOfKeys: [(key: String, value: JSONValue)] {
        count < 2 ? Array(self) : sorted { $0.key.precedesByBytes($1.key) }
    }
}
