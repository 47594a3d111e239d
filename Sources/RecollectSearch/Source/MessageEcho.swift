import RecollectCore

/// Whether a message only repeats what is in the history, or what is asked: it comes after others in the results.
///
/// A quotation is an answer from the history: a message with a call of the history's own tools, or with a list of
/// quoted messages (`HistoryQuotation`). A short question is likely the same one as a query with a question mark, asked
/// before.
package struct MessageEcho {
    package let isQuotation: Bool
    /// The text, if it is a short question.
    package let shortQuestion: String?

    /// The maximum length of a short question, in bytes.
    private static let maxQuestionLength = 120

    /// Creates the value for a message with text, or none if it is not one part of prose.
    package init(isQuotation: Bool, text: UnsafeRawBufferPointer) {
        self.isQuotation = isQuotation
        let isQuestion = text.count <= Self.maxQuestionLength && ParsedQuery.isQuestion(text)
        shortQuestion = isQuestion ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Whether the message comes after others in the results of a query.
    func isLate(in query: ParsedQuery) -> Bool { isQuotation || shortQuestion != nil && query.isQuestion }
}
