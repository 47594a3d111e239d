import Foundation
import Logging
import RecollectCore

/// The configuration of a workspace.
public struct WorkspaceConfiguration: Sendable {
    /// The folder for data of this device only, such as the archive; `nil` for a folder of this workspace in
    /// Application Support.
    ///
    /// Use it for one workspace only. With two, each scan would report the files of the other workspace as removed.
    public var stateURL: URL?
    /// The size of the largest file read into memory, in bytes.
    ///
    /// Larger files are listed, but not read or archived. Since their contents are unknown, they are never written,
    /// moved or trashed.
    public var maxFileSize: Int
    /// The size of a written file, in bytes, above which a `largeFile` event is posted.
    public var largeFileSize: Int
    /// The number of writes of one file in a minute above which a `frequentWrites` event is posted.
    public var frequentWriteCount: Int
    /// The behavior for a write resembling a credential.
    public var credentials: CredentialPolicy
    /// The logger for events.
    public var logger: Logger
    /// Returns the current date. Tests replace it.
    package var now: @Sendable () -> Date = { Date() }
    /// Waits for a duration. Tests replace it.
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Creates a configuration.
    public init(
        stateURL: URL? = nil, maxFileSize: Int = 20_000_000, largeFileSize: Int = 5_000_000,
        frequentWriteCount: Int = 20,
        credentials: CredentialPolicy = .refuse, logger: Logger = Logger(label: "recollect.workspace")
    ) {
        self.stateURL = stateURL
        self.maxFileSize = maxFileSize
        self.largeFileSize = largeFileSize
        self.frequentWriteCount = frequentWriteCount
        self.credentials = credentials
        self.logger = logger
    }
}

/// The behavior for a write resembling a credential.
public enum CredentialPolicy: Sendable {
    /// The write throws `credential`. The message has the reason and names a safer place.
    case refuse
    /// The text is written.
    case allow
}
