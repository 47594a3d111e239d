import Foundation

/// The hidden file that iCloud left for one that is not here, before macOS 14 and iOS 17: `.name.ext.icloud`.
enum Placeholder {
    /// The placeholder's name of a file.
    static func name(for name: String) -> String { ".\(name).icloud" }

    /// The name of the file that a placeholder stands for; `nil` for any other name.
    static func original(of name: String) -> String? {
        guard name.utf8.first == UInt8(ascii: "."), name.hasSuffix(".icloud"),
            name.utf8.count > ".x.icloud".utf8.count - 1
        else {
            return nil
        }
        return String(name.dropFirst().dropLast(".icloud".count))
    }

    #if !canImport(Darwin)
        /// Nobody here fetches a file: it comes when a sync service brings it.
        static func requestDownload(of url: URL) throws {}
    #endif
}
