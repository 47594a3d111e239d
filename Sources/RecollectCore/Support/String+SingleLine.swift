extension StringProtocol {
    /// The words of the text separated by single spaces: the text on one line.
    package var singleLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
