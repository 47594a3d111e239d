import Foundation
import RecollectCore

/// The folder that a user and their agents share: journal, research, chats and `context.md`, on every device of the user.
public final class SharedWorkspace: Sendable {
    /// The folder, the same for the whole life of the instance.
    public let rootURL: URL
    /// What the workspace does of its own accord: folded conflicts, warnings.
    public let events: StoreEvents

    let provider: any WorkspaceProvider
    let configuration: WorkspaceConfiguration

    /// Opens a workspace over a provider.
    public init(provider: any WorkspaceProvider, configuration: WorkspaceConfiguration = WorkspaceConfiguration())
        throws
    {
        self.provider = provider
        self.configuration = configuration
        rootURL = provider.rootURL
        events = StoreEvents()
    }
}

/// How a workspace is kept.
public struct WorkspaceConfiguration: Sendable {
    /// The folder for what never leaves this device: archive, shadow copies, the remembered container; `nil` for one of this
    /// workspace's own in Application Support.
    public var stateURL: URL?
    /// The largest file that is read into memory, in bytes.
    public var largestFile: Int
    /// Above how many bytes a write is warned of.
    public var largeFile: Int
    /// Above how many writes of one file in a minute is warned.
    public var frequentWrites: Int
    /// What becomes of a write that looks like a credential.
    public var credentials: CredentialPolicy

    /// Makes a configuration.
    public init(
        stateURL: URL? = nil, largestFile: Int = 20_000_000, largeFile: Int = 5_000_000, frequentWrites: Int = 20,
        credentials: CredentialPolicy = .refuse
    ) {
        self.stateURL = stateURL
        self.largestFile = largestFile
        self.largeFile = largeFile
        self.frequentWrites = frequentWrites
        self.credentials = credentials
    }
}

/// What becomes of a write that looks like a credential.
public enum CredentialPolicy: Sendable {
    /// It is refused, with the reason and the name of a safer place.
    case refuse
    /// It is written.
    case allow
}
