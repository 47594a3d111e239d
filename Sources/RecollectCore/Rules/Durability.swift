/// What a save that returned has survived.
public struct Durability: RawRepresentable, Hashable, Sendable {
    /// The choice's name.
    public let rawValue: String

    /// Makes a choice from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A save that returned is on the disk, past power loss. The default of persistent stores.
    public static let full = Durability(rawValue: "full")
    /// A save that returned survives the end of the process; a power cut may take the last moments.
    public static let relaxed = Durability(rawValue: "relaxed")
}

/// What a store keeps of messages that have left their scope's window.
public enum Retention: Hashable, Sendable {
    /// Everything: a trim only moves the window that agents see. The default of a history.
    case everything
    /// What is younger than so many days, by the messages' timestamps; older messages are deleted for good, outside of saves.
    /// A clock more than a day ahead of its expected time deletes no message before it has stood for a day. The
    /// first clock of a history must stand for a day too, so old messages go a day after this was chosen.
    case days(Int)
    /// Only the window: a trim deletes. The default of `DeviceChatStorage(userId:)` alone.
    case window
}
