import RecollectCore

/// Whether a message only repeats what is in the history, or what is asked: it comes after others in the results.
///
/// A quotation is an answer from the history: a message with a call of the history's own tools, or with a list of
/// quoted messages (`HistoryQuotation`). A short question is likely the same one as a query with a question mark, asked
/// before.
struct MessageEcho {
    let isQuotation: Bool
    let isShortQuestion: Bool

    /// The maximum length of a short question, in bytes.
    private static let maxQuestionLength = 120

    /// The column of a row of `message m` for `init`.
    static let column = """
        CASE
          WHEN (\(HistoryQuotation.tools.map { "instr(m.parts, '\($0)')" }.joined(separator: " OR "))) AND json_valid(m.parts) THEN
            EXISTS (SELECT 1 FROM json_each(m.parts) WHERE CASE WHEN type = 'object' THEN
              \(HistoryQuotation.tools.map { "json_extract(value, '$.toolCall.name') GLOB '*\($0)'" }.joined(separator: " OR ")) END)
          WHEN instr(m.metadata, '"\(HistoryQuotation.metadataKey)"') AND json_valid(m.metadata) THEN
            json_type(m.metadata, '$.\(HistoryQuotation.metadataKey)[0].messageId') IS NOT NULL
        END
        """

    /// Creates the value from a row with `column` and the text.
    init(_ row: SQL, column: Int32, textColumn: Int32) {
        isQuotation = (row.optionalInteger(column) ?? 0) != 0
        isShortQuestion = row.withBytes(textColumn) {
            $0.count <= Self.maxQuestionLength && ParsedQuery.isQuestion($0)
        }
    }

    /// Whether the message comes after others in the results of a query.
    func isLate(in query: ParsedQuery) -> Bool { isQuotation || isShortQuestion && query.isQuestion }
}
