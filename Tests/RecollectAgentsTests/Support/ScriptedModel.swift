import RecollectAgents
import RecollectCore

/// A model that plays scripted rounds and records its requests.
final class ScriptedModel: LLMClient {
    /// The response to one request.
    enum Round: Sendable {
        /// Emits the events, and `done` if they do not include it.
        case says([LLMStreamEvent])
        /// Emits the events and ends without `done`.
        case hangsUp([LLMStreamEvent])
        /// Emits the events and then fails.
        case fails([LLMStreamEvent], any Error)
        /// Emits the events and then nothing until it is stopped.
        case stalls([LLMStreamEvent])
    }

    private let rounds: [Round]
    private let asked = Locked<[LLMRequest]>([])
    private let stops: AsyncStream<Void>.Continuation
    /// One element for each request whose stream ended before the model ended it.
    let stopped: AsyncStream<Void>

    /// - Parameter rounds: The last round repeats when no other is left.
    init(_ rounds: [Round]) {
        self.rounds = rounds
        (stopped, stops) = AsyncStream.makeStream()
    }

    convenience init(says events: [LLMStreamEvent]...) {
        self.init(events.map(Round.says))
    }

    var requests: [LLMRequest] { asked.withLock { $0 } }

    func complete(_ request: LLMRequest) -> AsyncThrowingStream<LLMStreamEvent, any Error> {
        let index = asked.withLock { asked in
            asked.append(request)
            return asked.count - 1
        }
        return AsyncThrowingStream { [stops] stream in
            stream.onTermination = { end in
                if case .cancelled = end { stops.yield() }
            }
            switch rounds[min(index, rounds.count - 1)] {
            case .says(let events):
                for event in events { stream.yield(event) }
                if !events.contains(where: \.isDone) { stream.yield(.done(LLMCompletion(reason: .stop))) }
                stream.finish()
            case .hangsUp(let events):
                for event in events { stream.yield(event) }
                stream.finish()
            case .fails(let events, let error):
                for event in events { stream.yield(event) }
                stream.finish(throwing: error)
            case .stalls(let events):
                for event in events { stream.yield(event) }
            }
        }
    }
}

extension LLMStreamEvent {
    fileprivate var isDone: Bool {
        if case .done = self { return true }
        return false
    }
}
