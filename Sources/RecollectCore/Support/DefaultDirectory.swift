import Foundation

/// The folders that the system gives for an app's own files; on Linux what Foundation gives for them.
package enum DefaultDirectory {
    /// `Library/Caches`, or `~/.cache`: not backed up, reclaimable by the system.
    package static var caches: URL { folder(.cachesDirectory) }

    /// `Library/Application Support`, or `~/.local/share`.
    package static var applicationSupport: URL { folder(.applicationSupportDirectory) }

    private static func folder(_ kind: FileManager.SearchPathDirectory) -> URL {
        FileManager.default.urls(for: kind, in: .userDomainMask).first ?? FileManager.default.temporaryDirectory
    }
}
