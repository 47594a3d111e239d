/// A condition on the terms of a message's document (`SearchDocument`).
package indirect enum SearchExpression: Hashable, Sendable {
    /// The terms follow each other.
    case phrase([[UInt8]])
    /// The terms follow each other, and the last one may be longer.
    case beginning([[UInt8]])
    case any([SearchExpression])
    case all([SearchExpression])
    /// All of them. The first ones are true for the fewest messages.
    case rarestFirst([SearchExpression])
    /// The first one without the second.
    case excluding(SearchExpression, SearchExpression)

    /// True for every message.
    package static let everything = SearchExpression.all([])
}
