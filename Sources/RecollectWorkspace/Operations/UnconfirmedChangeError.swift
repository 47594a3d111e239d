import Foundation
import RecollectCore

/// An error thrown after a change was made, if a later step failed. The change is in place, and may not survive a
/// power loss.
///
/// The same write or append, repeated, changes nothing more. It makes the content durable, or throws again.
public struct UnconfirmedChangeError: Error, Sendable {
    /// The path of the changed file.
    public let path: WorkspacePath
    /// The file's current version; `nil` if it was removed.
    public let version: ContentHash?
    /// The failure after the change.
    public let cause: any Error

    /// Creates an error.
    public init(path: WorkspacePath, version: ContentHash?, cause: any Error) {
        self.path = path
        self.version = version
        self.cause = cause
    }
}

extension UnconfirmedChangeError: LocalizedError, CustomStringConvertible {
    /// A description of the failure and its remedy, without any file content.
    public var description: String {
        let made = version.map { "\(path) was written as version \($0.rawValue)" } ?? "\(path) was removed"
        let again =
            version == nil ? "check the file when the disk works again" : "write the same content again to make sure"
        let reason = (cause as? RecollectError)?.message ?? "\(cause)"
        return "\(made), but the change may not survive a power loss: \(again) (\(reason))"
    }

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }
}
