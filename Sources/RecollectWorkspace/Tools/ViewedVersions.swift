import RecollectCore

/// The versions of files known to the models of sessions: their line numbers are those of these versions.
final class ViewedVersions: Sendable {
    private struct Key: Hashable {
        let session: SessionKey?
        let path: WorkspacePath
    }

    private struct State {
        var versions: [Key: (version: ContentHash, age: Int)] = [:]
        var age = 0
    }

    private let state = Locked(State())

    /// Returns the version known to a session; `nil` for a file never viewed.
    func version(of path: WorkspacePath, in session: SessionKey?) -> ContentHash? {
        state.withLock { $0.versions[Key(session: session, path: path)]?.version }
    }

    /// Records that a session knows a version of a file; `nil` for a removed file.
    func note(_ version: ContentHash?, of path: WorkspacePath, in session: SessionKey?) {
        state.withLock { state in
            let key = Key(session: session, path: path)
            guard let version else { return state.versions[key] = nil }
            state.age += 1
            state.versions[key] = (version, state.age)
            guard state.versions.count > Self.maxCount else { return }
            // The oldest half is forgotten: their files have to be viewed again before an insertion.
            let limit = state.age - Self.maxCount / 2
            state.versions = state.versions.filter { $0.value.age > limit }
        }
    }

    /// Records the change of a file by a session. A version is known only if the one it replaced was.
    func note(_ version: ContentHash, replacing old: ContentHash, of path: WorkspacePath, in session: SessionKey?) {
        if self.version(of: path, in: session) == old { note(version, of: path, in: session) }
    }

    /// Records that a session moved a file or folder.
    func move(_ path: WorkspacePath, to newPath: WorkspacePath, in session: SessionKey?) {
        state.withLock { state in
            for (key, value) in state.versions where key.session == session && key.path.names.starts(with: path.names) {
                state.versions[key] = nil
                let names = newPath.names + key.path.names.dropFirst(path.names.count)
                state.versions[Key(session: session, path: WorkspacePath(checked: names))] = value
            }
        }
    }

    private static let maxCount = 10_000
}
