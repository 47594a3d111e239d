/// Which page of a list is wanted: at most `limit` elements next to a cursor, which itself is not among them.
public struct PageRequest<Cursor: Sendable & Hashable>: Hashable, Sendable {
    /// Which way to go from the cursor.
    public enum Direction: Hashable, Sendable {
        /// Towards the end of the list, from its beginning where there is no cursor.
        case forward
        /// Towards the beginning of the list, from its end where there is no cursor.
        case backward
    }

    /// The place to go on from; `nil` for the beginning or, backwards, the end.
    public var cursor: Cursor?
    /// Which way to go.
    public var direction: Direction
    /// The most elements to give, at least 1; `.max` asks for all.
    public var limit: Int {
        didSet { limit = Self.bounded(limit) }
    }

    /// Makes a request.
    public init(limit: Int, after cursor: Cursor? = nil) {
        self.init(cursor: cursor, direction: .forward, limit: limit)
    }

    /// Makes a request for what comes before a cursor, or for the end of the list.
    public init(limit: Int, before cursor: Cursor?) {
        self.init(cursor: cursor, direction: .backward, limit: limit)
    }

    private init(cursor: Cursor?, direction: Direction, limit: Int) {
        self.cursor = cursor
        self.direction = direction
        self.limit = Self.bounded(limit)
    }

    /// A limit that a store can add one to, to see whether there is a next page.
    private static func bounded(_ limit: Int) -> Int {
        min(max(1, limit), .max - 1)
    }
}

/// A page: its elements always in the list's own order, and where to go on in the direction that was asked for.
public struct Page<Element: Sendable, Cursor: Sendable & Hashable>: Sendable {
    /// The elements, in the list's order whichever way the page was asked for.
    public var elements: [Element]
    /// Where the next page goes on; `nil` when this was the last.
    public var next: Cursor?

    /// Makes a page.
    public init(elements: [Element], next: Cursor?) {
        self.elements = elements
        self.next = next
    }
}

/// A message's place in its conversation: they compare as the messages follow one another.
public struct MessageCursor: Hashable, Comparable, Sendable, Codable {
    /// The place, in a unit of the store's own.
    public let position: Int64

    /// Makes a cursor from a store's own unit.
    public init(position: Int64) {
        self.position = position
    }

    /// Whether one place is before the other.
    public static func < (left: MessageCursor, right: MessageCursor) -> Bool {
        left.position < right.position
    }
}

/// A conversation's place in a list of its user's conversations, whatever the list's order.
public struct ConversationCursor: Hashable, Sendable, Codable {
    /// What the list is ordered by.
    public enum Key: Hashable, Sendable, Codable {
        /// A moment in milliseconds since 1970, or a count.
        case integer(Int64)
        /// A title.
        case text(String)
    }

    /// What the list is ordered by, of the conversation at that place.
    public let key: Key
    /// Its session, which decides between two of the same key.
    public let sessionId: String

    /// Makes a cursor.
    public init(key: Key, sessionId: String) {
        self.key = key
        self.sessionId = sessionId
    }
}
