import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Returns a file's content, and its version for a later write.
    ///
    /// Requests the download of a file that is not local. Cancellation during the wait throws `CancellationError`;
    /// the download continues.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - download: The behavior for a file that is not local.
    /// - Throws: `notFound`; `tooLarge`; `FileNotYetAvailableError` with `.request`; `timedOut` with `.wait`;
    ///   `unavailable` for a missing file during a mass deletion (`WorkspaceStatus.isMassDeletion`).
    public func read(
        _ path: WorkspacePath, download: DownloadPolicy = .wait(.seconds(60))
    ) async throws -> WorkspaceFile {
        if let file = try await reading({ try self.scanner.file(at: path) }) { return file }
        guard case .wait(let time) = download else {
            try await reading { try self.provider.requestDownload(of: path) }
            throw FileNotYetAvailableError(url: url(of: path))
        }
        return try await downloaded(path, within: time)
    }

    /// Returns the URL of a path.
    func url(of path: WorkspacePath) -> URL {
        path.names.reduce(rootURL) { $0.appendingPathComponent($1) }
    }

    /// Waits for a download. Reads at every signal of the provider, and every two seconds in case of a missed signal.
    private func downloaded(_ path: WorkspacePath, within time: Duration) async throws -> WorkspaceFile {
        let again = Broadcast<Void>()
        return try await withThrowingTaskGroup(of: WorkspaceFile?.self) { group in
            let changeSignals = again.stream()
            let provided = provider.changeSignals()
            group.addTask {
                for await _ in provided { again.signal() }
                return nil
            }
            group.addTask {
                while true {
                    try await self.configuration.sleep(Self.downloadPoll)
                    again.signal()
                }
            }
            group.addTask {
                try await self.configuration.sleep(time)
                throw RecollectError(.timedOut, "\(path) was not downloaded within \(time); try again later")
            }
            group.addTask {
                try await self.reading { try self.provider.requestDownload(of: path) }
                again.signal()
                for await _ in changeSignals {
                    if let file = try await self.reading({ try self.scanner.file(at: path) }) { return file }
                }
                throw CancellationError()
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let file = ended { return file }
            }
            throw CancellationError()
        }
    }

    static var downloadPoll: Duration { .seconds(2) }
}
