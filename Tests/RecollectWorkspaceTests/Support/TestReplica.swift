import Foundation
import RecollectCore

@testable import RecollectWorkspace

/// A container over files in memory, and the offline replica written while the container was unavailable. No two
/// events have the same millisecond.
final class TestReplica: Sendable {
    let cloud = MemoryProvider()
    let account: ContainerCache
    private let folder: TestFolder
    private let stateURL: URL
    private let milliseconds = Locked(1_000_000_000_000)

    init() throws {
        folder = try TestFolder()
        stateURL = folder.url.appendingPathComponent("container")
        account = ContainerCache(token: MemoryContainer.token, state: stateURL)
        try account.remember(cloud.rootURL)
    }

    /// The workspace in the container.
    func open() throws -> SharedWorkspace {
        try SharedWorkspace(
            container: MemoryContainer(files: cloud), configuration: configuration(stateURL))
    }

    /// A workspace in the current replica.
    func replica() throws -> SharedWorkspace {
        try SharedWorkspace(
            root: account.replica.files, configuration: configuration(account.replica.state))
    }

    private func configuration(_ stateURL: URL) -> WorkspaceConfiguration {
        var configuration = WorkspaceConfiguration(stateURL: stateURL)
        configuration.now = { [milliseconds] in
            Date(
                timeIntervalSince1970: milliseconds.withLock { milliseconds in
                    milliseconds += 10
                    return Double(milliseconds) / 1000
                })
        }
        return configuration
    }

    /// Whether no file is left in the replica.
    func isMerged() async throws -> Bool {
        try await replica().list(recursively: true).allSatisfy(\.isFolder)
    }

    /// Merges, and leaves the replica as if the merge had been killed before its first removal there. Workspaces in the
    /// replica must be opened again.
    func mergeEndingBeforeRemoval() async throws {
        let copy = folder.url.appendingPathComponent("copy")
        try FileManager.default.copyItem(at: account.replica.url, to: copy)
        try await open().mergeReplica()
        try FileManager.default.removeItem(at: account.replica.url)
        try FileManager.default.moveItem(at: copy, to: account.replica.url)
    }
}

/// A container over files in memory, of an account that is always signed in.
struct MemoryContainer: CloudContainer {
    static let token = Data("anna".utf8)
    let files: MemoryProvider

    func accountToken() -> Data? { Self.token }
    func containerURL() -> URL? { files.rootURL }
    func provider(at url: URL) throws -> any WorkspaceProvider { files }
    func accountChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
