import CRecollectFileSystem
import Foundation

extension OpenFolder {
    /// Whether `synchronizeFileSystem` is supported.
    #if canImport(Darwin)
        package static let canSynchronizeFileSystem = false
    #else
        package static let canSynchronizeFileSystem = true
    #endif

    /// Makes all writes to this folder's file system so far durable, including those of other programs.
    package func synchronizeFileSystem() throws {
        while recollect_sync_file_system(descriptor) != 0 {
            let failure = POSIXFailure.last
            guard failure.number == EINTR else { throw failure }
        }
    }
}
