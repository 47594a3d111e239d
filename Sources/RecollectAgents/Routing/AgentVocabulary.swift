import Foundation
import RecollectCore

/// An agent's vocabulary: the words of its name and description, and of its messages.
struct AgentVocabulary {
    /// The weight of a word of the name. A word of the description has the weight 1.
    private static let nameWeight = 1.5
    /// The weight of a word of the agent's newest message. Together with the minimum lead of `FollowUp` it is less
    /// than the weight of a word in another agent's description: an agent's purpose outweighs its recent messages.
    private static let saidWeight = 0.7
    /// The share of a word's weight for a word with only the same root.
    private static let rootShare = 0.5
    /// The upper limit of a word's weight by its subject. The weight approaches it with the number of the agent's
    /// words of the subject.
    private static let subjectShare = 0.9
    /// The share of the weight in a name or description for a word naming an action instead of its object.
    private static let errandShare = 0.5

    private var described = WordWeights()
    private var said = WordWeights()
    /// The number of words of each subject in the name and the description.
    private var subjects: [Int: Int] = [:]

    init(of agent: any AgentProtocol) {
        let name = Keyword.keywords(of: Words(agent.name).words)
        let description = Keyword.keywords(of: Words(agent.description).words)
        described.add(name, weight: Self.nameWeight)
        described.add(description, weight: 1)
        for subject in Set(name + description).flatMap(Subjects.of) { subjects[subject, default: 0] += 1 }
    }

    /// Adds the words of a message; newer messages must be added first.
    /// - Parameters:
    ///   - keywords: The keywords of the message.
    ///   - recency: 1 for the newest message, less for older ones.
    mutating func addSaid(_ keywords: [Keyword], recency: Double) {
        said.add(keywords, weight: Self.saidWeight * recency)
    }

    /// Whether the agent's name or description contains the word itself, as part of the agent's purpose.
    func names(_ keyword: Keyword) -> Bool {
        described.has(keyword)
    }

    /// Returns the weight of a word for the agent; 0 if they are unrelated.
    func affinity(to keyword: Keyword) -> Double {
        let described =
            described.weight(of: keyword, rootShare: Self.rootShare) * (keyword.isErrand ? Self.errandShare : 1)
        return max(described, subjectWeight(of: keyword)) + said.weight(of: keyword, rootShare: Self.rootShare)
    }

    /// Returns the weight of a word by its subjects. It increases with the number of the agent's words in one of
    /// them.
    private func subjectWeight(of keyword: Keyword) -> Double {
        let most = Subjects.of(keyword).map { subjects[$0] ?? 0 }.max() ?? 0
        return Self.subjectShare * (1 - pow(0.5, Double(most)))
    }
}

/// Words with their weights. The first weight of a word is kept.
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
