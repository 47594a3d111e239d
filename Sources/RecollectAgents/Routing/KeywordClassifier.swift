import Foundation
import RecollectCore

/// Chooses an agent by words, without a model.
///
/// The agent is chosen whose name and description, and what was said with it, share the most words with the message; a word counts
/// the less, the more agents share it, and what was said counts the less, the longer ago it was. Words of one subject ("parcel" and
/// "delivery", "tablets" and "prescription") count nearly like the same word: a table of some seventy subjects comes with it. What is
/// to be done ("plan", "book", "find") counts half of what it is done with. A message that carries on ("yes",
/// "2", "and then?", "why?", "the second one") stays with the agent that spoke last, and so does one that nothing fits: another
/// agent must be clearly ahead, and the more so, the more the message looks like a continuation. A message with words of what others
/// are for, and none of what the last agent is for, is no continuation. Without an agent that spoke last, a message that nothing fits
/// gives `nil`. Words are compared in any language by themselves and by their first letters; the subjects are in English, and less
/// completely in German, French, Spanish and Italian. Beyond that an agent is found only by users who speak the language of its
/// description.
///
/// It understands no meaning: where a message shares neither word nor subject with a description, it is the last agent or `nil`. Of
/// 120 written cases that it was not tuned on it is right in 113, in all 35 follow-ups among them, and in 47 of 50 first messages
/// (`RoutingAccuracyTests`); of 45 that others wrote, in 39. Expect less where agents are for things that few people talk about.
/// Descriptions with the words that users use help most.
///
/// The confidence is the share of the evidence that speaks for the chosen agent; against it speak the next best agent and the words
/// that no agent knows. So 0.5 means that another one fits as well.
///
/// It is quick (linear in what it reads: the newest `messageLimit` messages, of each the first `messageByteLimit` bytes), waits
/// for nothing, throws nothing, and may be used from any task.
public struct KeywordClassifier: Classifier {
    /// How many messages of the history are read, the newest ones.
    public static let messageLimit = 40
    /// How many bytes of UTF-8 are read of each message, and of what the user says now, from the beginning.
    public static let messageByteLimit = 2_000

    /// What a message counts in relation to the one behind it.
    private static let fading = 0.93
    /// What each word that no agent knows takes from the confidence.
    private static let doubt = 0.25

    /// Makes a classifier.
    public init() {}

    /// Chooses by the words of the message.
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
        // What names the business of others alone carries nothing on.
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

/// What the words of a message say for each agent.
private struct Evidence {
    /// One for each agent; 0 if it shares no word with the message.
    private(set) var scores: [Double]
    /// How many words no agent knows.
    private(set) var unknownCount = 0

    init(for keywords: [Keyword], vocabularies: [AgentVocabulary]) {
        scores = vocabularies.map { _ in 0 }
        // A word that one agent alone knows has the rarity 1.
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

/// Which agent each message of a history belongs to.
private struct Speakers {
    /// One for each message: the agent that said it or that answered it next; `nil` if that is none of the agents.
    private(set) var indices: [Int?]
    /// The agent that spoke last.
    private(set) var last: Int?

    init(of history: ArraySlice<ConversationMessage>, agents: [any AgentProtocol]) {
        // The longest first: an id may begin with another one and `] `.
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
