/// A term of a string: its folded bytes, valid only during the call, and its source range.
package struct SearchTerm {
    /// The folded UTF-8, at most `Tokenizer.maxTermLength` bytes: letters, digits, marks and emoji, never a
    /// separator.
    package let bytes: UnsafeBufferPointer<UInt8>
    /// The range of the term in the text, in bytes.
    package let source: Range<Int>
}

/// A reader of a string's terms in order.
package protocol SearchTermReader {
    /// Reads a word between two separators, folded as a whole.
    mutating func word(_ term: SearchTerm)
    /// Reads a part of the identifier last read by `word`, such as `Socket` of `WebSocketTask`.
    mutating func part(_ term: SearchTerm, isFirst: Bool)
    /// Reads two adjacent characters of a script written without spaces.
    mutating func pair(_ term: SearchTerm)
    /// Reads one character of such a script, after the pair ending with it. `isAlone` is true if it has no
    /// neighbor.
    mutating func character(_ term: SearchTerm, isAlone: Bool)
    /// Whether the rest of the text is irrelevant.
    var isFinished: Bool { get }
}
