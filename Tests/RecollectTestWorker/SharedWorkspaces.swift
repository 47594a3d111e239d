import Foundation
import RecollectCore
import RecollectWorkspace

/// `workspace merge CONTAINER STATE`: merges the offline replica into a container that is a plain folder, and prints
/// the number of files left.
///
/// `workspace merged CONTAINER`: uses that container for the default workspace, opens the workspace, waits until
/// `context.md` is there, and prints the workspace's path and the file's text.
///
/// `workspace default [CONTAINER]`: uses that container, if any, for the default workspace, writes `context.md` there,
/// and prints the workspace's path and the file's text, or the code of the error thrown.
///
/// `workspace append ROOT STATE PATH WRITER COUNT`: appends the lines `WRITER N` to a file, and prints `wrote N` after
/// each.
///
/// `workspace remember ROOT STATE AGENT COUNT`: creates the files `/memories/N.md` with the agent's ID by the memory tool,
/// and prints each result.
///
/// `workspace redact ROOT STATE PATH VERSION`: redacts a version, and prints `redacted`.
///
/// `workspace look ROOT STATE`: scans a workspace once, and prints `looked`.
///
/// `workspace life ROOT STATE COUNT`: repeatedly writes `a.md` with the texts `life N`, moves it to `b.md` and back,
/// trashes it, and restores it, and prints `wrote N` after each write.
func workspace(_ arguments: [String]) async throws {
    let container = arguments.count > 1 ? FolderContainer(folder: URL(fileURLWithPath: arguments[1])) : nil
    switch arguments[0] {
    case "default": return await defaultWorkspace(in: container)
    case "merged": return try await mergedWorkspace(in: container)
    case "merge":
        guard let container else { return }
        let workspace = try SharedWorkspace(
            container: container,
            configuration: WorkspaceConfiguration(stateURL: URL(fileURLWithPath: arguments[2])))
        return say("left \(try await workspace.mergeReplica().failures.count)")
    default: break
    }
    let workspace = try SharedWorkspace(
        root: URL(fileURLWithPath: arguments[1]),
        configuration: WorkspaceConfiguration(stateURL: URL(fileURLWithPath: arguments[2])))
    switch arguments[0] {
    case "append":
        for number in 0..<(Int(arguments[5]) ?? 0) {
            try await workspace.append(
                "\(arguments[4]) \(number)\n", to: WorkspacePath(arguments[3]), by: .agent(arguments[4]))
            say("wrote \(number)")
        }
    case "remember":
        let memory = MemoryTool(workspace: workspace, agentId: arguments[3])
        for number in 0..<(Int(arguments[4]) ?? 0) {
            let input: JSONValue = [
                "command": "create", "path": .string("/memories/\(number).md"), "file_text": .string(arguments[3]),
            ]
            say(try await memory.call(input).content.stringValue ?? "")
        }
    case "redact":
        try await workspace.redact(ContentHash(rawValue: arguments[4]), of: WorkspacePath(arguments[3]))
        say("redacted")
    case "look":
        _ = try await workspace.status()
        say("looked")
    default:
        let (path, other) = (try WorkspacePath("a.md"), try WorkspacePath("b.md"))
        for number in 0..<(Int(arguments[3]) ?? 0) {
            let known = try await workspace.read(path)
            let written = try await workspace.write(
                "life \(number)", to: path, replacing: known.version, by: .agent("worker"))
            say("wrote \(number)")
            try await workspace.move(path, to: other, by: .agent("worker"))
            try await workspace.move(other, to: path, by: .agent("worker"))
            try await workspace.trash(path, replacing: written.version, by: .agent("worker"))
            try await workspace.restore(path, by: .agent("worker"))
        }
    }
}

private func defaultWorkspace(in container: FolderContainer?) async {
    if let container { SharedWorkspace.setDefaultContainer(container) }
    let workspace = SharedWorkspace()
    say(workspace.rootURL.path)
    do {
        let file = workspace.rootURL.appendingPathComponent("context.md")
        try workspace.writeFile("text", to: file)
        say(try workspace.readFile(at: file))
        // The workspace looks the container up, too; this look-up is awaited.
        if try await workspace.lookUpContainer() != nil { say("found") }
    } catch {
        say((error as? RecollectError)?.code.rawValue ?? "\(error)")
    }
}

private func mergedWorkspace(in container: FolderContainer?) async throws {
    if let container { SharedWorkspace.setDefaultContainer(container) }
    let workspace = SharedWorkspace()
    say(workspace.rootURL.path)
    let changes = workspace.changes()
    let path = try WorkspacePath("context.md")
    if try await workspace.list().isEmpty {
        for await change in changes where change.path == path { break }
    }
    say(try await workspace.read(path).text)
}

/// A plain folder in place of a cloud container, with an account that is always signed in.
private struct FolderContainer: CloudContainer {
    let folder: URL

    func accountToken() -> Data? { Data("anna".utf8) }
    func containerURL() -> URL? { folder }
    func provider(at url: URL) throws -> any WorkspaceProvider { try FolderProvider(root: url) }
    func accountChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
