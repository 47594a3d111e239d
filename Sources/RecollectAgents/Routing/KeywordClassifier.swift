import Foundation
import RecollectCore

/// Chooses an agent by words, without a model.
///
/// ```swift
/// let orchestrator = Orchestrator(agents: agents, classifier: KeywordClassifier(), store: store)
/// ```
///
/// The classifier compares the words of the message with each agent's name, description and messages, and chooses
/// the agent with the highest score. A word has less weight if several agents share it, and less weight in older
/// messages. Words of one subject ("parcel" and "delivery", "tablets" and "prescription") have nearly the weight of
/// equal words; a table of about seventy subjects is built in. Words for an action ("plan", "book", "find") have
/// half the weight of words for its object.
///
/// A continuation ("yes", "2", "and then?", "why?", "the second one") stays with the agent of the last reply, and
/// so does a message without a matching agent. Another agent needs a clear lead, and a larger one for a message
/// resembling a continuation. A message is no continuation if it has words of other agents' purposes and none of
/// the last agent's. Without a last agent, a message without a matching agent returns `nil`.
///
/// Words are compared in any language, whole and by their first letters. The subjects are in English, and less
/// completely in German, French, Spanish and Italian. Otherwise users must write in the language of the
/// descriptions.
///
/// The meaning of a message has no influence. Without a shared word or subject, the result is the last agent or
/// `nil`. In 120 written test cases not used for tuning, 113 choices are right, including all 35 follow-ups and 47
/// of 50 first messages (`RoutingAccuracyTests`); in 45 cases by other authors, 39. Expect less for agents with
/// rare topics. Use your users' words in the descriptions for the best results.
///
/// The confidence is the chosen agent's share of the evidence. The rest is the score of the next best agent, and
/// the words unknown to all agents. A confidence of 0.5 means another agent matches as well.
///
/// The time is linear in the text read: the newest `messageLimit` messages, and the first `messageByteLimit` bytes
/// of each. The classifier waits for nothing, throws no errors, and may be used from any task.
public struct KeywordClassifier: Classifier {
    /// The number of newest messages read from the history.
    public static let messageLimit = 40
    /// The number of bytes of UTF-8 read from the beginning of each message and of the input.
    public static let messageByteLimit = 2_000

    /// The weight of a message relative to the next newer one.
    private static let fading = 0.93
    /// The weight of each word unknown to all agents, against the confidence.
    private static let doubt = 0.25

    /// Creates a classifier.
    public init() {}

    /// Chooses an agent by the words of the message.
    public func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult {
        guard agents.count > 1 else {
            return ClassifierResult(selectedAgent: agents.first, confidence: agents.isEmpty ? 0 : 1)
        }
        let recent = history.suffix(Self.messageLimit)
        let speakers = Speakers(of: recent, agents: agents)
        var vocabularies = agents.map(AgentVocabulary.init)
        var recency = 1.0
        for (message, speaker) in zip(recent, speakers.indices).reversed() {
            guard let speaker else { continue }
            let text = message.text.dropFirst(message.role == .assistant ? agents[speaker].id.count + 3 : 0)
            let words = Words(String(text), limit: Self.messageByteLimit).words
            vocabularies[speaker].addSaid(Keyword.keywords(of: words), recency: recency)
            recency *= Self.fading
        }

        let words = Words(input, limit: Self.messageByteLimit).words
        let keywords = Keyword.keywords(of: words)
        let evidence = Evidence(for: keywords, vocabularies: vocabularies)
        var scores = evidence.scores
        let named = vocabularies.indices.filter { keywords.contains(where: vocabularies[$0].names) }
        // A message only with words of other agents' purposes is no continuation.
        if let last = speakers.last, named.isEmpty || named.contains(last) {
            let isQuestion = input.endsWithQuestion || words.first.map(FunctionWords.questions.contains) == true
            let followsQuestion = recent.last(where: { $0.role == .assistant })?.text.endsWithQuestion == true
            scores[last] += FollowUp(words: words, isQuestion: isQuestion, followsQuestion: followsQuestion).lead
        }
        let ranking = scores.indices.sorted { (scores[$0], $1) > (scores[$1], $0) }
        let (best, next) = (ranking[0], ranking[1])
        guard scores[best] > 0 else { return ClassifierResult(selectedAgent: nil, confidence: 0) }
        let against = scores[next] + Self.doubt * Double(evidence.unknownCount)
        return ClassifierResult(
            selectedAgent: agents[best], confidence: scores[best] / (scores[best] + against))
    }
}

/// The score of each agent for the words of a message.
private struct Evidence {
    /// The scores, one for each agent; 0 if it is unrelated to the message.
    private(set) var scores: [Double]
    /// The number of words unknown to all agents.
    private(set) var unknownCount = 0

    init(for keywords: [Keyword], vocabularies: [AgentVocabulary]) {
        scores = vocabularies.map { _ in 0 }
        // A word of a single agent has the rarity 1.
        let most = log((Double(vocabularies.count) + 1) / 1.5)
        for keyword in keywords {
            let affinities = vocabularies.map { $0.affinity(to: keyword) }
            let sharing = affinities.reduce(0) { $0 + min(1, $1) }
            guard sharing > 0 else {
                unknownCount += 1
                continue
            }
            let rarity = log((Double(vocabularies.count) + 1) / (max(1, sharing) + 0.5)) / most
            for index in scores.indices { scores[index] += rarity * affinities[index] }
        }
    }
}

/// The agent of each message of a history.
private struct Speakers {
    /// The index of an agent for each message: of the agent speaking, or the next one to reply; `nil` if it is not
    /// one of the agents.
    private(set) var indices: [Int?]
    /// The index of the agent of the last reply.
    private(set) var last: Int?

    init(of history: ArraySlice<ConversationMessage>, agents: [any AgentProtocol]) {
        // The longest first: an ID may begin with another ID and `] `.
        let prefixes = agents.enumerated().map { (index: $0, prefix: "[\($1.id)]") }
            .sorted { $0.prefix.utf8.count > $1.prefix.utf8.count }
        indices = []
        var answering: Int?
        for message in history.reversed() {
            if message.role == .assistant {
                let text = message.text
                answering = prefixes.first { text.utf8.starts(with: $0.prefix.utf8) }?.index
            }
            indices.append(message.role == .assistant || message.role == .user ? answering : nil)
        }
        indices.reverse()
        last = history.lastIndex { $0.role == .assistant }.flatMap { indices[$0 - history.startIndex] }
    }
}
