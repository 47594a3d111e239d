#if Postgres
    import Foundation
    import RecollectCore

    /// The state of a scope and its session before an append.
    struct AppendState: Sendable {
        let session: Int64
        var revision: Int64
        var lastPosition: Int64
        var added: Int64
        var isDiscarded: Bool
        /// Whether the session has a preview: then a message at its end does not change it.
        var hasPreview: Bool
        let scope: Int64
        var windowStart: Int64
        /// The position of the scope's last message.
        var lastOwnPosition: Int64?
        /// The role of the last message in the window.
        var lastRole: Role?
        /// The time of the last message's sort key.
        var lastTime: Int64?
        /// The last message of the session.
        var end: Place?
        /// The scope of messages without an agent, if it is another one.
        var unassigned: Int64?

        /// Takes over what an append to another scope has changed in the session.
        mutating func follow(_ other: AppendState) {
            revision = other.revision
            lastPosition = other.lastPosition
            added = other.added
            isDiscarded = other.isDiscarded
            hasPreview = other.hasPreview
            end = other.end
        }

        /// Notes a trim of the whole window.
        mutating func noteEmptyWindow() {
            windowStart = (lastOwnPosition ?? 0) + 1
            lastRole = nil
        }

        /// A message's place in its session.
        struct Place: Sendable {
            let position: Int64
            let key: MessageSortKey
            let scope: Int64
        }
    }

    /// A stored message without an agent, to move to the scope of a batch with its ID.
    struct UnassignedMessage: Sendable {
        let sequence: Int64
        let position: Int64
        let message: ConversationMessage
    }

    /// The rows and numbers written by an append, computed from the state before it.
    struct AppendPlan: Sendable {
        /// A message to insert.
        struct Row: Sendable {
            let message: ConversationMessage
            let position: Int64
            let time: Int64
        }

        /// A message to move to the scope.
        struct Adoption: Sendable {
            let message: UnassignedMessage
            let position: Int64
            let time: Int64
        }

        /// A reason to compute the plan again.
        enum Obstacle: Error {
            /// A message belongs before the end of its session, and the places of the other agents' messages are not known.
            case needsOrder
            /// There are no free positions between two messages.
            case noRoom
        }

        /// The distance of appended messages: others fit between them.
        static let step: Int64 = 1 << 32

        private(set) var rows: [Row] = []
        private(set) var adoptions: [Adoption] = []
        private(set) var outcome = AppendOutcome()
        /// The IDs of messages dropped by the same-role rule.
        private(set) var dropped: [String] = []
        /// Whether a message is before the end of its session.
        private(set) var hasPlaced = false
        /// The state after the append.
        private(set) var state: AppendState

        /// The messages of other agents behind the last one of the scope, in the order of their positions; `nil` if not known.
        private var others: [AppendState.Place]?
        private var nextOther = 0
        /// The position of the last message placed, or of the one before the next.
        private var lastPlaced: Int64 = 0

        /// Creates a plan from the state before it.
        /// - Parameters:
        ///   - known: The IDs of the batch already in the scope.
        ///   - unassigned: The messages to adopt, by ID. They require `order`.
        ///   - order: The messages of other agents behind the last one of the scope, in the order of their positions.
        /// - Throws: `Obstacle`.
        init(
            _ messages: [ConversationMessage], agentId: String, sameRole: SameRolePolicy, state: AppendState,
            known: Set<ByteString> = [], unassigned: [ByteString: UnassignedMessage] = [:],
            order: [AppendState.Place]? = nil
        ) throws {
            self.state = state
            others = order
            let agent = ByteString(agentId)
            var taken = known
            startPlacing()
            for (offset, message) in messages.enumerated() {
                let id = ByteString(message.id)
                let held = unassigned[id]
                if taken.contains(id) {
                    outcome.alreadyStored += 1
                } else if sameRole == .drop,
                    SameRolePolicy.repeats(held?.message ?? message, after: self.state.lastRole)
                {
                    outcome.dropped += 1
                    dropped.append(message.id)
                } else if let held {
                    taken.insert(id)
                    adopt(held, agent)
                } else {
                    taken.insert(id)
                    try add(message, agent, remaining: messages.count - offset)
                }
            }
        }

        private mutating func add(_ message: ConversationMessage, _ agent: ByteString, remaining: Int) throws {
            let key = MessageSortKey(
                time: max(state.lastTime ?? .min, message.timestamp.millisecondsSince1970), agentId: agent)
            let placed = try place(key, remaining: remaining)
            let position = placed ?? nextPosition()
            hasPlaced = hasPlaced || placed != nil
            rows.append(Row(message: message, position: position, time: key.time))
            noteLast(AppendState.Place(position: position, key: key, scope: state.scope), message.role)
            state.added += 1
            outcome.added += 1
        }

        /// Moves a message to the scope. It keeps its position if it is in the window, after the scope's last message.
        private mutating func adopt(_ held: UnassignedMessage, _ agent: ByteString) {
            let keepsPosition = held.position >= state.windowStart && held.position > state.lastOwnPosition ?? .min
            let key = MessageSortKey(
                time: max(state.lastTime ?? .min, held.message.timestamp.millisecondsSince1970), agentId: agent)
            let position = keepsPosition ? held.position : nextPosition()
            adoptions.append(Adoption(message: held, position: position, time: key.time))
            others?.removeAll { $0.position == held.position }
            if state.end?.position == held.position { state.end = others?.last }
            noteLast(AppendState.Place(position: position, key: key, scope: state.scope), held.message.role)
            startPlacing()
            outcome.alreadyStored += 1
        }

        /// Notes a message as the last one of the scope.
        private mutating func noteLast(_ place: AppendState.Place, _ role: Role) {
            state.lastOwnPosition = place.position
            state.lastTime = place.key.time
            state.lastRole = role
            if place.position > state.end?.position ?? .min { state.end = place }
        }

        private mutating func nextPosition() -> Int64 {
            state.lastPosition = (state.lastPosition & ~(Self.step - 1)) + Self.step
            return state.lastPosition
        }

        private mutating func startPlacing() {
            lastPlaced = max(state.windowStart - 1, state.lastOwnPosition ?? 0, 0)
            nextOther = 0
        }

        /// Returns the position of a message before the end of its session; `nil` for one at the end.
        private mutating func place(_ key: MessageSortKey, remaining: Int) throws -> Int64? {
            guard let end = state.end, end.scope != state.scope, !(end.key < key) else { return nil }
            guard let others else { throw Obstacle.needsOrder }
            while nextOther < others.count, others[nextOther].position <= lastPlaced || others[nextOther].key < key {
                lastPlaced = max(lastPlaced, others[nextOther].position)
                nextOther += 1
            }
            guard nextOther < others.count else { return nil }
            let room = others[nextOther].position - lastPlaced
            guard room > 1 else { throw Obstacle.noRoom }
            // Even steps for a batch, and small ones for single messages: many of them may follow.
            lastPlaced += max(1, room / Int64(max(remaining + 1, 16)))
            return lastPlaced
        }
    }
#endif
