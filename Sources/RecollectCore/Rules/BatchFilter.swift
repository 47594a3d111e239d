/// The result of the same-role rule and the ID rule for a batch, the same in all simple stores.
struct BatchFilter {
    /// The messages to save, in order.
    private(set) var accepted: [ConversationMessage] = []
    /// The messages dropped by the same-role rule.
    private(set) var dropped: [ConversationMessage] = []

    /// Creates the result for a batch, in order.
    ///
    /// `isKnown` returns whether the scope already has an ID. Such a message keeps its first content; of two
    /// messages with one ID in the batch, the first is accepted.
    init(
        of batch: [ConversationMessage], sameRole: SameRolePolicy, lastRole: Role?, isKnown: (ByteString) -> Bool
    ) {
        var lastRole = lastRole
        var taken: Set<ByteString> = []
        for message in batch {
            let id = ByteString(message.id)
            if isKnown(id) || taken.contains(id) { continue }
            if sameRole == .drop, SameRolePolicy.repeats(message, after: lastRole) {
                dropped.append(message)
                continue
            }
            taken.insert(id)
            accepted.append(message)
            lastRole = message.role
        }
    }

    /// Posts an event for every dropped message, to be called after a successful save.
    func report(to events: StoreEvents, scope: Scope) {
        for message in dropped {
            events.post(StoreEvent(kind: .droppedSameRole, scope: scope, messageId: message.id))
        }
    }
}
