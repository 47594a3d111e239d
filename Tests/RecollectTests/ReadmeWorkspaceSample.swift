import Foundation
import Recollect

func share(in folder: URL) async throws {
    // Any folder. A sync service may carry it to other devices; the archive stays on this one.
    let workspace = try SharedWorkspace(
        root: folder.appendingPathComponent("shared"),
        configuration: WorkspaceConfiguration(stateURL: folder.appendingPathComponent("state")))
    let context = workspace.rootURL.appendingPathComponent("context.md")

    // An agent notes a fact. The user writes a journal entry.
    let known = try await workspace.context.append("- ships", under: "Likes", by: .agent("planner"))
    try await workspace.journal.write("The ferry to Tromsø leaves at nine.")

    // The user changes the file in an editor. The agent's write expects the old version, so it fails.
    try Data("## Likes\n\n- trains\n".utf8).write(to: context)
    do {
        try await workspace.context.write("## Likes\n\n- slow ships\n", replacing: known.version, by: .agent("planner"))
    } catch let error as FileChangedError {
        print(error.current?.text ?? "")  // ## Likes … - trains
    }

    // Another device changed the file, too, and the sync service left a conflict copy.
    let copy = workspace.rootURL.appendingPathComponent("context.sync-conflict-20261121-200512-ABCDEFG.md")
    try Data("## Likes\n\n- trains\n- whales\n".utf8).write(to: copy)
    for conflict in try await workspace.resolveConflicts() {
        print(conflict.path, conflict.outcome.rawValue)  // context.md merged
    }
}
