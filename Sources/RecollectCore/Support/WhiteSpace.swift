/// Comparisons of texts apart from white space: UIs trim texts, and separate the joined texts of a reply in their own ways.
extension String {
    /// Whether the text begins with another one, apart from white space.
    package func continues(_ text: String) -> Bool {
        utf8.starts(with: text.utf8) || withoutWhiteSpace.starts(with: text.withoutWhiteSpace)
    }

    /// The scalars of the text except for white space.
    package var withoutWhiteSpace: some Sequence<Unicode.Scalar> {
        unicodeScalars.lazy.filter { !$0.properties.isWhitespace }
    }

    /// Whether there is nothing but white space.
    package var isBlank: Bool { unicodeScalars.allSatisfy(\.properties.isWhitespace) }
}
