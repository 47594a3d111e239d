import Foundation
import RecollectCore

@testable import RecollectWorkspace

/// A workspace over files in memory, with its archive in a temporary folder.
final class TestWorkspace: Sendable {
    let files = MemoryProvider()
    let stateURL: URL
    let workspace: SharedWorkspace

    init(_ change: (inout WorkspaceConfiguration) -> Void = { _ in }) throws {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        stateURL = (isThere ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory)
            .appendingPathComponent("recollect-\(UUID().uuidString)")
        var configuration = WorkspaceConfiguration(stateURL: stateURL)
        change(&configuration)
        workspace = try SharedWorkspace(provider: files, configuration: configuration)
    }

    deinit {
        try? FileManager.default.removeItem(at: stateURL)
    }

    /// Another instance over the same files and the same archive, as in an app extension.
    func another() throws -> SharedWorkspace {
        try SharedWorkspace(provider: files, configuration: WorkspaceConfiguration(stateURL: stateURL))
    }

    func kinds(_ path: String) async throws -> [WorkspaceVersion.Kind] {
        try await workspace.versions(of: WorkspacePath(path)).reversed().map(\.kind)
    }

    /// The texts of a path's versions, oldest first.
    func texts(_ path: String) async throws -> [String] {
        var texts: [String] = []
        for version in try await workspace.versions(of: WorkspacePath(path)).reversed() {
            texts.append(String(decoding: try await workspace.content(of: version.hash), as: UTF8.self))
        }
        return texts
    }

    /// The last observed text of a path that had no conflict.
    func lastSeen(_ path: String) throws -> String? {
        let versions = try workspace.archive.index().files[WorkspacePath(path)]?.versions ?? []
        return try versions.last { $0.kind == .observed }.flatMap { try workspace.archive.wholeBytes(of: $0.hash) }.map
        {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The number of versions of a path recorded as begun and not yet as done.
    func begun(_ path: String) throws -> Int {
        try workspace.archive.index().files[WorkspacePath(path)]?.begun.count ?? 0
    }
}

/// The code of the `RecollectError` thrown by an operation; `nil` if it throws none.
func code(_ work: () async throws -> Void) async -> RecollectError.Code? {
    do {
        try await work()
        return nil
    } catch {
        return (error as? RecollectError)?.code
    }
}

/// The `FileChangedError` thrown by an operation; `nil` if it throws none.
func changed(_ work: () async throws -> Void) async -> FileChangedError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? FileChangedError
    }
}

func path(_ text: String) throws -> WorkspacePath { try WorkspacePath(text) }
