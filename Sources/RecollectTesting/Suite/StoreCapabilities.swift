/// The optional promises of a store. They are declared, so a report shows the missing ones.
public struct StoreCapabilities: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Many tasks may use one instance at the same time. (Rule 6)
    public static let concurrent = StoreCapabilities(rawValue: 1 << 0)
    /// A message with the role of the last saved one is dropped. Not for a store created with `sameRole: .keep`.
    /// (Rule 3)
    public static let dropsSameRole = StoreCapabilities(rawValue: 1 << 1)
    /// Message fields unknown to this version are read back. (Rule 9)
    public static let keepsUnknownFields = StoreCapabilities(rawValue: 1 << 3)
    /// Text and IDs may contain U+0000. (Rule 1)
    public static let keepsNUL = StoreCapabilities(rawValue: 1 << 4)
    /// Saved messages are there after the same location is opened again. (Rule 7)
    public static let persistent = StoreCapabilities(rawValue: 1 << 5)
    /// Two instances may have the same location open at the same time. (Rule 6)
    public static let sharesLocation = StoreCapabilities(rawValue: 1 << 6)
    /// An acknowledged save is outside the process's own memory.
    ///
    /// No check can cut the power. The check of this promise reads the save at once through a second instance on
    /// the same location. (Rule 7)
    public static let durable = StoreCapabilities(rawValue: 1 << 7)
    /// A trim only moves the window: pages, search and forks still contain trimmed messages. (Rule 2, for a
    /// `HistoryStore`)
    public static let retainsTrimmedMessages = StoreCapabilities(rawValue: 1 << 8)
    /// Files can be evicted, and the fixture can evict them. (For a `WorkspaceProvider`)
    public static let evicts = StoreCapabilities(rawValue: 1 << 9)
    /// The fixture can make the root unavailable and available again. (For a `WorkspaceProvider`)
    public static let losesRoot = StoreCapabilities(rawValue: 1 << 10)
    /// The store gives leases of turns. (For a `HistoryStore`)
    public static let leases = StoreCapabilities(rawValue: 1 << 11)
    /// IDs may have thousands of bytes. Without this promise, a store refuses them. (Rule 1)
    public static let keepsLongIDs = StoreCapabilities(rawValue: 1 << 12)

    /// The promises a store in memory can keep; the default of `run(capabilities:make:)`.
    public static let standard: StoreCapabilities = [
        .concurrent, .dropsSameRole, .keepsUnknownFields, .keepsNUL, .retainsTrimmedMessages, .leases, .keepsLongIDs,
    ]
    /// All promises of a history's store.
    public static let all: StoreCapabilities = [.standard, .persistent, .sharesLocation, .durable]

    private static let names: [(StoreCapabilities, String)] = [
        (.concurrent, "concurrent"), (.dropsSameRole, "dropsSameRole"), (.keepsUnknownFields, "keepsUnknownFields"),
        (.keepsNUL, "keepsNUL"), (.persistent, "persistent"),
        (.sharesLocation, "sharesLocation"), (.durable, "durable"),
        (.retainsTrimmedMessages, "retainsTrimmedMessages"), (.evicts, "evicts"), (.losesRoot, "losesRoot"),
        (.leases, "leases"), (.keepsLongIDs, "keepsLongIDs"),
    ]
}

extension StoreCapabilities: CustomStringConvertible {
    /// The names of the capabilities, in a fixed order.
    public var description: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
