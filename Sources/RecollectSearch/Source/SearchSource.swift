import RecollectCore

/// The reads of a search among the messages of a user.
///
/// A search is one function that runs to its end, in one state of the history. A store in the same process answers at
/// once. For a store behind a network, an instance remembers what it has read, and otherwise throws `SearchIncomplete`.
/// The store then reads what was asked for, and runs the search again with the same instance, until it is complete.
package protocol SearchSource: AnyObject {
    /// The bounds of the messages that a search finds.
    func bounds() throws -> ClosedRange<SequenceNumber>
    /// Returns the number of the session with an ID.
    func session(_ sessionId: String) throws -> SessionRowID?
    /// Returns the first two IDs, in order, of listed sessions that begin with a string. Branches are left out.
    func sessionIDs(beginningWith text: String) throws -> [String]
    /// Whether an agent has messages.
    func hasAgent(_ agentId: String) throws -> Bool

    /// Returns the terms that begin with a term, without the term itself; `nil` if they are many or not listed. Terms in
    /// messages of other users may be among them.
    func terms(longerThan term: [UInt8]) throws -> [[UInt8]]?
    /// Returns false if no message of the user fulfills an expression. Messages of other users may make it true.
    func mayFind(_ expression: SearchExpression, through bound: SequenceNumber) throws -> Bool
    /// Returns the newest messages of an expression that pass a filter, newest first, with the frequency of the
    /// expression's words. Messages of discarded sessions are among them, so that a discard changes no score.
    func newest(
        _ words: ParsedQuery.Tier, _ filter: SearchFilter, limit: Int, through bound: SequenceNumber
    ) throws -> [SearchMatch]
    /// Returns the message before the newest `count` of an expression that pass a filter, also in discarded sessions, or `nil` if
    /// there are no more, or if this is not known for the filter.
    func message(
        beforeNewest count: Int, _ expression: SearchExpression, _ filter: SearchFilter, through bound: SequenceNumber
    ) throws -> SequenceNumber?
    /// Returns the newest messages of an expression that pass a filter, newest first, with their scores (`SearchScore`). A
    /// list shorter than `limit` may include messages that do not pass.
    func candidates(
        _ words: ParsedQuery.Tier, _ filter: SearchFilter, limit: Int, through bound: SequenceNumber
    ) throws -> [SearchMatch]
    /// Calls `body` with the messages of an expression that pass a filter, by date, until it returns true. Returns whether
    /// it did.
    /// - Parameter last: The timestamp of the last message before. Those before this timestamp in the order are left out.
    func forEachByDate(
        _ expression: DatedExpression, _ order: SearchOrder, through bound: SequenceNumber, after last: Double?,
        _ body: (DatedMatch) throws -> Bool
    ) throws -> Bool

    /// Whether a message exists and passes a filter.
    func passes(_ sequence: SequenceNumber, _ filter: SearchFilter) throws -> Bool
    /// Returns properties of a message that passes a filter; `nil` if it does not, or does not exist.
    func facts(_ sequence: SequenceNumber, passing filter: SearchFilter?) throws -> MessageFacts?
    /// Returns a message that passes a filter; `nil` if it does not, or does not exist.
    func message(_ sequence: SequenceNumber, passing filter: SearchFilter?) throws -> SearchedMessage?
    /// Calls `body` with the searched text of a message (`MessageText`), or returns `nil` if it does not exist. The bytes are
    /// valid only during the call.
    func withText<Result>(
        of sequence: SequenceNumber, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) throws -> Result?
    /// Returns the messages before and after a message in its agent's messages of the session, the nearest first, at most
    /// `count` each.
    func neighbors(of sequence: SequenceNumber, count: Int) throws -> [[SequenceNumber]]
    /// Whether two messages have the same role and content.
    func haveSameContent(_ sequence: SequenceNumber, _ other: SequenceNumber) throws -> Bool
}

/// A search needs what its source has not read yet.
package struct SearchIncomplete: Error {
    package init() {}
}

extension SearchSource {
    /// Looks up something for each element. What a source has not read yet, it then reads at once for all of them.
    func together<Element, Result>(
        _ elements: some Sequence<Element>, _ lookUp: (Element) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        var incomplete: SearchIncomplete?
        for element in elements {
            do {
                results.append(try lookUp(element))
            } catch let error as SearchIncomplete {
                incomplete = error
            }
        }
        if let incomplete { throw incomplete }
        return results
    }
}
