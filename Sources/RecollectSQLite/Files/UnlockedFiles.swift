import Foundation
import RecollectCore
import RecollectFileSystem

/// The files of a history read without locks, as they were at its opening.
///
/// SQLite would mix the pages of two states if another process wrote. So the files are compared before and after
/// each read, and a read of changed files is dropped.
struct UnlockedFiles: Sendable {
    private let paths: [String]
    private let stamps: [FileStamp?]

    /// Creates a record of the files. Waits some milliseconds if they were just changed, up to four seconds on a
    /// file system without fractions of seconds: a further change could give the same stamps.
    /// - Throws: `DatabaseRetired` if they change all the time.
    init(_ files: HistoryFiles) throws {
        paths = [files.database, files.writeAheadLog]
        for _ in 0..<10 {
            let stamps = paths.map(FileStamp.init(at:))
            let now = Date()
            if stamps.allSatisfy({ $0?.isStable(at: now) ?? true }) {
                self.stamps = stamps
                return
            }
            usleep(stamps.allSatisfy { $0?.hasFraction ?? true } ? 10_000 : 400_000)
        }
        throw DatabaseRetired()
    }

    /// Reads from the files.
    /// - Throws: `DatabaseRetired` if they have changed, in place of the result or of the failure.
    func reading<Value>(_ body: () throws -> Value) throws -> Value {
        try check()
        let result = Result { try body() }
        try check()
        return try result.get()
    }

    private func check() throws {
        guard paths.map(FileStamp.init(at:)) == stamps else { throw DatabaseRetired() }
    }
}
