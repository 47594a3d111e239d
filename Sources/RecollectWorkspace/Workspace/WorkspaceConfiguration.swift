import Foundation
import Logging
import RecollectCore

/// How a workspace is kept.
public struct WorkspaceConfiguration: Sendable {
    /// The folder for what never leaves this device: archive, shadow copies, the remembered container; `nil` for one of this
    /// workspace's own in Application Support. For one workspace alone: two would tell each other's files as removed.
    public var stateURL: URL?
    /// The largest file that is read into memory, in bytes. Larger ones are listed, and neither read nor archived; and because nobody
    /// can know what they hold, they are never written, moved or put into the trash.
    public var largestFile: Int
    /// Above how many bytes a write is warned of.
    public var largeFile: Int
    /// Above how many writes of one file in a minute is warned.
    public var frequentWrites: Int
    /// What becomes of a write that looks like a credential.
    public var credentials: CredentialPolicy
    /// Where events are logged.
    public var logger: Logger
    /// What time it is, for tests.
    package var now: @Sendable () -> Date = { Date() }
    /// How waiting passes, for tests.
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Makes a configuration.
    public init(
        stateURL: URL? = nil, largestFile: Int = 20_000_000, largeFile: Int = 5_000_000, frequentWrites: Int = 20,
        credentials: CredentialPolicy = .refuse, logger: Logger = Logger(label: "recollect.workspace")
    ) {
        self.stateURL = stateURL
        self.largestFile = largestFile
        self.largeFile = largeFile
        self.frequentWrites = frequentWrites
        self.credentials = credentials
        self.logger = logger
    }
}

/// What becomes of a write that looks like a credential.
public enum CredentialPolicy: Sendable {
    /// It is refused, with the reason and the name of a safer place.
    case refuse
    /// It is written.
    case allow
}
