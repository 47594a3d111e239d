import Foundation
import RecollectCore
import RecollectWorkspace

/// The container of a simulated device: which account is signed in there, and where its files lie.
///
/// Accounts are clouds: `signIn(to:)` another one, and the device of the same name there has that account's files.
public struct SimulatedContainer: WorkspaceContainer {
    let device: SimulatedDevice

    // MARK: - What a workspace asks

    /// The account's name; `nil` when nobody is signed in.
    public func accountToken() -> Data? {
        current.map { Data($0.cloud.account.utf8) }
    }

    /// The folder of the account; waits while look-ups are held.
    public func containerURL() -> URL? {
        device.cloud.gate.lock()
        while read(\.isHeld) { device.cloud.gate.wait() }
        device.cloud.gate.unlock()
        device.cloud.containers.withLock { $0[device.name, default: ContainerState()].lookUps += 1 }
        return read(\.isMissing) ? nil : current?.rootURL
    }

    /// The folder at a URL.
    /// - Throws: `unavailable` unless it is that of the account that is signed in.
    public func provider(at url: URL) throws -> any WorkspaceProvider {
        guard let current, current.rootURL.standardizedFileURL == url.standardizedFileURL else {
            throw RecollectError(
                .unavailable, "\(url.path) belongs to no account that is signed in. Sign in, and open it again.")
        }
        return current.provider
    }

    /// Wakes when somebody signs in or out.
    public func accountChanges() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (containers, name, id) = (device.cloud.containers, device.name, UUID())
        containers.withLock { $0[name, default: ContainerState()].listeners[id] = continuation }
        continuation.onTermination = { _ in containers.withLock { $0[name]?.listeners[id] = nil } }
        return stream
    }

    // MARK: - What a test does

    /// How often the folder was looked up.
    public var lookUps: Int { read(\.lookUps) }

    /// Whether a look-up finds no folder although somebody is signed in, as it happens for a moment.
    public var isMissing: Bool {
        get { read(\.isMissing) }
        nonmutating set {
            device.cloud.containers.withLock { $0[device.name, default: ContainerState()].isMissing = newValue }
        }
    }

    /// Whether look-ups do not return until this is `false` again.
    public var isHeld: Bool {
        get { read(\.isHeld) }
        nonmutating set {
            device.cloud.gate.lock()
            device.cloud.containers.withLock { $0[device.name, default: ContainerState()].isHeld = newValue }
            device.cloud.gate.broadcast()
            device.cloud.gate.unlock()
        }
    }

    /// Signs out: the folder is `unavailable` and syncs no more. What was not synced is there again after signing in.
    public func signOut() {
        switchAccount(to: .nobody)
    }

    /// Signs in to an account.
    /// - Parameter cloud: That account's; the device's own without one.
    public func signIn(to cloud: SimulatedCloud? = nil) {
        switchAccount(to: cloud.map { $0 === device.cloud ? .own : .other($0) } ?? .own)
    }

    private func switchAccount(to account: ContainerState.Account) {
        current?.setSignedIn(false)
        let listeners = device.cloud.containers.withLock { containers in
            containers[device.name, default: ContainerState()].account = account
            return containers[device.name]?.listeners.values.map { $0 } ?? []
        }
        current?.setSignedIn(true)
        for listener in listeners { listener.yield() }
    }

    /// The device as the account that is signed in has it.
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

/// What a container knows.
struct ContainerState {
    /// Who is signed in.
    enum Account {
        case own
        case other(SimulatedCloud)
        case nobody
    }

    var account = Account.own
    var isMissing = false
    var isHeld = false
    var lookUps = 0
    var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
}
