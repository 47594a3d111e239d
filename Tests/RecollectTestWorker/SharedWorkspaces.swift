import Foundation
import RecollectCore
import RecollectWorkspace

/// `workspace default`: writes `context.md` in the workspace that is opened without arguments, and says where that lies and what it
/// reads there, or the code of what is thrown.
///
/// `workspace append ROOT STATE PATH WRITER COUNT`: appends the lines `WRITER N` to a file, and says `wrote N` after each.
///
/// `workspace look ROOT STATE`: looks at a workspace once, and says `looked`.
///
/// `workspace life ROOT STATE COUNT`: writes `a.md` with the texts `life N`, moves it to `b.md` and back, puts it into the trash and brings
/// it back, again and again, and says `wrote N` after each write.
func workspace(_ arguments: [String]) async throws {
    guard arguments[0] != "default" else { return await defaultWorkspace() }
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

private func defaultWorkspace() async {
    let workspace = SharedWorkspace()
    say(workspace.rootURL.path)
    do {
        let file = workspace.rootURL.appendingPathComponent("context.md")
        try workspace.writeFile("text", to: file)
        say(try workspace.readFile(at: file))
    } catch {
        say((error as? RecollectError)?.code.rawValue ?? "\(error)")
    }
}
