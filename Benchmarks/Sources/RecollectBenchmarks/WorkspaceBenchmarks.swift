import Foundation
import Recollect

/// A workspace in a plain folder: scanning many files, writing one, resolving a conflict, and the size of its archive.
func workspaceLines(files: Int, rounds: Int) async throws -> [Line] {
    try await lookLines(files: files, rounds: max(3, rounds / 8)) + [
        writeLine(rounds: rounds), mergeLine(rounds: rounds),
    ]
}

/// Scans a folder of unchanged files. The baseline of the first scan reads them all and writes each content to a file of its own, with
/// one sync at the end. The baseline of a scan without changes lists all folders and reads the state of each file.
private func lookLines(files: Int, rounds: Int) async throws -> [Line] {
    let folder = try Folder()
    let root = folder.url.appendingPathComponent("root")
    try fill(root, files: files)
    let bare = BareFolder(path: root.path)
    var (first, firstBaseline) = (Samples(), Samples())
    var (again, againBaseline) = (Samples(), Samples())
    var archive = (ours: 0, baseline: 0)
    for round in 0..<rounds {
        let state = folder.url.appendingPathComponent("state \(round)")
        let workspace = try workspace(root: root, state: state)
        first.add(try await time { try await workspace.resolveConflicts() })
        firstBaseline.add(try time { try bare.copy(to: folder.path("copy \(round)")) })
        for _ in 0..<5 { again.add(try await time { try await workspace.resolveConflicts() }) }
        for _ in 0..<5 { againBaseline.add(try time { archive.baseline = try bare.size().bytes }) }
        let status = try await workspace.status()
        precondition(status.fileCount == files && status.archivedContentCount == files)
        archive.ours = try BareFolder(path: state.path).size().bytes
    }
    let growth = Double(archive.ours) / Double(archive.baseline)
    return [
        Line(
            "a first scan of \(files) files of 2 KB; the baseline reads them and writes each to a file, with one sync at the end",
            first, firstBaseline, stretches: rounds, atMost: 3),
        Line(
            "a scan of \(files) unchanged files; the baseline lists them and reads their states", again,
            againBaseline, stretches: rounds, atMost: 5, milliseconds: 100),
        Line(
            work: "the archive of \(files) files of 2 KB after a first scan; the baseline is the size of the files",
            ours: megabytes(archive.ours), baseline: megabytes(archive.baseline), ratio: growth, target: "≤ 1.5",
            isMet: growth <= 1.5),
    ]
}

/// Writes 2 KB over a known version. The baseline writes a file beside it, syncs it, renames it over the old one, and syncs the folder.
private func writeLine(rounds: Int) async throws -> Line {
    let folder = try Folder()
    let workspace = try workspace(in: folder)
    let bare = try BareWriter(folder: folder.path("bare"))
    let path = try WorkspacePath("notes.md")
    var (ours, baseline) = (Samples(), Samples())
    var version: ContentHash?
    for round in 0..<rounds {
        for turn in 0..<10 {
            let text = text(round * 10 + turn)
            ours.add(
                try await time { version = try await workspace.write(text, to: path, replacing: version).version })
        }
        for turn in 0..<10 {
            let bytes = Array(text(round * 10 + turn).utf8)
            baseline.add(try time { try bare.write(bytes, to: "notes.md") })
        }
    }
    return Line(
        "write a file of 2 KB in a workspace, compared, archived and durable; the baseline is a durable write "
            + "to a new file, and a rename",
        ours, baseline, stretches: rounds, atMost: 4)
}

/// Finds and resolves a conflict of a `context.md` of 200 lines, changed by two devices. The baseline reads both versions, writes one
/// durably as above, and removes the other.
private func mergeLine(rounds: Int) async throws -> Line {
    let folder = try Folder()
    let workspace = try workspace(in: folder)
    let root = workspace.rootURL
    let bare = try BareWriter(folder: folder.path("bare"))
    let (main, copy) = ("context.md", "context.sync-conflict-20260101-101010-ABCDEFG.md")
    var (ours, baseline) = (Samples(), Samples())
    for round in 0..<rounds {
        let base = context(round)
        try base.write(to: root.appendingPathComponent(main), atomically: true, encoding: .utf8)
        try await workspace.resolveConflicts()
        for folder in [root, bare.url] {
            try (base + "One more.\n").write(
                to: folder.appendingPathComponent(main), atomically: true, encoding: .utf8)
            try base.replacingOccurrences(of: "line 100,", with: "line one hundred,").write(
                to: folder.appendingPathComponent(copy), atomically: true, encoding: .utf8)
        }
        var resolved: [ResolvedConflict] = []
        ours.add(try await time { resolved = try await workspace.resolveConflicts() })
        precondition(resolved.map(\.outcome) == [.merged], "\(resolved)")
        baseline.add(
            try time {
                let bytes = try bare.read(main) + bare.read(copy)
                try bare.write(Array(bytes[..<(bytes.count / 2)]), to: main)
                try bare.remove(copy)
            })
    }
    return Line(
        "find and merge a conflict of a `context.md` of 200 lines; the baseline reads both, writes one durably and removes the other",
        ours, baseline, stretches: rounds, atMost: 15, milliseconds: 50)
}

private func workspace(in folder: borrowing Folder) throws -> SharedWorkspace {
    try workspace(root: folder.url.appendingPathComponent("root"), state: folder.url.appendingPathComponent("state"))
}

private func workspace(root: URL, state: URL) throws -> SharedWorkspace {
    var configuration = WorkspaceConfiguration(stateURL: state)
    // The merged text and the number of writes are not logged.
    configuration.logger.logLevel = .critical
    return try SharedWorkspace(root: root, configuration: configuration)
}

/// Returns a text of 2 KB, different for each number.
private func text(_ number: Int) -> String {
    String(
        (0..<40).map { "On line \($0) of note \(number) stands a thought of \(number * 41 + $0).\n" }.joined().prefix(
            2_048))
}

/// Returns 200 lines under ten headings.
private func context(_ number: Int) -> String {
    (0..<200).map { $0 % 20 == 0 ? "## Part \($0 / 20)\n" : "In context \(number), line \($0), stands this.\n" }
        .joined()
}

/// Creates files in a hundred folders, last changed a day ago.
private func fill(_ root: URL, files: Int) throws {
    let manager = FileManager.default
    let yesterday = Date(timeIntervalSinceNow: -86_400)
    for number in 0..<files {
        let folder = root.appendingPathComponent("Research/book-\(number % 100)/sources")
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(String(format: "source-%08x.md", number))
        try Data(text(number).utf8).write(to: file)
        try manager.setAttributes([.modificationDate: yesterday], ofItemAtPath: file.path)
    }
}
