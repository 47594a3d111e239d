import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Conflicts with a device that never received this device's additions.
@Suite("Conflicts after unseen changes")
struct UnseenChangesTests {
    private static let start = "# List\n\nstart\n"

    /// A change of `context.md` on this device, before another device's version arrives.
    enum Step {
        case edit(String)
        case append(String)
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        let copy: String
        let expected: Set<String>
    }

    @Test(
        "concurrent-edits: an inconclusive change does not make an earlier version the merge base",
        arguments: [
            Case(
                testDescription: "a typo taken back",
                steps: [
                    .edit(start), .edit(start + "a1\na2\na3\nteh typo\n"), .edit(start + "a1\na2\na3\n"),
                    .append("agent"),
                ], copy: start + "B1\n", expected: ["a1", "a2", "a3", "agent", "B1"]),
            Case(
                testDescription: "a blank line",
                steps: [
                    .edit(start), .append("A1\nA2\n"), .edit("# List\n\nstart\n\nA1\nA2\n"), .append("A3"),
                ], copy: start + "B1\n", expected: ["A1", "A2", "A3", "B1"]),
            Case(
                testDescription: "lines in another order",
                steps: [
                    .edit(start), .append("A1\nA2\n"), .edit("# List\n\nA2\nA1\nstart\n"), .append("A3"),
                ], copy: start + "B1\n", expected: ["A1", "A2", "A3", "B1"]),
            Case(
                testDescription: "a known change after one that is not",
                steps: [
                    .edit(start), .edit(start + "only here\n"), .edit(start + "only here\nMonday\nfine\nrain\n"),
                    .append("A"),
                ], copy: start + "Monday\nfine\nrain\nB\n", expected: ["only here", "Monday", "A", "B"]),
        ])
    func unseen(_ example: Case) async throws {
        let synced = try SyncedWorkspace()
        let path = try WorkspacePath("context.md")
        for step in example.steps {
            switch step {
            case .edit(let text):
                try synced.put(text, at: "context.md")
                _ = try await synced.workspace.status()
            case .append(let text): _ = try await synced.workspace.append(text, to: path)
            }
        }
        try synced.put(example.copy, at: "context.sync-conflict-20261122-101112-ABCDEFG.md")
        #expect(try await synced.workspace.resolveConflicts().map(\.outcome) == [.merged])
        let lines = Set(try await synced.workspace.read(path).text.lines)
        #expect(lines.isSuperset(of: example.expected))
    }

    @Test("journal: entries that never reached the other device stay, even after changes by an editor")
    func journal() async throws {
        let synced = try SyncedWorkspace()
        let journal = WorkspaceJournal(workspace: synced.workspace, timeZone: .gmt)
        let morning = Date(timeIntervalSince1970: 1_763_712_000)
        let path = "Journal/user/2025-11-21.md"
        try await journal.write("first", at: morning)
        let shared = try await synced.workspace.read(WorkspacePath(path)).text
        try synced.put(shared + "\n", at: path)
        _ = try await synced.workspace.status()
        try await journal.write("second", at: morning + 60)
        try await journal.write("third", at: morning + 120)
        let text = try await synced.workspace.read(WorkspacePath(path)).text
        try synced.put(text + "\n", at: path)
        _ = try await synced.workspace.status()
        try await journal.write("fourth", at: morning + 180)
        try synced.put(shared + "\nby hand\n", at: "Journal/user/2025-11-21.sync-conflict-20261122-101112-ABCDEFG.md")
        try await synced.workspace.resolveConflicts()
        let merged = try await synced.workspace.read(WorkspacePath(path)).text
        for word in ["first", "second", "third", "fourth", "by hand"] { #expect(merged.contains(word), "\(word)") }
    }

    @Test("In a file with more versions than are examined, lines unknown to the other device stay", .needs(.time))
    func longLog() async throws {
        let synced = try SyncedWorkspace()
        try synced.put(Self.start, at: "context.md")
        _ = try await synced.workspace.status()
        var text = Self.start + "only here\n"
        for number in 0..<260 {
            text += "\n"
            try synced.put(text + "shared \(number)\n", at: "context.md")
            _ = try await synced.workspace.status()
        }
        try synced.put(Self.start + "shared 259\nB\n", at: "context.sync-conflict-20261122-101112-ABCDEFG.md")
        try await synced.workspace.resolveConflicts()
        let merged = try await synced.workspace.read(WorkspacePath("context.md")).text
        #expect(merged.contains("only here") && merged.contains("B\n"))
    }
}
