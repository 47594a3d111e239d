import Foundation

/// Detects that another process writes to files that SQLite reads without locks: an immutable file, or the original of a copy.
///
/// SQLite keeps the pages of an immutable file for as long as the connection is open. Once the file changes, it would go on
/// showing the old state, or mix pages of two states.
struct FileWatch: Sendable {
    private let files: HistoryFiles
    private let opened: Stamps

    private struct Stamps: Equatable {
        let database: FileStamp?
        let log: FileStamp?

        init(_ files: HistoryFiles) {
            database = FileStamp(at: files.database)
            log = FileStamp(at: files.writeAheadLog)
        }

        /// How long to wait until a later write gives other stamps, in seconds; `nil` for no time.
        var delay: Double? { [database, log].compactMap { $0 }.filter { !$0.isSettled }.map(\.tick).max() }
    }

    /// Takes the files as they are now, before they are opened. Blocks for some milliseconds where they have just been written:
    /// a write in the same tick of the file system's clock could not be detected.
    init(_ files: HistoryFiles) {
        self.files = files
        var stamps = Stamps(files)
        for _ in 0..<10 {
            guard let delay = stamps.delay else { break }
            usleep(UInt32(delay * 1_000_000))
            let later = Stamps(files)
            // The clock has ticked, even where it is not this machine's.
            if later == stamps { break }
            stamps = later
        }
        opened = stamps
    }

    /// Whether nothing has written to the files since.
    var filesAreUnchanged: Bool { Stamps(files) == opened }

    /// - Throws: `DatabaseRetired` if the files have changed.
    func check() throws {
        guard filesAreUnchanged else { throw DatabaseRetired() }
    }
}
