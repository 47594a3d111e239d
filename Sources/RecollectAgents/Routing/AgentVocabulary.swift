import Foundation
import RecollectCore

/// The words that speak for an agent: of its name and description, and of what was said with it.
struct AgentVocabulary {
    /// What a word of the name counts; one of the description counts 1.
    private static let nameWeight = 1.5
    /// What a word counts that was just said with the agent: with the least lead of `FollowUp` less than a word of another agent's
    /// description, because what an agent is for outweighs what it happened to say.
    private static let saidWeight = 0.7
    /// What a word counts that shares no more than its first letters.
    private static let rootShare = 0.5
    /// What a word counts that is of a subject which many of the agent's words are of.
    private static let subjectShare = 0.9
    /// What a word of a name or a description counts that says what is to be done, in relation to one that says with what.
    private static let errandShare = 0.5

    private var described = WordWeights()
    private var said = WordWeights()
    /// How many words of the name and the description each subject has.
    private var subjects: [Int: Int] = [:]

    init(of agent: any AgentProtocol) {
        let name = Keyword.keywords(of: Words(agent.name).words)
        let description = Keyword.keywords(of: Words(agent.description).words)
        described.add(name, weight: Self.nameWeight)
        described.add(description, weight: 1)
        for subject in Set(name + description).flatMap(Subjects.of) { subjects[subject, default: 0] += 1 }
    }

    /// Adds what was said with the agent; what was said last must come first.
    /// - Parameter recency: 1 for the newest message, less for older ones.
    mutating func addSaid(_ keywords: [Keyword], recency: Double) {
        said.add(keywords, weight: Self.saidWeight * recency)
    }

    /// Whether the agent's name or description has the word itself: it is what the agent is for.
    func names(_ keyword: Keyword) -> Bool {
        described.has(keyword)
    }

    /// How much the agent has to do with a word: 0 for nothing.
    func affinity(to keyword: Keyword) -> Double {
        let described =
            described.weight(of: keyword, rootShare: Self.rootShare) * (keyword.isErrand ? Self.errandShare : 1)
        return max(described, subjectWeight(of: keyword)) + said.weight(of: keyword, rootShare: Self.rootShare)
    }

    /// What a word counts by its subjects: the more, the more of the agent's words are of one of them.
    private func subjectWeight(of keyword: Keyword) -> Double {
        let most = Subjects.of(keyword).map { subjects[$0] ?? 0 }.max() ?? 0
        return Self.subjectShare * (1 - pow(0.5, Double(most)))
    }
}

/// Words with what each of them counts; the first weight of a word stays.
private struct WordWeights {
    private var stems: [String: Double] = [:]
    private var roots: [String: Double] = [:]

    mutating func add(_ keywords: [Keyword], weight: Double) {
        for keyword in keywords {
            if stems[keyword.stem] == nil { stems[keyword.stem] = weight }
            if let root = keyword.root, roots[root] == nil { roots[root] = weight }
        }
    }

    func has(_ keyword: Keyword) -> Bool {
        stems[keyword.stem] != nil
    }

    func weight(of keyword: Keyword, rootShare: Double) -> Double {
        if let weight = stems[keyword.stem] { return weight }
        return rootShare * (keyword.root.flatMap { roots[$0] } ?? 0)
    }
}
