/// What was read of each session, for as long as it may be given again.
struct ReadSessions {
    /// One of the things that can be read of a session.
    enum View: Hashable {
        case window(agent: ByteString, maxMessages: Int?)
        case merged
    }

    /// Says in which state of its session something is read.
    struct Reading: Equatable {
        fileprivate let number: Int
    }

    private struct Session {
        let reading: Reading
        let version: ChatVersion?
        let began: ContinuousClock.Instant
        var views: [View: [ConversationMessage]] = [:]
        /// How much it takes of the capacity: a message each, and one for each view, since an empty one takes room too.
        var size = 1
        var lastRead = 0
    }

    private let capacity: Int
    private let lifetime: Duration
    private var sessions: [ConversationID: Session] = [:]
    private var size = 0
    private var readings = 0

    init(capacity: Int, lifetime: Duration) {
        self.capacity = capacity
        self.lifetime = lifetime
    }

    /// Begins to read of a session, and forgets what is too old: read of another version or, without versions, too long ago.
    mutating func begin(
        _ conversation: ConversationID, version: ChatVersion?, at now: ContinuousClock.Instant
    ) -> Reading {
        readings += 1
        if let session = sessions[conversation], session.version == version,
            version != nil || now - session.began < lifetime
        {
            sessions[conversation]?.lastRead = readings
            return session.reading
        }
        forget(conversation)
        let reading = Reading(number: readings)
        sessions[conversation] = Session(reading: reading, version: version, began: now, lastRead: readings)
        size += 1
        makeRoom(besides: conversation)
        return reading
    }

    /// What is remembered, if it is.
    func messages(of view: View, in conversation: ConversationID) -> [ConversationMessage]? {
        sessions[conversation]?.views[view]
    }

    /// Remembers what was read, unless the session has been forgotten since that reading began: then it may be too old.
    mutating func remember(
        _ messages: [ConversationMessage], as view: View, in conversation: ConversationID, of reading: Reading
    ) {
        guard messages.count + 2 <= capacity, let session = sessions[conversation], session.reading == reading,
            session.views[view] == nil
        else { return }
        sessions[conversation]?.views[view] = messages
        sessions[conversation]?.size += messages.count + 1
        size += messages.count + 1
        makeRoom(besides: conversation)
        // Where the views of one session alone are too many, they go together.
        if size > capacity { forget(conversation) }
    }

    /// Forgets a session, and what is being read of it.
    mutating func forget(_ conversation: ConversationID) {
        size -= sessions.removeValue(forKey: conversation)?.size ?? 0
    }

    private mutating func makeRoom(besides conversation: ConversationID) {
        while size > capacity,
            let oldest = sessions.filter({ $0.key != conversation }).min(by: { $0.value.lastRead < $1.value.lastRead })
        {
            forget(oldest.key)
        }
    }
}
