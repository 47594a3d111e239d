import RecollectAgents
import RecollectCore

/// A model that says what it was told to, round by round, and remembers what it was asked.
final class ScriptedModel: LLMClient {
    /// What it does when it is asked.
    enum Round: Sendable {
        /// Says these, and `done` where there is none among them.
        case says([LLMStreamEvent])
        /// Says these and ends without `done`.
        case hangsUp([LLMStreamEvent])
        /// Says these and then fails.
        case fails([LLMStreamEvent], any Error)
        /// Says these and then nothing more until it is stopped.
        case stalls([LLMStreamEvent])
    }

    private let rounds: [Round]
    private let asked = Locked<[LLMRequest]>([])
    private let stops: AsyncStream<Void>.Continuation
    /// One element for each request whose stream ended before the model had ended it.
    let stopped: AsyncStream<Void>

    /// - Parameter rounds: the last one is repeated when there are no more.
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
