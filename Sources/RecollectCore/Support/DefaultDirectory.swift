import Foundation

/// The system's folders for an app's own files; on Linux those returned by Foundation.
package enum DefaultDirectory {
    /// The folder `Library/Caches` or `~/.cache`: without backup, purgeable by the system.
    package static var caches: URL { caches(of: .default) }

    /// Returns the caches folder of a specific file manager.
    package static func caches(of fileManager: FileManager) -> URL { folder(.cachesDirectory, of: fileManager) }

    /// The folder `Library/Application Support` or `~/.local/share`.
    package static var applicationSupport: URL { folder(.applicationSupportDirectory, of: .default) }

    private static func folder(_ kind: FileManager.SearchPathDirectory, of fileManager: FileManager) -> URL {
        fileManager.urls(for: kind, in: .userDomainMask).first ?? fileManager.temporaryDirectory
    }
}
