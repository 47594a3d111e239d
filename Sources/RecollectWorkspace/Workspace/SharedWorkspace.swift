import Foundation
import RecollectCore

/// A folder shared by a user and their agents on all devices, with journal, research, chats and `context.md`.
///
/// ```swift
/// let workspace = try SharedWorkspace(root: folder)
/// let file = try await workspace.read(path)
/// try await workspace.write(
///     file.text + "\n- bring a torch", to: path, replacing: file.version, by: .agent("planner"))
/// ```
///
/// A write names the version it replaces. If the file has another version, nothing is written, and the error
/// carries the current content. Replaced texts are archived on this device (`versions(of:)`): texts replaced by
/// Recollect, and texts replaced by other programs, as of the last scan.
///
/// Several instances and processes may use one folder. Async methods work off the cooperative pool. The writes of
/// one instance run one after the other; other calls run in no particular order. A call that changes files checks
/// for cancellation only before it begins, unless its documentation says otherwise. Members with URLs for files
/// match the guide to shared workspaces of iOS apps. They block, and `iCloudDocumentsURL()` may block for a long
/// time.
///
/// Methods throw `RecollectError`: `unavailable` if the folder is missing, `notFound`, `notLocal`, `tooLarge` for
/// more than `WorkspaceConfiguration.maxFileSize`, `foreignStore` for an entry other than a file at the path,
/// `invalidArgument`, and errors of the disk. They also throw `FileChangedError`, `FileNotYetAvailableError`, and
/// `UnconfirmedChangeError` for a change that was made but is not confirmed durable.
public final class SharedWorkspace: Sendable {
    /// The root folder, constant for the life of the instance.
    public let rootURL: URL
    /// Events such as resolved conflicts, repaired version logs (`salvaged`), and warnings.
    public let events: StoreEvents

    let provider: any WorkspaceProvider
    let configuration: WorkspaceConfiguration
    let archive: VersionArchive
    let scanner: WorkspaceScanner
    let writer: WorkspaceWriter
    let resolver: ConflictResolver
    /// The versions last returned by `readFile(at:)` or written by `writeFile(_:to:)`, by path.
    let lastRead = Locked<[WorkspacePath: ContentHash]>([:])
    let reads = DispatchQueue(label: "recollect.workspace.reads", attributes: .concurrent)
    /// Runs conflict resolution, one call at a time. File changes run on the writer's queue, so a merge of long texts
    /// blocks no write.
    let resolutions = DispatchQueue(label: "recollect.workspace.resolutions")

    /// Creates a workspace over a provider.
    /// - Throws: `invalidArgument` for a state folder inside the workspace; `newerSchema` for an archive of a newer
    ///   version; errors of the disk.
    public convenience init(
        provider: any WorkspaceProvider, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
    ) throws {
        let state = try StateFolder.url(configuration.stateURL, root: provider.rootURL)
        self.init(provider: provider, configuration: configuration, state: state)
        _ = try archive.index()
    }

    /// Creates a workspace in a folder, and the folder if it is missing.
    /// - Throws: As `FolderProvider.init(root:)`; `invalidArgument` for a state folder inside the workspace;
    ///   `newerSchema` for an archive of a newer version.
    public convenience init(root: URL, configuration: WorkspaceConfiguration = WorkspaceConfiguration()) throws {
        try self.init(provider: FolderProvider(root: root), configuration: configuration)
    }

    /// Creates a workspace without access to the disk. Errors of the state folder are thrown by the first call that
    /// uses it.
    init(provider: any WorkspaceProvider, configuration: WorkspaceConfiguration, state: URL) {
        self.provider = provider
        self.configuration = configuration
        rootURL = provider.rootURL
        events = StoreEvents(logger: configuration.logger)
        archive = VersionArchive(path: state.path, events: events)
        let lineage = LineagePublisher(provider: provider, archive: archive, configuration: configuration)
        scanner = WorkspaceScanner(
            provider: provider, archive: archive, configuration: configuration, lineage: lineage, events: events)
        writer = WorkspaceWriter(scanner, events: events)
        resolver = ConflictResolver(writer, events: events)
    }

    /// Runs blocking read-only work off the cooperative pool.
    func reading<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await on(reads, work)
    }

    /// Runs blocking work with changes, after all earlier calls of this method.
    func writing<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await on(writer.queue) {
            let result = try work()
            self.scanner.publishLineageOfWrite()
            return result
        }
    }

    func on<Result: Sendable>(
        _ queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await queue.run(work)
    }
}
