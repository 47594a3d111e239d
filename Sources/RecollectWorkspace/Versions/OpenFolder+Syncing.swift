import CFiles
import Foundation
import RecollectCore

extension OpenFolder {
    /// Whether `synchronizeFileSystem` is possible.
    #if canImport(Darwin)
        static let canSynchronizeFileSystem = false
    #else
        static let canSynchronizeFileSystem = true
    #endif

    /// Returns when all that was written so far to this folder's file system is on the disk, whoever wrote it.
    func synchronizeFileSystem() throws {
        while recollect_sync_file_system(descriptor) != 0 {
            let failure = POSIXFailure.last
            guard failure.number == EINTR else { throw failure }
        }
    }
}
