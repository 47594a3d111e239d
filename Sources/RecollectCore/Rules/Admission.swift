/// Which messages of a batch a scope takes: the rules of same role and of identity, the same in every simple store.
struct Admission {
    /// What is to be stored, in order.
    private(set) var accepted: [ConversationMessage] = []
    /// What the same-role rule leaves out.
    private(set) var dropped: [ConversationMessage] = []

    /// Goes through a batch in order. `isKnown` tells whether the scope already holds an id: such a message keeps its first
    /// content, and so does the first of two messages of one id in the batch.
    init(
        of batch: [ConversationMessage], sameRole: SameRole, lastRole: Role?, isKnown: (ByteString) -> Bool
    ) {
        var lastRole = lastRole
        var taken: Set<ByteString> = []
        for message in batch {
            let id = ByteString(message.id)
            if isKnown(id) || taken.contains(id) { continue }
            if sameRole == .drop, SameRole.repeats(message, after: lastRole) {
                dropped.append(message)
                continue
            }
            taken.insert(id)
            accepted.append(message)
            lastRole = message.role
        }
    }

    /// Tells of every dropped message. For a store to call once its save has succeeded.
    func report(to events: StoreEvents, scope: Scope) {
        for message in dropped {
            events.post(StoreEvent(kind: .droppedSameRole, scope: scope, messageId: message.id))
        }
    }
}
