/// The guarantee for acknowledged saves.
public struct Durability: RawRepresentable, Hashable, Sendable {
    /// The name of the guarantee.
    public let rawValue: String

    /// Creates a guarantee from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// An acknowledged save survives a power loss. The default of persistent stores.
    public static let full = Durability(rawValue: "full")
    /// An acknowledged save survives the end of the process; a power loss may remove the last saves.
    public static let relaxed = Durability(rawValue: "relaxed")
}

/// The rule for messages outside the window of their scope.
public enum Retention: Hashable, Sendable {
    /// All messages are retained: a trim only moves the window seen by agents. The default of a history.
    case everything
    /// Messages older than this number of days, by their timestamps, are deleted permanently, outside of saves.
    ///
    /// With a clock more than a day ahead of its expected time, nothing is deleted before the clock has stayed
    /// ahead for a day. The first clock of a history must also have run for a day, so old messages are deleted one
    /// day after this rule was chosen. A message or a discard dated by a clock that was behind is as old as its date.
    case days(Int)
    /// Only the window is retained: a trim deletes. The default of `DeviceChatStorage(userId:)` alone.
    case window
}
