#if canImport(Darwin)
    import Foundation

    extension Placeholder {
        /// Asks the system for the content; returns at once.
        static func requestDownload(of url: URL) throws {
            try FileManager.default.startDownloadingUbiquitousItem(at: url)
        }
    }
#endif
