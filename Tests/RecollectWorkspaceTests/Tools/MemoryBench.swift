import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// A workspace in a temporary folder and its memory tool, called as a model calls it.
final class MemoryBench: Sendable {
    let folder: TestFolder
    let workspace: SharedWorkspace
    let memory: MemoryTool

    init(maxResultBytes: Int = 120_000, _ change: (inout WorkspaceConfiguration) -> Void = { _ in }) throws {
        folder = try TestFolder()
        var configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))
        change(&configuration)
        workspace = try SharedWorkspace(root: folder.root, configuration: configuration)
        memory = MemoryTool(workspace: workspace, agentId: "scribe", maxResultBytes: maxResultBytes)
    }

    /// Another instance over the same files and the same archive, as of another process.
    func another() throws -> SharedWorkspace {
        try SharedWorkspace(
            root: folder.root,
            configuration: WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state")))
    }

    /// Returns the text of a result, which must succeed.
    @discardableResult
    func succeed(_ input: JSONValue, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await memory.call(input)
        let text = try #require(result.content.stringValue, sourceLocation: location)
        #expect(!result.isError, "\(text)", sourceLocation: location)
        return text
    }

    /// Returns the text of a result, which must be an error without the workspace's location.
    @discardableResult
    func fail(_ input: JSONValue, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        let result = try await memory.call(input)
        let text = try #require(result.content.stringValue, sourceLocation: location)
        #expect(result.isError && !text.isEmpty, "\(text)", sourceLocation: location)
        let lies = folder.url.lastPathComponent
        #expect(!text.contains(lies) || input.jsonString.contains(lies), "\(text)", sourceLocation: location)
        return text
    }

    func create(_ path: String, _ text: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await succeed(
            ["command": "create", "path": .string(path), "file_text": .string(text)], location)
    }

    func view(_ path: String, _ location: SourceLocation = #_sourceLocation) async throws -> String {
        try await succeed(["command": "view", "path": .string(path)], location)
    }
}
