import Foundation

/// An app's folder in a cloud on this device, for the signed-in account.
///
/// `RecollectApple` has an implementation for iCloud, and `RecollectTesting` a simulated one. A plain folder needs
/// none.
public protocol CloudContainer: Sendable {
    /// Returns a token of the signed-in account; `nil` without an account. The bytes are always the same for an
    /// account. Returns at once.
    func accountToken() -> Data?

    /// Returns the folder of the signed-in account; `nil` if there is none, possibly only for now.
    ///
    /// May block for a long time; never called on the main thread. A workspace keeps its root after `nil`.
    func containerURL() -> URL?

    /// Opens the folder at a URL returned by `containerURL()`, now or in an earlier run.
    /// - Throws: `unavailable` if the folder is missing, or belongs to an account that is not signed in.
    func provider(at url: URL) throws -> any WorkspaceProvider

    /// Returns a stream with an element for each possible change of the account. The stream ends when the iterating
    /// task is canceled.
    func accountChanges() -> AsyncStream<Void>
}
