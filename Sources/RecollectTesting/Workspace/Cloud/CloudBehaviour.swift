/// How a simulated cloud folder acts: which service it imitates, and which mishaps it has.
///
/// Start from one of the services and change what a test is about.
public struct CloudBehaviour: Sendable {
    /// What becomes of the content that loses when two devices changed one file without knowing of each other.
    public enum Conflicts: Sendable, CaseIterable {
        /// A copy `name.sync-conflict-20260115-120000-ABCDEFG.md`; the letters name the device that won.
        case syncthing
        /// A copy `name (anna's conflicted copy 2026-01-15).md`; the device that comes second loses.
        case dropbox
        /// A copy `name-ANNA.md`, named after the device that loses, which is the second.
        case oneDrive
        /// A copy `name 2.md` where both made the file; a version beside the file where both edited it.
        case iCloud
        /// A copy `name (1).md`; the device that comes second loses.
        case iCloudForWindows
        /// Always a version beside the file, and never a copy.
        case fileVersions
    }

    /// How a file that is evicted shows.
    public enum Eviction: Sendable {
        /// As a placeholder: nobody knows its size. (Before macOS 14 and iOS 17.)
        case placeholder
        /// As a file with its size and no data. (Since macOS 14 and iOS 17.)
        case dataless
    }

    /// When the content of an evicted file comes after it was asked for.
    public enum Downloads: Sendable {
        /// In some later step.
        case later
        /// Before the request returns.
        case atOnce
        /// Never.
        case stalled
    }

    /// What is seen of a file while its content arrives.
    public enum Arrival: Sendable {
        /// Nothing: it is there all at once.
        case whole
        /// The first part of the new content under a temporary name.
        case temporaryName
        /// The first part of the new content under the file's own name, as syncs do that write in place.
        case inPlace
    }

    /// Whether the service duplicates whole folders of its own accord (`Journal 2`).
    public enum FolderDuplication: Sendable {
        /// It does not.
        case never
        /// The files are in both folders afterwards.
        case copies
        /// Some files are in the one afterwards and some in the other.
        case splits
    }

    /// What becomes of the content that loses a conflict.
    public var conflicts: Conflicts
    /// Whether of a conflict copy that two devices edited one content vanishes, as Syncthing does it.
    public var losesEditedCopies: Bool
    /// Whether names that differ only in case are one to the service, which then renames the second.
    public var foldsCase: Bool
    /// How evicted files show.
    public var eviction: Eviction
    /// Whether the service evicts files that nobody asked it to evict.
    public var evicts: Bool
    /// Whether new files from elsewhere come without their content.
    public var arrivesEvicted: Bool
    /// When a download that was asked for ends.
    public var downloads: Downloads
    /// What is seen of a file that arrives.
    public var arrival: Arrival
    /// Whether whole folders are duplicated.
    public var duplicatesFolders: FolderDuplication

    /// Makes a behaviour of a service without mishaps.
    public init(
        conflicts: Conflicts, losesEditedCopies: Bool = false, foldsCase: Bool = false, eviction: Eviction = .dataless,
        evicts: Bool = false, arrivesEvicted: Bool = false, downloads: Downloads = .later, arrival: Arrival = .whole,
        duplicatesFolders: FolderDuplication = .never
    ) {
        self.conflicts = conflicts
        self.losesEditedCopies = losesEditedCopies
        self.foldsCase = foldsCase
        self.eviction = eviction
        self.evicts = evicts
        self.arrivesEvicted = arrivesEvicted
        self.downloads = downloads
        self.arrival = arrival
        self.duplicatesFolders = duplicatesFolders
    }
}

extension CloudBehaviour {
    /// Syncthing: copies, temporary names while a file arrives; of a copy edited on both sides one content vanishes.
    public static let syncthing = CloudBehaviour(
        conflicts: .syncthing, losesEditedCopies: true, arrival: .temporaryName)
    /// Dropbox: one spelling of a name for all devices.
    public static let dropbox = CloudBehaviour(conflicts: .dropbox, foldsCase: true)
    /// OneDrive: one spelling of a name for all devices.
    public static let oneDrive = CloudBehaviour(conflicts: .oneDrive, foldsCase: true)
    /// iCloud Drive of today: versions, dataless files, what comes from elsewhere comes without content.
    public static let iCloud = CloudBehaviour(conflicts: .iCloud, evicts: true, arrivesEvicted: true)
    /// iCloud Drive before macOS 14 and iOS 17: placeholders, duplicated folders.
    public static let oldICloud = CloudBehaviour(
        conflicts: .iCloud, eviction: .placeholder, evicts: true, arrivesEvicted: true, duplicatesFolders: .copies)
    /// iCloud for Windows.
    public static let iCloudForWindows = CloudBehaviour(conflicts: .iCloudForWindows, foldsCase: true)
    /// A sync that writes files in place and keeps every conflict as a version.
    public static let inPlace = CloudBehaviour(conflicts: .fileVersions, arrival: .inPlace)

    /// All of them, by name.
    public static let all: [(name: String, behaviour: CloudBehaviour)] = [
        ("syncthing", .syncthing), ("dropbox", .dropbox), ("oneDrive", .oneDrive), ("iCloud", .iCloud),
        ("oldICloud", .oldICloud), ("iCloudForWindows", .iCloudForWindows), ("inPlace", .inPlace),
    ]
}
