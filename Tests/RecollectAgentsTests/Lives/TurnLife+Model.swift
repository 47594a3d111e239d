import Foundation
import RecollectAgents
import RecollectCore
import RecollectTestSupport

/// The model: what a store must hold, by what the turns have told.
extension TurnLife {
    /// Does to the model what a turn has done, as far as its events tell; checks what the agent was given.
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
            guard given?.isEmpty != false else { throw fault("quiet was given \(given ?? [])") }
            return
        }
        let place = Place(session: session, agent: announced.agentId)
        var messages = held[place] ?? []
        let window = window(of: messages, within: budget.map { max($0, 2) })
        if let question = window.lastIndex(where: { isQuestion($0, input) && input.hasGivenId }),
            question + 1 < window.count, isAnswer(window[question + 1])
        {
            guard events.reply == window[question + 1], given == nil else { throw fault("asked again") }
            return
        }
        if let last = messages.last, last.role == .user {
            if input.hasGivenId, isQuestion(last, input) {
                messages.removeLast()
            } else {
                messages.append(ConversationMessage(role: .assistant, parts: [], metadata: ["interrupted": true]))
            }
        }
        let past = self.window(of: messages, within: budget).wholeExchanges()
        // A turn that was stopped at once has asked nobody. A question that is asked again takes the place of a reply in the window.
        if let given, given.map(\.shape) != past.suffix(given.count).map(\.shape) || given.count < past.count - 1 {
            throw fault("given \(given.map(\.shape)) of \(past.map(\.shape))")
        }
        messages.append(input.message)
        if let reply = events.reply {
            messages.append(reply)
        } else if isTrimmed, error == nil {
            // Nobody heard it, and nothing of it is kept.
            guard let budget, budget < 2 else { throw fault("no reply told") }
        }
        held[place] = isTrimmed ? self.window(of: messages, within: budget) : messages
    }

    /// Whether a reply is not to be asked for again. Scripts have no results without calls.
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

    /// The ids under which a question is saved that is asked again.
    private static func copies(of message: ConversationMessage) -> Set<String> {
        Set(
            LifeAgents.names.flatMap { name in
                [message.copyId(from: name)] + (2...32).map { message.copyId(from: "\(name)\u{0}\($0)") }
            })
    }

    /// Whether the store holds what the model does; a question that was known keeps its first words.
    private func isSame(_ message: ConversationMessage, _ told: ConversationMessage) -> Bool {
        message.shape == told.shape
            || (message.role == told.role
                && (message.id == told.id || Self.copies(of: told).contains(message.id)))
    }

    private func window(of messages: [ConversationMessage], within budget: Int?) -> [ConversationMessage] {
        guard let budget else { return messages }
        return Array(messages.suffix(budget < 2 ? 0 : budget / 2 * 2))
    }

    func checkReply(
        _ events: [AgentEvent], _ error: (any Error)?, to input: AgentInput, _ script: LifeScript
    ) throws {
        guard let reply = events.reply, case .began = events.first else { throw fault("no reply: \(events)") }
        guard reply.id == events.announced?.id else { throw fault("another id") }
        let isFailure = script.ending == .fails || input.text.hasPrefix("fail")
        guard reply.isInterrupted == isFailure, (error != nil) == isFailure else { throw fault("ended as \(reply)") }
        let parts = input.text.hasPrefix("fail") ? [] : script.parts
        if let parts, reply.parts != parts { throw fault("told \(reply.parts) instead of \(parts)") }
    }

    /// Checks that the store holds what the model holds, and takes over what the store has given for it.
    mutating func check() async throws {
        for session in Self.sessions {
            for agent in LifeAgents.names {
                let place = Place(session: session, agent: agent)
                let messages = try await stored(place)
                let model = held[place] ?? []
                guard messages.elementsEqual(model, by: isSame) else {
                    throw fault("\(place) holds \(messages.map(\.shape)) instead of \(model.map(\.shape))")
                }
                for (message, told) in zip(messages, model) where told.role == .assistant && !told.parts.isEmpty {
                    guard message == told else { throw fault("kept \(message) instead of \(told)") }
                }
                guard Set(messages.map(\.id)).count == messages.count else { throw fault("twice in \(place)") }
                guard zip(messages, messages.dropFirst()).allSatisfy({ $0.role != $1.role }) else {
                    throw fault("\(place) repeats a role")
                }
                held[place] = messages
            }
        }
    }

    func stored(_ place: Place) async throws -> [ConversationMessage] {
        try await store.storage.all(place.agent, session: place.session)
    }

    func fault(_ description: String) -> Fault {
        Fault(description: description)
    }
}

extension ConversationMessage {
    /// What a fault is described by.
    fileprivate var shape: String { "\(role.rawValue)\(isInterrupted ? " interrupted" : ""): \(text)" }
}
