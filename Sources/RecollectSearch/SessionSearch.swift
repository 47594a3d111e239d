import RecollectCore

/// The words of a list of sessions, and the fields of its text as a filter of messages.
package struct SessionSearch {
    /// True for the messages with all words, in any form.
    package let expression: SearchExpression
    package let filter: SearchFilter
    /// Whether the text has fields.
    package let hasFields: Bool

    /// Creates the search of a string; `nil` if it has no words, or if no message can pass its fields.
    package init?(_ text: String, of userId: String, in source: any SearchSource) throws {
        guard let query = try QueryFields.applied(to: SearchQuery(userId: userId, text: text), source),
            let filter = try SearchFilter(query, in: source, includesDiscarded: true)
        else { return nil }
        var words = ParsedQuery(query.text, stemmer: Stemmer())
        guard !words.units.isEmpty else { return nil }
        if words.units.count > 1 {
            words = try words.withWholeWords(
                WordPostings.all(of: words, in: source, filter, through: source.bounds().upperBound))
        }
        expression = try words.listingLongerWords(in: source).anyForm
        self.filter = filter
        hasFields = query.text != text
    }
}
