import Foundation

/// The hidden file left by iCloud for a file not on this device, before macOS 14 and iOS 17: `.name.ext.icloud`.
enum Placeholder {
    /// Returns the name of a file's placeholder.
    static func name(for name: String) -> String { ".\(name).icloud" }

    /// Returns the name of a placeholder's file; `nil` for other names.
    static func original(of name: String) -> String? {
        guard name.utf8.first == UInt8(ascii: "."), name.hasSuffix(".icloud"),
            name.utf8.count > ".x.icloud".utf8.count - 1
        else {
            return nil
        }
        return String(name.dropFirst().dropLast(".icloud".count))
    }

    /// Requests the download of a file, and returns immediately. On systems without iCloud, a sync service delivers files.
    static func requestDownload(of url: URL) throws {
        #if canImport(Darwin)
            try FileManager.default.startDownloadingUbiquitousItem(at: url)
        #endif
    }
}
