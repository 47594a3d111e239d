#if canImport(Darwin)
    import Foundation

    extension Placeholder {
        /// Requests the download of a file. Returns immediately.
        static func requestDownload(of url: URL) throws {
            try FileManager.default.startDownloadingUbiquitousItem(at: url)
        }
    }
#endif
