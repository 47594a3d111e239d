/// What a store promises beyond what every store must: declared, so that a report shows what is missing.
public struct StoreCapabilities: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Many tasks may use one instance at the same time. (Rule 6)
    public static let concurrent = StoreCapabilities(rawValue: 1 << 0)
    /// A message whose role repeats the last stored one's is dropped; a store made with `sameRole: .keep` lacks this. (Rule 3)
    public static let dropsSameRole = StoreCapabilities(rawValue: 1 << 1)
    /// Fields of a message that this version does not know come back. (Rule 9)
    public static let keepsUnknownFields = StoreCapabilities(rawValue: 1 << 3)
    /// Text and ids may hold U+0000. (Rule 1)
    public static let keepsNUL = StoreCapabilities(rawValue: 1 << 4)
    /// What was saved is there when the same place is opened again. (Rule 7)
    public static let persistent = StoreCapabilities(rawValue: 1 << 5)
    /// Two instances may be open on the same place at the same time. (Rule 6)
    public static let sharesPlace = StoreCapabilities(rawValue: 1 << 6)
    /// A save that returned is past the process's own memory. No check can cut the power: this one shows that a second
    /// instance on the same place has it at once. (Rule 7)
    public static let durable = StoreCapabilities(rawValue: 1 << 7)
    /// A trim moves the window alone: pages, search and forks still have what left it. (Rule 2, for a `HistoryStore`)
    public static let keepsWhatIsTrimmed = StoreCapabilities(rawValue: 1 << 8)
    /// A file's content can be elsewhere, and the fixture can take it away. (For a `WorkspaceProvider`)
    public static let evicts = StoreCapabilities(rawValue: 1 << 9)
    /// The fixture can take the root away and bring it back. (For a `WorkspaceProvider`)
    public static let losesRoot = StoreCapabilities(rawValue: 1 << 10)

    /// What a store in memory can keep: what `run(capabilities:make:)` asks for unless told otherwise.
    public static let standard: StoreCapabilities = [
        .concurrent, .dropsSameRole, .keepsUnknownFields, .keepsNUL, .keepsWhatIsTrimmed,
    ]
    /// Everything that a store of a history can promise.
    public static let all: StoreCapabilities = [.standard, .persistent, .sharesPlace, .durable]

    private static let names: [(StoreCapabilities, String)] = [
        (.concurrent, "concurrent"), (.dropsSameRole, "dropsSameRole"), (.keepsUnknownFields, "keepsUnknownFields"),
        (.keepsNUL, "keepsNUL"), (.persistent, "persistent"),
        (.sharesPlace, "sharesPlace"), (.durable, "durable"),
        (.keepsWhatIsTrimmed, "keepsWhatIsTrimmed"), (.evicts, "evicts"), (.losesRoot, "losesRoot"),
    ]
}

extension StoreCapabilities: CustomStringConvertible {
    /// The names, in a fixed order.
    public var description: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
