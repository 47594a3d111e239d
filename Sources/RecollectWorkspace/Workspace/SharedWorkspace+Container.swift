import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Creates a workspace for the signed-in account of a cloud. Returns at once, without a request to the cloud.
    ///
    /// The root is the container's folder, if an earlier `lookUpContainer()` found it for this account; otherwise
    /// the offline replica of the account, or the one without an account. The root never changes. Once another
    /// account is signed in, every call throws `unavailable`: create a new instance then. So a temporary lookup
    /// failure does not split the files, and nothing is written across accounts. The first account to sign in takes
    /// over the files written without an account.
    /// - Parameters:
    ///   - container: The app's container in the cloud.
    ///   - configuration: The configuration. The state folder has the archive, the offline replica and the
    ///     container's location for each account. Its default is `Recollect/Container` in Application Support.
    /// - Throws: `newerSchema` for an archive of a newer version; errors of the disk.
    public convenience init(
        container: any CloudContainer, configuration: WorkspaceConfiguration = WorkspaceConfiguration()
    ) throws {
        var configuration = configuration
        let provider = try AccountProvider(in: container, &configuration)
        try self.init(provider: provider, configuration: configuration)
    }

    /// Looks up the container's folder and saves its location for the next instance. The root of this instance
    /// stays the same.
    ///
    /// May take a long time, off the cooperative pool. Cancellation does not end a lookup in progress.
    /// - Returns: The folder; `nil` for a workspace without a container or an account, or if no folder is found,
    ///   possibly only for now.
    /// - Throws: `unavailable` if the signed-in account is not the one of this instance; errors of the disk.
    @discardableResult
    public func lookUpContainer() async throws -> URL? {
        guard let provider = provider as? AccountProvider else { return nil }
        return try await reading {
            try provider.checkAccount()
            guard !provider.account.isSignedOut, let url = provider.container.containerURL() else { return nil }
            // Another account may have signed in during the lookup.
            try provider.checkAccount()
            try provider.account.remember(url)
            return url
        }
    }
}
