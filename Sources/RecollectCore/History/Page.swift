/// A request for a page of a list: at most `limit` elements next to a cursor, excluding the one at the cursor.
public struct PageRequest<Cursor: Sendable & Hashable>: Hashable, Sendable {
    /// The direction from the cursor.
    public enum Direction: Hashable, Sendable {
        /// Toward the end of the list; without a cursor, from its beginning.
        case forward
        /// Toward the beginning of the list; without a cursor, from its end.
        case backward
    }

    /// The starting position; `nil` for the beginning or, backward, the end.
    public var cursor: Cursor?
    /// The direction from the cursor.
    public var direction: Direction
    /// The maximum number of elements, at least 1; `.max` requests all.
    public var limit: Int {
        didSet { limit = Self.bounded(limit) }
    }

    /// Creates a request for the elements after a cursor, or for the beginning of the list.
    public init(limit: Int, after cursor: Cursor? = nil) {
        self.init(cursor: cursor, direction: .forward, limit: limit)
    }

    /// Creates a request for the elements before a cursor, or for the end of the list.
    public init(limit: Int, before cursor: Cursor?) {
        self.init(cursor: cursor, direction: .backward, limit: limit)
    }

    private init(cursor: Cursor?, direction: Direction, limit: Int) {
        self.cursor = cursor
        self.direction = direction
        self.limit = Self.bounded(limit)
    }

    /// Returns a limit from 1 to `.max - 1`, so that a store can add one to detect a next page.
    private static func bounded(_ limit: Int) -> Int {
        min(max(1, limit), .max - 1)
    }
}

/// A page of a list, with the cursor for the next page in the requested direction.
public struct Page<Element: Sendable, Cursor: Sendable & Hashable>: Sendable {
    /// The elements, in the list's order for both directions.
    public var elements: [Element]
    /// The cursor for the next page; `nil` on the last page.
    public var next: Cursor?

    /// Creates a page.
    public init(elements: [Element], next: Cursor?) {
        self.elements = elements
        self.next = next
    }
}

/// A message's position in its session. Cursors compare in message order.
public struct MessageCursor: Hashable, Comparable, Sendable, Codable {
    /// The position, in a unit of the store.
    public let position: Int64

    /// Creates a cursor from a position.
    public init(position: Int64) {
        self.position = position
    }

    /// Whether the left position is before the right one.
    public static func < (left: MessageCursor, right: MessageCursor) -> Bool {
        left.position < right.position
    }
}

/// A session's position in a list of its user's sessions, in any order of the list.
public struct SessionCursor: Hashable, Sendable, Codable {
    /// A sort key of a list.
    public enum Key: Hashable, Sendable, Codable {
        /// A date in milliseconds since 1970, or a count.
        case integer(Int64)
        /// A title.
        case text(String)
    }

    /// The sort key of the session at this position.
    public let key: Key
    /// The session's ID, for the order of sessions with equal keys.
    public let sessionId: String

    /// Creates a cursor.
    public init(key: Key, sessionId: String) {
        self.key = key
        self.sessionId = sessionId
    }
}

extension Page {
    /// Creates a page from rows read in the requested direction, with one row over the limit if there are more.
    package init(_ rows: consuming [Element], _ request: PageRequest<Cursor>, cursor: (Element) -> Cursor) {
        let hasMore = rows.count > request.limit
        if hasMore { rows.removeLast(rows.count - request.limit) }
        let next = hasMore ? rows.last.map(cursor) : nil
        if request.direction == .backward { rows.reverse() }
        self.init(elements: rows, next: next)
    }
}
