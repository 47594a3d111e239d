/// The cached reads of a `CachingChatStorage` by session.
struct ReadSessions {
    /// A readable view of a session.
    enum View: Hashable {
        case window(agent: ByteString, maxMessages: Int?)
        case merged
    }

    /// An identifier of the session's state at the time of a read.
    struct Reading: Equatable {
        fileprivate let number: Int
    }

    private struct Session {
        let reading: Reading
        let version: ChatVersion?
        let began: ContinuousClock.Instant
        var views: [View: [ConversationMessage]] = [:]
        /// The session's share of the capacity: 1 for the session, 1 for each view and 1 for each message. Empty
        /// views also take space.
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

    /// Begins a read of a session, and removes stale content: of another version or, without versions, older than
    /// `lifetime`.
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

    /// Returns the cached messages of a view; `nil` if there are none.
    func messages(of view: View, in conversation: ConversationID) -> [ConversationMessage]? {
        sessions[conversation]?.views[view]
    }

    /// Caches the result of a read, unless the session was removed after the read began: the result may then be
    /// stale.
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
        // If the views of this session alone exceed the capacity, all of them are removed.
        if size > capacity { forget(conversation) }
    }

    /// Removes a session, so that reads in progress are not cached.
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
