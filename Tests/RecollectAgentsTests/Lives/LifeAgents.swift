import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport

/// The script of an agent for one turn of a random sequence.
struct LifeScript: Sendable {
    enum Ending: CaseIterable, Sendable {
        case ends, isFinal, isFinalWithoutParts, fails, hangs
    }

    var pieces: [AgentEvent]
    var ending: Ending

    init(number: Int, endings: [Ending], using random: inout SeededGenerator) {
        ending = endings.randomElement(using: &random) ?? .ends
        pieces = []
        for index in 0..<Int.random(in: 0...5, using: &random) {
            let call = "\(number)-\(index)"
            switch Int.random(in: 0..<8, using: &random) {
            case 0: pieces.append(.thinking("thought \(call) "))
            case 1: pieces.append(.error("oh \(call)"))
            case 2: pieces.append(.toolCall(id: call, name: "tool", arguments: [:]))
            case 3, 4:
                pieces.append(.toolCall(id: call, name: "tool", arguments: [:]))
                pieces.append(.toolResult(id: call, content: .string(call)))
            default: pieces.append(.textDelta("word \(call) "))
            }
        }
    }

    /// The parts of an uninterrupted reply; `nil` if the agent fails or hangs.
    var parts: [ContentPart]? {
        switch ending {
        case .isFinal: [.text("final")]
        case .ends, .isFinalWithoutParts: pieces.joinedPieces
        case .fails, .hangs: nil
        }
    }

    /// The text of all pieces.
    var text: String { pieces.joinedPieces.compactMap(\.text).joined() }
}

extension [AgentEvent] {
    /// The parts that result from joining the pieces.
    var joinedPieces: [ContentPart] {
        pieces.reduce(into: []) { parts, part in
            switch (parts.last, part) {
            case (.text(let before)?, .text(let more)): parts[parts.count - 1] = .text(before + more)
            case (.thinking(let before, _)?, .thinking(let more, _)):
                parts[parts.count - 1] = .thinking(before + more, signature: nil)
            default: parts.append(part)
            }
        }
    }
}

/// The agents of a random sequence. They run the script of each input and record the history they receive.
final class LifeAgents: Sendable {
    /// The last agent's turns are not saved.
    static let names = ["one", "two", "quiet"]

    private let scripts = Locked<[String: LifeScript]>([:])
    private let given = Locked<[String: [ConversationMessage]]>([:])

    subscript(inputId: String) -> LifeScript? {
        get { scripts.withLock { $0[inputId] } }
        set { scripts.withLock { $0[inputId] = newValue } }
    }

    /// Returns and removes the history that an agent received with an input.
    func takeGiven(with inputId: String) -> [ConversationMessage]? {
        given.withLock { $0.removeValue(forKey: inputId) }
    }

    func orchestrator(over storage: any ChatStorage, maxMessages: Int?) -> Orchestrator {
        let agents = Self.names.map { name in
            ScriptedAgent(name: name, saveChat: name != "quiet") { [self] input, history, say in
                given.withLock { $0[input.id] = history }
                guard let script = self[input.id] else { throw Failure() }
                script.pieces.forEach(say)
                switch script.ending {
                case .ends: break
                case .isFinal:
                    say(
                        .final(ConversationMessage(role: .assistant, parts: [.text("final")], metadata: ["model": "m"]))
                    )
                case .isFinalWithoutParts: say(.final(ConversationMessage(role: .assistant, parts: [])))
                case .fails: throw Failure()
                case .hangs: try await Gate().wait()
                }
            }
        }
        return Orchestrator(
            agents: agents, classifier: ByFirstWord(), store: storage, maxMessages: maxMessages)
    }
}

/// Chooses the agent named by the first word of the input; throws if the input begins with "fail".
struct ByFirstWord: Classifier {
    func classify(
        _ input: String, history: [ConversationMessage], agents: [any AgentProtocol]
    ) async throws -> ClassifierResult {
        if input.hasPrefix("fail") { throw Failure() }
        return ClassifierResult(selectedAgent: agents.first { input.hasPrefix($0.id) }, confidence: 1)
    }
}
