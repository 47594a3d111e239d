import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport

/// The model: the messages a store must hold, derived from the events of the turns.
extension TurnLife {
    /// Applies a turn to the model, as far as its events report it; checks the history that the agent received.
    mutating func note(
        _ what: String, _ session: String, _ input: AgentInput, _ budget: Int?, _ events: [AgentEvent],
        _ error: (any Error)?, isTrimmed: Bool = true
    ) throws {
        diary.append(
            "\(what) \(input.text.debugDescription) of \(session.debugDescription), \(budget.map(String.init) ?? "nil")"
        )
        let given = agents.takeGiven(with: input.id)
        guard let announced = events.announced else {
            guard error is CancellationError else { throw fault("no turn: \(String(describing: error))") }
            return
        }
        guard announced.agentId != "quiet" else {
            guard given?.isEmpty != false else { throw fault("quiet received \(given ?? [])") }
            return
        }
        let scope = Scope(session: session, agent: announced.agentId)
        var messages = held[scope] ?? []
        let window = window(of: messages, within: budget.map { max($0, 2) })
        let answers = zip(window, window.dropFirst()).filter { question, answer in
            isQuestion(question, input) && isAnswer(answer)
                && (question.text == input.text || !store.storage.preservesContent)
        }
        if let answer = answers.last?.1 {
            guard events.reply == answer, given == nil else { throw fault("a replied input ran again") }
            return
        }
        if let last = messages.last, last.role == .user {
            // With different text, it is another question.
            if isQuestion(last, input), last.text == input.text {
                messages.removeLast()
            } else {
                messages.append(ConversationMessage(role: .assistant, parts: [], metadata: ["interrupted": true]))
            }
        }
        let past = self.window(of: messages, within: budget).wholeExchanges()
        // A turn stopped at once has not run its agent. An input sent again takes the place of a reply in the window.
        if let given, given.map(\.shape) != past.suffix(given.count).map(\.shape) || given.count < past.count - 1 {
            throw fault("received \(given.map(\.shape)) of \(past.map(\.shape))")
        }
        messages.append(input.message)
        if let reply = events.reply {
            messages.append(reply)
        } else if isTrimmed, error == nil {
            // Without a reply event, the window must be too small to save a reply.
            guard let budget, budget < 2 else { throw fault("no reply reported") }
        }
        held[scope] = isTrimmed ? self.window(of: messages, within: budget) : messages
    }

    /// Whether a reply ends its input, so that the input does not run again. Scripts have no results without calls.
    private func isAnswer(_ reply: ConversationMessage) -> Bool {
        !reply.isInterrupted
            && reply.parts.contains { part in
                if case .toolResult = part { return true }
                return part.text?.isEmpty == false
            }
    }

    private func isQuestion(_ message: ConversationMessage, _ input: AgentInput) -> Bool {
        message.role == .user
            && (message.id == input.id || Self.copies(of: input.message).contains(message.id))
    }

    /// The IDs under which an input that is sent again is saved.
    private static func copies(of message: ConversationMessage) -> Set<String> {
        Set(
            LifeAgents.names.flatMap { name in
                (1...32).map { message.copyId(from: "\(name)\u{0}\($0)") }
            })
    }

    /// Whether a stored message matches the model; an input sent again under the same ID keeps its first text.
    private func isSame(_ message: ConversationMessage, _ reported: ConversationMessage) -> Bool {
        message.shape == reported.shape
            || (message.role == reported.role
                && (message.id == reported.id || Self.copies(of: reported).contains(message.id)))
    }

    private func window(of messages: [ConversationMessage], within budget: Int?) -> [ConversationMessage] {
        guard let budget else { return messages }
        return Array(messages.suffix(budget < 2 ? 0 : budget / 2 * 2))
    }

    func checkReply(
        _ events: [AgentEvent], _ error: (any Error)?, to input: AgentInput, _ script: LifeScript
    ) throws {
        guard let reply = events.reply, case .began = events.first else { throw fault("no reply: \(events)") }
        guard reply.id == events.announced?.id else { throw fault("the reply has another ID") }
        let isFailure = script.ending == .fails || input.text.hasPrefix("fail")
        guard reply.isInterrupted == isFailure, (error != nil) == isFailure else { throw fault("ended as \(reply)") }
        let parts = input.text.hasPrefix("fail") ? [] : script.parts
        if let parts, reply.parts != parts { throw fault("reported \(reply.parts) instead of \(parts)") }
    }

    /// Checks that the store holds the messages of the model, and copies the stored messages to the model.
    mutating func check() async throws {
        for session in Self.sessions {
            for agent in LifeAgents.names {
                let scope = Scope(session: session, agent: agent)
                let messages = try await stored(scope)
                let model = held[scope] ?? []
                guard messages.elementsEqual(model, by: isSame) else {
                    throw fault("\(scope) holds \(messages.map(\.shape)) instead of \(model.map(\.shape))")
                }
                for (message, reported) in zip(messages, model)
                where reported.role == .assistant && !reported.parts.isEmpty {
                    guard message == reported else { throw fault("saved \(message) instead of \(reported)") }
                }
                guard Set(messages.map(\.id)).count == messages.count else { throw fault("duplicate ID in \(scope)") }
                guard zip(messages, messages.dropFirst()).allSatisfy({ $0.role != $1.role }) else {
                    throw fault("\(scope) repeats a role")
                }
                held[scope] = messages
            }
        }
    }

    func stored(_ scope: Scope) async throws -> [ConversationMessage] {
        try await store.storage.all(scope.agent, session: scope.session)
    }

    func fault(_ description: String) -> Fault {
        Fault(description: description)
    }
}

extension ConversationMessage {
    /// The description of a message in a fault.
    fileprivate var shape: String { "\(role.rawValue)\(isInterrupted ? " interrupted" : ""): \(text)" }
}
