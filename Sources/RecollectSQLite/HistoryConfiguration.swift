import Logging
import RecollectCore

/// How a history is kept.
public struct HistoryConfiguration: Sendable {
    /// What a save that returned has survived.
    public var durability: Durability
    /// What is kept of messages that left their scope's window or grew old.
    public var retention: Retention
    /// Whether the search index follows by itself while nothing is saved. A search indexes what is missing in any case.
    public var indexesInBackground: Bool
    /// How long an operation waits for another process, in milliseconds, before it fails with `busy`: from none to a day. What is
    /// less or more is taken for the nearest of these.
    public var busyTimeout: Int {
        didSet { busyTimeout = Self.possible(busyTimeout) }
    }
    /// Where events are logged.
    public var logger: Logger

    /// Makes a configuration; the defaults lose nothing.
    public init(
        durability: Durability = .full, retention: Retention = .everything, indexesInBackground: Bool = true,
        busyTimeout: Int = 30_000, logger: Logger = Logger(label: "recollect.history")
    ) {
        self.durability = durability
        self.retention = retention
        self.indexesInBackground = indexesInBackground
        self.busyTimeout = Self.possible(busyTimeout)
        self.logger = logger
    }

    /// The nearest time that SQLite and deadlines take.
    private static func possible(_ milliseconds: Int) -> Int {
        min(max(milliseconds, 0), 86_400_000)
    }
}
