import Foundation
import RecollectCore

/// The folder that a user and their agents share: journal, research, chats and `context.md`, on every device of the user.
///
/// Nothing in it is overwritten unseen. Whoever writes says which content they replace, and where something else is there, nothing is
/// written and they are given it; and every text that is replaced, here or by whoever else writes in the folder, is kept in an archive on
/// this device (`versions(of:)`), as it was when it was last looked at.
///
/// Any number of instances, of processes too, may work on one folder. Async methods do their work off the cooperative pool, in no order
/// among each other but for the writes of one instance, which are made one after the other. Those that change something are not
/// cancelled once they have begun. The members that name files by URLs block: they are those of the guide to shared workspaces of iOS
/// apps. Of them `iCloudDocumentsURL()` may block for long.
///
/// Errors are `RecollectError`: `unavailable` while the folder is gone, `notFound`, `notLocal`, `tooLarge` for more than
/// `WorkspaceConfiguration.largestFile`, `foreignStore` for something else than a file in the way, `invalidArgument`, those
/// of a disk; besides, `FileChangedError`, `FileNotYetAvailableError`, and `UnconfirmedChangeError` for a change that was made all the same.
public final class SharedWorkspace: Sendable {
    /// The folder, the same for the whole life of the instance.
    public let rootURL: URL
    /// What the workspace does of its own accord: folded conflicts, a log of versions that was mended (`salvaged`), warnings.
    public let events: StoreEvents

    let provider: any WorkspaceProvider
    let configuration: WorkspaceConfiguration
    let archive: VersionArchive
    let counters = WriteCounters()
    let looking = Locked(LookState())
    /// What `readFile(at:)` gave last, by path.
    let lastRead = Locked<[WorkspacePath: ContentHash]>([:])
    /// Why the last write failed, if the disk was the reason.
    let lastFailure = Locked<RecollectError?>(nil)
    let ownChanges = Wakes()
    let reads = DispatchQueue(label: "recollect.workspace.reads", attributes: .concurrent)
    let writes = DispatchQueue(label: "recollect.workspace.writes")
    /// Foldings, one after the other. What changes files runs on `writes`, so that merging long texts stops no write.
    let folds = DispatchQueue(label: "recollect.workspace.folds")

    /// Opens a workspace over a provider.
    /// - Throws: `invalidArgument` for a state folder inside the workspace, `newerSchema` for an archive of a newer version, what a disk
    ///   throws.
    public convenience init(
        provider: any WorkspaceProvider, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
    ) throws {
        let state = try StatePlace.url(configuration.stateURL, root: provider.rootURL)
        self.init(provider: provider, configuration: configuration, state: state)
        _ = try archive.index()
    }

    /// Opens a workspace in any folder, which is made if it is missing.
    /// - Throws: what opening a `FolderProvider` throws; `invalidArgument` for a state folder inside the workspace; `newerSchema`
    ///   for an archive of a newer version.
    public convenience init(root: URL, configuration: WorkspaceConfiguration = WorkspaceConfiguration()) throws {
        try self.init(provider: FolderProvider(root: root), configuration: configuration)
    }

    /// Touches no disk: whatever is wrong with the state folder is told by the first call that needs it.
    init(provider: any WorkspaceProvider, configuration: WorkspaceConfiguration, state: URL) {
        self.provider = provider
        self.configuration = configuration
        rootURL = provider.rootURL
        events = StoreEvents(logger: configuration.logger)
        archive = VersionArchive(path: state.path, events: events)
    }

    /// Does blocking work that changes nothing, off the cooperative pool.
    func reading<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await on(reads, work)
    }

    /// Does blocking work that changes something, after all that was asked for before.
    func writing<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await on(writes, work)
    }

    func on<Result: Sendable>(
        _ queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
