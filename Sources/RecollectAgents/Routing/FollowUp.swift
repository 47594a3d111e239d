import Foundation

/// The likelihood of a message to continue with the agent of the last reply.
///
/// It is a lead, in the unit of `AgentVocabulary`: another agent is chosen only with a score higher by this amount.
struct FollowUp {
    /// The minimum lead for a change of topic.
    private static let least = 0.25
    /// Added for a continuation at the beginning: "and", "then", "yes".
    private static let continuing = 0.3
    /// Added for a reference to earlier messages: "it", "the second one".
    private static let pointingBack = 0.45
    /// Added for a short message; less for a longer one.
    private static let brief = 0.35
    /// Added for an answer to a question of the agent.
    private static let answering = 0.6
    /// A message of up to `briefWords` words is short. From `longWords` words on, length, references and answers
    /// add nothing to the lead.
    private static let briefWords = 3.0
    private static let longWords = 12.0

    /// The lead needed by another agent.
    let lead: Double

    /// Creates the lead for a message.
    /// - Parameters:
    ///   - words: The words of the message.
    ///   - isQuestion: Whether the message is a question.
    ///   - followsQuestion: Whether the last message of the agent ends with a question.
    init(words: [String], isQuestion: Bool, followsQuestion: Bool) {
        let brevity = min(1, max(0, (Self.longWords - Double(words.count)) / (Self.longWords - Self.briefWords)))
        var lead = Self.least + Self.brief * brevity
        if let first = words.first,
            FunctionWords.connectives.contains(first) || FunctionWords.answers.contains(first)
        {
            lead += Self.continuing
        }
        if words.contains(where: FunctionWords.references.contains) { lead += Self.pointingBack * brevity }
        if followsQuestion, !isQuestion { lead += Self.answering * brevity }
        self.lead = lead
    }
}

extension String {
    /// Whether the string ends with a question mark of any script. Trailing white space, quotation marks and
    /// emphasis are ignored.
    var endsWithQuestion: Bool {
        guard let last = unicodeScalars.last(where: { !Self.trailing.contains($0) }) else { return false }
        return "?？؟;՞፧".unicodeScalars.contains(last)
    }

    private static let trailing = CharacterSet.whitespacesAndNewlines.union(CharacterSet(charactersIn: "*_\"')]»”’"))
}
