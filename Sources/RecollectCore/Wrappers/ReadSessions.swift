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

    private struct CachedSession {
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
    private var sessions: [SessionKey: CachedSession] = [:]
    private var size = 0
    private var readings = 0

    init(capacity: Int, lifetime: Duration) {
        self.capacity = capacity
        self.lifetime = lifetime
    }

    /// Begins a read of a session, and removes stale content: of another version or, without versions, older than
    /// `lifetime`.
    mutating func begin(
        _ key: SessionKey, version: ChatVersion?, at now: ContinuousClock.Instant
    ) -> Reading {
        readings += 1
        if let session = sessions[key], session.version == version,
            version != nil || now - session.began < lifetime
        {
            sessions[key]?.lastRead = readings
            return session.reading
        }
        forget(key)
        let reading = Reading(number: readings)
        sessions[key] = CachedSession(reading: reading, version: version, began: now, lastRead: readings)
        size += 1
        makeRoom(besides: key)
        return reading
    }

    /// Returns the cached messages of a view; `nil` if there are none.
    func messages(of view: View, in key: SessionKey) -> [ConversationMessage]? {
        sessions[key]?.views[view]
    }

    /// Caches the result of a read, unless the session was removed after the read began: the result may then be
    /// stale.
    mutating func remember(
        _ messages: [ConversationMessage], as view: View, in key: SessionKey, of reading: Reading
    ) {
        guard messages.count + 2 <= capacity, let session = sessions[key], session.reading == reading,
            session.views[view] == nil
        else { return }
        sessions[key]?.views[view] = messages
        sessions[key]?.size += messages.count + 1
        size += messages.count + 1
        makeRoom(besides: key)
        // If the views of this session alone exceed the capacity, all of them are removed.
        if size > capacity { forget(key) }
    }

    /// Removes a session, so that reads in progress are not cached.
    mutating func forget(_ key: SessionKey) {
        size -= sessions.removeValue(forKey: key)?.size ?? 0
    }

    private mutating func makeRoom(besides key: SessionKey) {
        while size > capacity,
            let oldest = sessions.filter({ $0.key != key }).min(by: { $0.value.lastRead < $1.value.lastRead })
        {
            forget(oldest.key)
        }
    }
}
