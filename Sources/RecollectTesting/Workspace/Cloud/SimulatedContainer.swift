import Foundation
import RecollectCore
import RecollectWorkspace

/// The container of a simulated device: the account signed in, and its folder.
///
/// Each account is a `SimulatedCloud`. After `signIn(to:)` with another one, the device of the same name in that
/// cloud has the files.
public struct SimulatedContainer: CloudContainer {
    let device: SimulatedDevice

    // MARK: - Workspace calls

    /// Returns the account's name; `nil` without an account.
    public func accountToken() -> Data? {
        current.map { Data($0.cloud.account.utf8) }
    }

    /// Returns the account's folder. Blocks while look-ups are held.
    public func containerURL() -> URL? {
        device.cloud.gate.lock()
        while read(\.isHeld) { device.cloud.gate.wait() }
        device.cloud.gate.unlock()
        device.cloud.containers.withLock { $0[device.name, default: ContainerState()].lookUps += 1 }
        return read(\.isMissing) ? nil : current?.rootURL
    }

    /// Returns the provider for the folder at a URL.
    ///
    /// - Throws: `unavailable` unless the folder belongs to the account signed in.
    public func provider(at url: URL) throws -> any WorkspaceProvider {
        guard let current, current.rootURL.standardizedFileURL == url.standardizedFileURL else {
            throw RecollectError(
                .unavailable, "\(url.path) belongs to an account that is not signed in: sign in and open it again")
        }
        return current.provider
    }

    /// Returns a stream with an element for each change of the account.
    public func accountChanges() -> AsyncStream<Void> {
        device.cloud.containers.withLock { containers in
            let state = containers[device.name] ?? ContainerState()
            containers[device.name] = state
            return state.listeners.stream()
        }
    }

    // MARK: - Test calls

    /// The number of look-ups of the folder.
    public var lookUps: Int { read(\.lookUps) }

    /// Whether look-ups find no folder despite an account, as happens temporarily with iCloud.
    public var isMissing: Bool {
        get { read(\.isMissing) }
        nonmutating set {
            device.cloud.containers.withLock { $0[device.name, default: ContainerState()].isMissing = newValue }
        }
    }

    /// Whether look-ups block until this is `false` again.
    public var isHeld: Bool {
        get { read(\.isHeld) }
        nonmutating set {
            device.cloud.gate.lock()
            device.cloud.containers.withLock { $0[device.name, default: ContainerState()].isHeld = newValue }
            device.cloud.gate.broadcast()
            device.cloud.gate.unlock()
        }
    }

    /// Signs out. The folder becomes `unavailable` and stops syncing; unsynced changes are there again after
    /// signing in.
    public func signOut() {
        switchAccount(to: .nobody)
    }

    /// Signs in to an account.
    ///
    /// - Parameter cloud: The account's cloud; by default the device's own.
    public func signIn(to cloud: SimulatedCloud? = nil) {
        switchAccount(to: cloud.map { $0 === device.cloud ? .own : .other($0) } ?? .own)
    }

    private func switchAccount(to account: ContainerState.Account) {
        current?.setSignedIn(false)
        let listeners = device.cloud.containers.withLock { containers in
            containers[device.name, default: ContainerState()].account = account
            return containers[device.name]?.listeners
        }
        current?.setSignedIn(true)
        listeners?.signal()
    }

    /// The device in the cloud of the account signed in.
    private var current: SimulatedDevice? {
        switch read(\.account) {
        case .own: device
        case .other(let cloud): cloud.device(device.name)
        case .nobody: nil
        }
    }

    private func read<Value>(_ value: (ContainerState) -> Value) -> Value {
        device.cloud.containers.withLock { value($0[device.name] ?? ContainerState()) }
    }
}

/// The state of a container.
struct ContainerState {
    /// The account signed in.
    enum Account {
        case own
        case other(SimulatedCloud)
        case nobody
    }

    var account = Account.own
    var isMissing = false
    var isHeld = false
    var lookUps = 0
    let listeners = Broadcast<Void>()
}
