import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Opens the workspace of the account that is signed in to a cloud. Returns at once: the cloud is not asked for its folder.
    ///
    /// The root is the container's folder, where an earlier `lookUpContainer()` found it for this account; else this account's local
    /// replica, or nobody's. It stays that for the life of the instance, and once another account is signed in every call throws
    /// `unavailable`: open another instance then. So no look-up that fails for a moment parts the files, and nothing is written across
    /// accounts. What was written while nobody was signed in goes to the first account that comes.
    /// - Parameters:
    ///   - container: The cloud's place for this app.
    ///   - configuration: How it is kept. In the state folder are, for each account, the archive, the replica and where the container lies;
    ///     without one it is `Recollect/Container` in Application Support.
    /// - Throws: what a disk throws; `newerSchema` for an archive of a newer version.
    public convenience init(
        container: any WorkspaceContainer, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
    ) throws {
        var configuration = configuration
        let provider = try AccountProvider(in: container, &configuration)
        try self.init(provider: provider, configuration: configuration)
    }

    /// Asks the container where its folder lies, and remembers that for the next instance. The root of this one stays.
    ///
    /// May take long, off the cooperative pool; cancelling does not end it.
    /// - Returns: The folder; `nil` where there is none now, which may be passing, and for a workspace without a container.
    /// - Throws: `unavailable` where another account is signed in than when this instance was opened; what a disk throws.
    @discardableResult
    public func lookUpContainer() async throws -> URL? {
        guard let provider = provider as? AccountProvider else { return nil }
        return try await reading {
            try provider.checkAccount()
            guard !provider.account.isNobodys, let url = provider.container.containerURL() else { return nil }
            // Somebody else may have signed in while this waited.
            try provider.checkAccount()
            try provider.account.remember(url)
            return url
        }
    }
}
