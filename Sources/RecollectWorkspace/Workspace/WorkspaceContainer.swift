import Foundation

/// The place that a cloud gives an app on this device, for the account that is signed in.
///
/// A workspace asks it which account there is and where that account's folder lies. iCloud's is in `RecollectApple`, a simulated
/// one in `RecollectTesting`; a plain folder needs none.
public protocol WorkspaceContainer: Sendable {
    /// Names the account that is signed in, the same bytes for the same account; `nil` when nobody is. Returns at once.
    func accountToken() -> Data?

    /// The folder of the account that is signed in. May block for long: never called on the main thread. `nil` can be passing, so nobody
    /// moves elsewhere because of it.
    func containerURL() -> URL?

    /// Opens the folder that lies at a URL which `containerURL()` gave, now or in an earlier run.
    /// - Throws: `unavailable` where that folder is not there, or belongs to an account that is not signed in.
    func provider(at url: URL) throws -> any WorkspaceProvider

    /// Wakes when another account may be signed in, or none; ends when the task that iterates it is cancelled.
    func accountChanges() -> AsyncStream<Void>
}
