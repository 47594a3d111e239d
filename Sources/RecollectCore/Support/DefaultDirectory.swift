import Foundation

/// The folders that the system gives for an app's own files; on Linux what Foundation gives for them.
package enum DefaultDirectory {
    /// `Library/Caches`, or `~/.cache`: not backed up, reclaimable by the system.
    package static var caches: URL { caches(of: .default) }

    /// The caches that a file manager of the caller's names.
    package static func caches(of fileManager: FileManager) -> URL { folder(.cachesDirectory, of: fileManager) }

    /// `Library/Application Support`, or `~/.local/share`.
    package static var applicationSupport: URL { folder(.applicationSupportDirectory, of: .default) }

    private static func folder(_ kind: FileManager.SearchPathDirectory, of fileManager: FileManager) -> URL {
        fileManager.urls(for: kind, in: .userDomainMask).first ?? fileManager.temporaryDirectory
    }
}
