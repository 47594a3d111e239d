import Logging
import RecollectCore

/// The settings of a history.
public struct HistoryConfiguration: Sendable {
    /// The durability of a save at its return.
    public var durability: Durability
    /// The retention of messages outside their scope's window and of old messages.
    public var retention: Retention
    /// Whether the search index is updated in the background while no saves run. A search indexes missing messages
    /// in any case.
    public var indexesInBackground: Bool
    /// The time an operation waits for another process before it throws `busy`, in steps of a millisecond. Values are
    /// clamped to the range from 0 to one day.
    public var busyTimeout: Duration {
        didSet { busyTimeout = Self.clamped(busyTimeout) }
    }
    /// The logger for events.
    public var logger: Logger

    /// Creates a configuration. The defaults lose no data.
    public init(
        durability: Durability = .full, retention: Retention = .everything, indexesInBackground: Bool = true,
        busyTimeout: Duration = .seconds(30), logger: Logger = Logger(label: "recollect.history")
    ) {
        self.durability = durability
        self.retention = retention
        self.indexesInBackground = indexesInBackground
        self.busyTimeout = Self.clamped(busyTimeout)
        self.logger = logger
    }

    /// Clamps a duration to the range valid for SQLite and for deadlines.
    private static func clamped(_ duration: Duration) -> Duration {
        min(max(duration, .zero), .seconds(86_400))
    }

    /// `busyTimeout` in whole milliseconds.
    var busyMilliseconds: Int { Int(busyTimeout.milliseconds) }
}
