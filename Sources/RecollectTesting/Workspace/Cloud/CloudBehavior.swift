/// The behavior of a simulated sync service: the service it imitates, and its faults.
///
/// Start from one of the services and change the properties under test.
public struct CloudBehavior: Sendable {
    /// The handling of the losing content, after concurrent changes of one file by two devices.
    public enum Conflicts: Sendable, CaseIterable {
        /// A copy `name.sync-conflict-20260115-120000-ABCDEFG.md`. The letters name the winning device.
        case syncthing
        /// A copy `name (anna's conflicted copy 2026-01-15).md`. The later device loses.
        case dropbox
        /// A copy `name-ANNA.md`, named after the losing device. The later device loses.
        case oneDrive
        /// A copy `name 2.md` if both devices created the file; a version beside the file if both edited it.
        case iCloud
        /// A copy `name (1).md`. The later device loses.
        case iCloudForWindows
        /// Always a version beside the file, never a copy.
        case fileVersions
    }

    /// The appearance of an evicted file.
    public enum Eviction: Sendable {
        /// A placeholder, with the size unknown. (Before macOS 14 and iOS 17.)
        case placeholder
        /// A file with its size and no data. (Since macOS 14 and iOS 17.)
        case dataless
    }

    /// The time of a download after its request.
    public enum Downloads: Sendable {
        /// In a later step.
        case later
        /// Before the request returns.
        case atOnce
        /// Never.
        case stalled
    }

    /// The appearance of a file during its download.
    public enum Arrival: Sendable {
        /// Unchanged until the whole content is present.
        case whole
        /// The first part of the new content is under a temporary name.
        case temporaryName
        /// The first part of the new content is under the file's own name, as with sync services that write in place.
        case inPlace
    }

    /// The service's duplication of whole folders (`Journal 2`).
    public enum FolderDuplication: Sendable {
        /// No duplication.
        case never
        /// Afterwards, the files are in both folders.
        case copies
        /// Afterwards, some files are in one folder and some in the other.
        case splits
    }

    /// The handling of the losing content of a conflict.
    public var conflicts: Conflicts
    /// Whether one version is lost when two devices edit a conflict copy, as with Syncthing.
    public var losesEditedCopies: Bool
    /// Whether the service treats names that differ only in case as one, and renames the second file.
    public var foldsCase: Bool
    /// The appearance of evicted files.
    public var eviction: Eviction
    /// Whether the service evicts files without a request.
    public var evicts: Bool
    /// Whether new files from other devices arrive evicted.
    public var arrivesEvicted: Bool
    /// The time of requested downloads.
    public var downloads: Downloads
    /// The appearance of files during their download.
    public var arrival: Arrival
    /// The duplication of whole folders.
    public var duplicatesFolders: FolderDuplication

    /// Creates the behavior of a service without faults.
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

extension CloudBehavior {
    /// Syncthing: conflict copies, and temporary names during a download. Of a copy edited on both sides, one
    /// content is lost.
    public static let syncthing = CloudBehavior(
        conflicts: .syncthing, losesEditedCopies: true, arrival: .temporaryName)
    /// Dropbox: one spelling of a name for all devices.
    public static let dropbox = CloudBehavior(conflicts: .dropbox, foldsCase: true)
    /// OneDrive: one spelling of a name for all devices.
    public static let oneDrive = CloudBehavior(conflicts: .oneDrive, foldsCase: true)
    /// The current iCloud Drive: versions, and dataless files; files from other devices arrive evicted.
    public static let iCloud = CloudBehavior(conflicts: .iCloud, evicts: true, arrivesEvicted: true)
    /// iCloud Drive before macOS 14 and iOS 17: placeholders, duplicated folders.
    public static let oldICloud = CloudBehavior(
        conflicts: .iCloud, eviction: .placeholder, evicts: true, arrivesEvicted: true, duplicatesFolders: .copies)
    /// iCloud for Windows.
    public static let iCloudForWindows = CloudBehavior(conflicts: .iCloudForWindows, foldsCase: true)
    /// A sync service with writes in place, and a version for every conflict.
    public static let inPlace = CloudBehavior(conflicts: .fileVersions, arrival: .inPlace)

    /// All services, by name.
    public static let all: [(name: String, behavior: CloudBehavior)] = [
        ("syncthing", .syncthing), ("dropbox", .dropbox), ("oneDrive", .oneDrive), ("iCloud", .iCloud),
        ("oldICloud", .oldICloud), ("iCloudForWindows", .iCloudForWindows), ("inPlace", .inPlace),
    ]
}
