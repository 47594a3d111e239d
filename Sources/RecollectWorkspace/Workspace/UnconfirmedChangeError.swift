import Foundation
import RecollectCore

/// A change was made, and something failed after that: it is there now, and may not outlast a power cut.
///
/// The same write or append, made again, changes nothing more: it brings what is there onto the disk, or throws again.
public struct UnconfirmedChangeError: Error, Sendable {
    /// Which file was changed.
    public let path: WorkspacePath
    /// The content that it has now; `nil` where it was removed.
    public let version: ContentHash?
    /// What failed.
    public let cause: any Error

    /// Makes the error.
    public init(path: WorkspacePath, version: ContentHash?, cause: any Error) {
        self.path = path
        self.version = version
        self.cause = cause
    }
}

extension UnconfirmedChangeError: LocalizedError, CustomStringConvertible {
    /// What happened and what to do; never holds any of the content.
    public var description: String {
        let made = version.map { "\(path) was written, and its version is \($0.rawValue) now" } ?? "\(path) was removed"
        let again = version == nil ? "look again when the disk is well" : "write the same again to make sure"
        let reason = (cause as? RecollectError)?.message ?? "\(cause)"
        return "\(made), but it may not outlast a power cut: \(again). \(reason)"
    }

    /// The description: what an alert shows as `localizedDescription`.
    public var errorDescription: String? { description }
}
