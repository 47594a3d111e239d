import Foundation
import RecollectCore

@testable import RecollectWorkspace

/// Files in memory, with faults on request.
final class MemoryProvider: WorkspaceProvider {
    struct State {
        var files: [WorkspacePath: (bytes: [UInt8], stamp: Int)] = [:]
        var notLocal: Set<WorkspacePath> = []
        /// Files that cannot be read, and folders that cannot be listed.
        var unreadable: Set<WorkspacePath> = []
        var conflictVersions: [WorkspacePath: [ConflictVersion]] = [:]
        var requested: [WorkspacePath] = []
        var isUnavailable = false
        var stamps = 0
        var reads = 0
        /// Runs once, directly before the next write or removal checks the current content.
        var beforeChange: (@Sendable () -> Void)?
        /// Runs once, directly before the next read of a file.
        var beforeRead: [WorkspacePath: @Sendable () -> Void] = [:]
        /// Thrown by the next write after its completion.
        var failureAfterWrite: (any Error)?
        /// Thrown by each write and removal of these paths, without a change.
        var refused: [WorkspacePath: any Error] = [:]
    }

    let rootURL = URL(fileURLWithPath: "/memory")
    let state = Locked(State())
    let waker = Broadcast<Void>()

    func items(in folder: WorkspacePath) throws -> [WorkspaceItem] {
        try state.withLock { state in
            try check(state)
            if state.unreadable.contains(folder) {
                throw RecollectError(.permissionDenied, "\(folder) may not be read")
            }
            let depth = folder.names.count
            let inside = state.files.keys.filter { $0.names.count > depth && $0.names.starts(with: folder.names) }
            guard folder == .root || !inside.isEmpty else { throw RecollectError(.notFound, "no folder \(folder)") }
            let folders = Set(inside.filter { $0.names.count > depth + 1 }.map { $0.names[depth] })
            return try folders.map { WorkspaceItem(path: try folder.appending($0), isFolder: true) }
                + inside.filter { $0.names.count == depth + 1 }.compactMap { item($0, state) }
        }
    }

    func item(at path: WorkspacePath) throws -> WorkspaceItem? {
        try state.withLock { state in
            try check(state)
            return item(path, state)
        }
    }

    func read(_ path: WorkspacePath, limit: Int) throws -> [UInt8] {
        state.withLock { $0.beforeRead.removeValue(forKey: path) }?()
        return try state.withLock { state in
            try check(state)
            guard let file = state.files[path] else { throw RecollectError(.notFound, "no \(path)") }
            if state.notLocal.contains(path) { throw RecollectError(.notLocal, "\(path) is not local") }
            if state.unreadable.contains(path) { throw RecollectError(.permissionDenied, "\(path) may not be read") }
            if file.bytes.count > limit { throw RecollectError(.tooLarge, "\(path) is too large") }
            state.reads += 1
            return file.bytes
        }
    }

    func write(_ bytes: [UInt8], to path: WorkspacePath, replacing expected: ContentHash?) throws {
        try change(path, expecting: expected) { $0.files[path] = (bytes, $0.stamps) }
        if let failure = state.withLock({ state in
            defer { state.failureAfterWrite = nil }
            return state.failureAfterWrite
        }) {
            throw failure
        }
    }

    func removeFolder(_ path: WorkspacePath) throws -> Bool { false }

    func remove(_ path: WorkspacePath, holding expected: ContentHash) throws {
        try change(path, expecting: expected) { $0.files[path] = nil }
    }

    func requestDownload(of path: WorkspacePath) throws {
        state.withLock { $0.requested.append(path) }
    }

    func conflictVersions(of path: WorkspacePath) throws -> [ConflictVersion] {
        state.withLock { $0.conflictVersions[path] ?? [] }
    }

    func resolve(_ versions: [ConflictVersion], of path: WorkspacePath) throws {
        state.withLock { $0.conflictVersions[path] = nil }
    }

    func changeSignals() -> AsyncStream<Void> { waker.stream() }

    /// Writes like another program.
    func put(_ text: String, at path: String) {
        put(Array(text.utf8), at: path)
    }

    func put(_ bytes: [UInt8], at path: String) {
        guard let path = try? WorkspacePath(path) else { return }
        state.withLock { state in
            state.stamps += 1
            state.files[path] = (bytes, state.stamps)
        }
        waker.signal()
    }

    /// Removes like another program.
    func drop(_ path: String) {
        guard let path = try? WorkspacePath(path) else { return }
        state.withLock { $0.files[path] = nil }
        waker.signal()
    }

    func text(_ path: String) throws -> String? {
        let path = try WorkspacePath(path)
        return state.withLock { $0.files[path] }.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func change(
        _ path: WorkspacePath, expecting expected: ContentHash?, _ change: (inout State) -> Void
    ) throws {
        let before = state.withLock { state in
            defer { state.beforeChange = nil }
            return state.beforeChange
        }
        before?()
        try state.withLock { state in
            try check(state)
            if state.notLocal.contains(path) { throw RecollectError(.notLocal, "\(path) is not local") }
            let current = state.files[path]?.bytes
            guard current.map({ ContentHash(of: $0) }) == expected else { throw ContentMismatchError(current: current) }
            if let refusal = state.refused[path] { throw refusal }
            state.stamps += 1
            change(&state)
        }
        waker.signal()
    }

    private func check(_ state: State) throws {
        if state.isUnavailable { throw RecollectError(.unavailable, "the root is gone") }
    }

    private func item(_ path: WorkspacePath, _ state: State) -> WorkspaceItem? {
        state.files[path].map {
            WorkspaceItem(
                path: path, size: $0.bytes.count, modified: Date(timeIntervalSince1970: 0),
                state: state.notLocal.contains(path)
                    ? .notLocal : state.conflictVersions[path] != nil ? .conflicted : .local, stamp: String($0.stamp))
        }
    }
}
