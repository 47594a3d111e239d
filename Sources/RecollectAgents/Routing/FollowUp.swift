import Foundation

/// How much a message looks like one that carries on with the agent that spoke last.
///
/// It counts in the unit of `AgentVocabulary`: another agent must be ahead by that much to be chosen.
struct FollowUp {
    /// The lead that a change of the topic needs in any case.
    private static let least = 0.25
    /// For a message that begins as a continuation: "and", "then", "yes".
    private static let continuing = 0.3
    /// For one that points back: "it", "the second one".
    private static let pointingBack = 0.45
    /// For one of a few words; less, the more there are.
    private static let brief = 0.35
    /// For an answer where the agent asked.
    private static let answering = 0.6
    /// Up to how many words a message is brief, and from how many on it is long enough to speak for itself.
    private static let briefWords = 3.0
    private static let longWords = 12.0

    /// The lead that another agent needs.
    let lead: Double

    /// - Parameters:
    ///   - words: the words of the message.
    ///   - isQuestion: whether the message asks something.
    ///   - followsQuestion: whether the last agent ended with a question.
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
    /// Whether it ends with a question mark of any script, whatever space and emphasis come behind it.
    var endsWithQuestion: Bool {
        guard let last = unicodeScalars.last(where: { !Self.trailing.contains($0) }) else { return false }
        return "?？؟;՞፧".unicodeScalars.contains(last)
    }

    private static let trailing = CharacterSet.whitespacesAndNewlines.union(CharacterSet(charactersIn: "*_\"')]»”’"))
}
