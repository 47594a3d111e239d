import Foundation
import Recollect

/// Finds and merges conflicts of large files. Each device changed one line or entry, and added one.
func mergingLines(bytes: Int, rounds: Int) async throws -> [Line] {
    var lines: [Line] = []
    for (kind, name, hasBase) in [
        (LargeText.lines, "notes.txt", true), (.lines, "notes.txt", false), (.headings, "notes.md", true),
        (.headings, "notes.md", false), (.marks, "notes.md", true), (.shortLines, "notes.txt", true),
        (.journal, "Journal/user/2026-01-15.md", true),
        (.journal, "Journal/user/2026-01-15.md", false), (.handwrittenJournal, "Journal/user/2026-01-15.md", true),
        (.handwrittenJournal, "Journal/user/2026-01-15.md", false),
    ] {
        // A merge gives each entry of a handwritten journal an ID. The result must not be larger than a file may be.
        let bytes = kind == .handwrittenJournal ? bytes * 2 / 3 : bytes
        let size = megabytes(bytes)
        var ours = Samples()
        for round in 0..<rounds {
            let folder = try Folder()
            let base = kind.text(of: bytes, in: round)
            ours.add(try await merge(base, of: kind, at: name, hasBase: hasBase, in: folder))
        }
        lines.append(
            Line(
                work:
                    "find and merge a conflict of \(size) of \(kind.rawValue), \(hasBase ? "with" : "without") a base",
                ours: Line.text(ours.median), worst: Line.text(ours.worst), target: "≤ 10 s",
                isMet: ours.worst <= 10_000_000))
    }
    return lines
}

/// The kinds of content of a large file.
private enum LargeText: String {
    case lines
    case headings = "Markdown with a heading above each second line"
    case marks = "letters with combining marks"
    case shortLines = "lines of eight bytes"
    case journal = "entries of a journal"
    case handwrittenJournal = "entries of a journal without IDs"

    /// Returns a text of at most a number of bytes.
    func text(of bytes: Int, in round: Int) -> String {
        var text = ""
        text.reserveCapacity(bytes)
        var number = 0
        while true {
            let piece = piece(number, in: round)
            guard text.utf8.count + piece.utf8.count <= bytes else { return text }
            text += piece
            number += 1
        }
    }

    func piece(_ number: Int, in round: Int) -> String {
        switch self {
        case .lines: "On line \(number) of round \(round) stands this.\n"
        case .headings: "## Part \(number)\n\nOn line \(number) of round \(round) stands a sentence of some length.\n\n"
        case .marks: String(repeating: "e\u{301}\u{323}", count: 12) + " \(number) \(round)\n"
        // Few different lines, each many times.
        case .shortLines: "row \(100 + (number + round) % 900)\n"
        case .journal:
            """
            ## \(Self.time(number)) <!-- note \(Self.id(number)) 2026-01-15T\(Self.time(number)):00.000Z by planner -->

            > Entry \(number) of round \(round), with a sentence of some length after it.


            """
        case .handwrittenJournal:
            "## \(Self.time(number))\n\nEntry \(number) of round \(round), with a sentence of some length after it.\n\n"
        }
    }

    private static func time(_ number: Int) -> String {
        String(format: "%02d:%02d", number / 60 % 24, number % 60)
    }

    private static func id(_ number: Int) -> String {
        String(format: "00000000-0000-4000-8000-%012X", number + 2)
    }

    /// Returns the text with a change in the middle, or at another position for the second device.
    func changed(_ text: String, isLater: Bool) -> String {
        let middle = text.utf8.index(text.startIndex, offsetBy: text.utf8.count / (isLater ? 3 : 2))
        guard
            let range = text.range(of: "round", range: middle..<text.endIndex)
                ?? text.range(of: "\n", range: middle..<text.endIndex)
        else { return text }
        return text.replacingCharacters(in: range, with: isLater ? " later\n" : " changed\n")
    }
}

private func merge(
    _ base: String, of kind: LargeText, at name: String, hasBase: Bool, in folder: borrowing Folder
) async throws -> UInt64 {
    func device(_ name: String) throws -> (root: URL, workspace: SharedWorkspace) {
        var configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent(name + " state"))
        configuration.logger.logLevel = .critical
        let root = folder.url.appendingPathComponent(name)
        return (root, try SharedWorkspace(root: root, configuration: configuration))
    }
    let (root, workspace) = try device("here")
    let path = try WorkspacePath(name)
    let stem = name.split(separator: ".")
    let copy = "\(stem[0]).sync-conflict-20260101-101010-ABCDEFG.\(stem[1])"
    let (mine, theirs) = (
        kind.changed(base, isLater: false) + kind.piece(-1, in: 0),
        kind.changed(base, isLater: true) + kind.piece(-2, in: 0)
    )
    if hasBase {
        // The lineage of both devices proves the base.
        let file = try await workspace.write(base, to: path, replacing: nil)
        _ = try await workspace.status()
        try FileManager.default.copyItem(at: root, to: folder.url.appendingPathComponent("there"))
        let (otherRoot, other) = try device("there")
        _ = try await other.status()
        try await other.write(theirs, to: path, replacing: file.version)
        _ = try await other.status()
        try await workspace.write(mine, to: path, replacing: file.version)
        let (logs, otherLogs) = (
            root.appendingPathComponent(".recollect"), otherRoot.appendingPathComponent(".recollect")
        )
        let known = Set(try FileManager.default.contentsOfDirectory(atPath: logs.path))
        for log in try FileManager.default.contentsOfDirectory(atPath: otherLogs.path) where !known.contains(log) {
            try FileManager.default.copyItem(
                at: otherLogs.appendingPathComponent(log), to: logs.appendingPathComponent(log))
        }
    } else {
        try await workspace.write(mine, to: path, replacing: nil)
    }
    try theirs.write(to: root.appendingPathComponent(copy), atomically: true, encoding: .utf8)
    var resolved: [ResolvedConflict] = []
    let duration = try await time { resolved = try await workspace.resolveConflicts() }
    guard resolved.map(\.outcome) == [.merged] else {
        fatalError("\(name), \(hasBase ? "with" : "without") a base: \(resolved.map(\.outcome))")
    }
    // Only with a base, the old text of a changed line is deleted. Short lines are still elsewhere in the text.
    guard kind == .shortLines || hasBase != resolved[0].assumedDeleted.isEmpty else {
        fatalError("\(name): the merge \(hasBase ? "had no" : "had a") base")
    }
    return duration
}
