import Foundation
import RecollectCore

/// What becomes of reading a file whose content is not on this device.
public enum DownloadPolicy: Sendable {
    /// The download is asked for, and waited for, at most so long: then `timedOut` is thrown.
    case wait(Duration)
    /// The download is asked for, and `FileNotYetAvailableError` thrown at once.
    case ask
}

extension SharedWorkspace {
    /// A file's content, and the version that a writer hands back to replace it.
    ///
    /// Of a file that is not local the download is asked for. A task that is cancelled while it waits ends with `CancellationError`;
    /// the download goes on.
    /// - Parameters:
    ///   - path: Which file.
    ///   - download: What is done about a file that is not local.
    /// - Throws: `notFound`, `tooLarge`; `FileNotYetAvailableError` with `.ask`, `timedOut` with `.wait`; `unavailable` while so much is
    ///   missing that the folder is not taken at its word (`WorkspaceStatus.isVanished`).
    public func read(
        _ path: WorkspacePath, download: DownloadPolicy = .wait(.seconds(60))
    ) async throws -> WorkspaceFile {
        if let file = try await reading({ try self.file(at: path) }) { return file }
        guard case .wait(let time) = download else {
            try await reading { try self.provider.requestDownload(of: path) }
            throw FileNotYetAvailableError(url: url(of: path))
        }
        return try await downloaded(path, within: time)
    }

    /// A file, blocking; `nil` where its content is not local.
    func file(at path: WorkspacePath) throws -> WorkspaceFile? {
        do {
            return WorkspaceFile(path: path, bytes: try provider.read(path, limit: configuration.largestFile))
        } catch let error as RecollectError where error.code == .notLocal {
            return nil
        } catch let error as RecollectError where error.code == .notFound {
            try refuseWhileVanished(path)
            throw error
        }
    }

    /// Says `unavailable` of a file that is to be made while most files are missing, or is missing with them: what is written then may be in
    /// another folder than the one that comes back.
    ///
    /// Looks whether they are where the file was known here, so that nobody need have looked before.
    func refuseWhileVanished(_ path: WorkspacePath) throws {
        let isKnown = try archive.index().files[path]?.content != nil
        // The kept guard is only a reason to look: the files may be back.
        guard try isKnown || isGuardKept(), try look().isVanished else { return }
        throw RecollectError(
            .unavailable,
            "most of the files in \(rootURL.path) are missing, and \(path) may be one of them; bring them back, or accept the deletions"
        )
    }

    /// Where a path is, for code that names files by URLs.
    func url(of path: WorkspacePath) -> URL {
        path.names.reduce(rootURL) { $0.appendingPathComponent($1) }
    }

    /// Waits for a download: looks again at every wake of the provider, and every two seconds in case one is missed.
    private func downloaded(_ path: WorkspacePath, within time: Duration) async throws -> WorkspaceFile {
        let again = Wakes()
        return try await withThrowingTaskGroup(of: WorkspaceFile?.self) { group in
            let wakes = again.stream()
            let provided = provider.wakes()
            group.addTask {
                for await _ in provided { again.wake() }
                return nil
            }
            group.addTask {
                while true {
                    try await self.configuration.sleep(Self.downloadPoll)
                    again.wake()
                }
            }
            group.addTask {
                try await self.configuration.sleep(time)
                throw RecollectError(.timedOut, "\(path) did not come onto this device in \(time); try again later")
            }
            group.addTask {
                try await self.reading { try self.provider.requestDownload(of: path) }
                again.wake()
                for await _ in wakes {
                    if let file = try await self.reading({ try self.file(at: path) }) { return file }
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

extension RecollectError {
    /// Whether it keeps from one file or folder alone: the others can be read and written all the same.
    var isOfOneFile: Bool {
        [.notFound, .notLocal, .tooLarge, .foreignStore, .permissionDenied, .inputOutput].contains(code)
    }
}
