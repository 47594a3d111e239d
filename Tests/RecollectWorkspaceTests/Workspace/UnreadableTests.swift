import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Unreadable folders and names that are left out") struct UnreadableTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        test = try TestWorkspace()
        for number in 0..<6 { test.files.put("whale \(number)", at: "shut/deep/\(number).md") }
        test.files.put("whale", at: "shut/a.md")
        for name in ["changed", "removed", "same"] { test.files.put("whale", at: "\(name).md") }
        _ = try workspace.scanner.scan()
    }

    private func shut(_ folder: String = "shut") throws {
        let folder = try path(folder)
        test.files.state.withLock { _ = $0.unreadable.insert(folder) }
    }

    private func unshut() {
        test.files.state.withLock { $0.unreadable = [] }
    }

    @Test("Files in an unreadable folder stay known and are not read again; the other files are scanned")
    func scan() async throws {
        let known = try workspace.scanner.knownFiles()
        let reads = test.files.state.withLock { $0.reads }
        try shut()
        test.files.put("another whale", at: "changed.md")
        test.files.drop("removed.md")
        for workspace in [workspace, try test.another()] {
            let scan = try workspace.scanner.scan()
            #expect(scan.isAvailable && !scan.isMassDeletion)
            #expect(try Set(scan.files.keys) == Set(known.keys).subtracting([path("removed.md")]))
        }
        for file in ["shut/a.md", "shut/deep/0.md"] { #expect(try await test.kinds(file) == [.observed]) }
        #expect(try await test.kinds("removed.md") == [.observed, .removed])
        #expect(try await test.texts("changed.md") == ["whale", "another whale"])
        unshut()
        #expect(try workspace.scanner.scan().files.count == known.count - 1)
        #expect(test.files.state.withLock { $0.reads } == reads + 1)
    }

    @Test("Status, lists and searches report unreadable folders and files")
    func reported() async throws {
        try shut("shut/deep")
        let file = try path("same.md")
        test.files.state.withLock { _ = $0.unreadable.insert(file) }
        test.files.put("unread", at: "same.md")
        let status = try await workspace.status()
        #expect(status.unreadable.map(\.description) == ["same.md", "shut/deep"] && status.notLocal.isEmpty)
        #expect(status.fileCount == 4 && status.isAvailable && !status.isMassDeletion)
        let items = try await workspace.list(recursively: true)
        #expect(items.filter { $0.state == .unreadable }.map(\.path.description) == ["shut/deep"])
        #expect(items.map(\.path.description).contains("shut/a.md"))
        #expect(await code { _ = try await workspace.list(path("shut/deep")) } == .permissionDenied)
        let found = try await workspace.search(WorkspaceQuery("whale"))
        #expect(found.files.map(\.path.description) == ["changed.md", "removed.md", "shut/a.md"])
        #expect(found.foldersNotSearched == 1 && found.filesNotSearched == 1)
    }

    @Test("Conflicts elsewhere are resolved, and listeners receive changes of readable files only", .endsHanging)
    func foldingAndWatching() async throws {
        _ = try workspace.scanner.scan()
        var changes = workspace.changes().makeAsyncIterator()
        try shut()
        test.files.put("# One\n", at: "context.md")
        test.files.put("# One\n\n- two\n", at: "context.sync-conflict-20261121-101010-ABCDEFG.md")
        let resolved = try await workspace.resolveConflicts()
        #expect(resolved.map(\.path.description) == ["context.md"] && resolved.map(\.outcome.isResolved) == [true])
        var reported: Set<String> = []
        while !reported.contains("context.md"), let change = await changes.next() {
            reported.insert(change.path.description)
            #expect(change.kind != .removed || change.path.description.hasPrefix("context."))
        }
        #expect(reported.allSatisfy { $0.hasPrefix("context.") })
    }

    @Test("The mass deletion guard stays while files are hidden; accepting deletions skips hidden files")
    func guarded() async throws {
        let all = test.files.state.withLock { $0.files }
        test.files.state.withLock { $0.files = [:] }
        #expect(try workspace.scanner.scan().isMassDeletion)
        test.files.state.withLock { $0.files = all }
        try shut()
        #expect(try workspace.scanner.scan().isMassDeletion)
        test.files.drop("removed.md")
        #expect(try workspace.scanner.scan().missing.map(\.description) == ["removed.md"])
        try await workspace.acceptDeletions()
        unshut()
        #expect(try !workspace.scanner.scan().isMassDeletion)
        #expect(try await test.kinds("removed.md") == [.observed, .removed])
        #expect(try await test.kinds("shut/deep/0.md") == [.observed])
    }

    @Test("Hidden files do not disable the mass deletion guard for visible files")
    func few() async throws {
        for number in 0..<4 { test.files.put("text", at: "\(number).md") }
        _ = try workspace.scanner.scan()
        try shut()
        for number in 0..<4 { test.files.drop("\(number).md") }
        #expect(try workspace.scanner.scan().isMassDeletion)
    }

    @Test("A folder without permission to list or enter it is unreadable, and its files stay known")
    func rights() throws {
        try withoutPrivileges {
            let folder = try TestFolder()
            try folder.put("text", at: "shut/deep/a.md")
            try folder.put("text", at: "open.md")
            var configuration = WorkspaceConfiguration()
            configuration.stateURL = folder.url.appendingPathComponent("state")
            let workspace = try SharedWorkspace(root: folder.root, configuration: configuration)
            _ = try workspace.scanner.scan()
            for rights: mode_t in [0, 0o400, 0o100] {
                let shut = folder.root.appendingPathComponent("shut").path
                #expect(chmod(shut, rights) == 0)
                try folder.put("text of \(rights)", at: "open.md")
                let scan = try workspace.scanner.scan()
                #expect(scan.listing.items.filter { $0.state == .unreadable }.map(\.path) == [try path("shut")])
                #expect(try scan.files[path("shut/deep/a.md")]?.content == ContentHash(of: "text".utf8))
                #expect(try scan.files[path("open.md")]?.content == ContentHash(of: "text of \(rights)".utf8))
                #expect(chmod(shut, 0o700) == 0)
                #expect(try workspace.scanner.scan().listing.refusals.isEmpty)
            }
        }
    }

    @Test("Invalid names, links and names that are not UTF-8 are counted, and the first are listed")
    func leftOut() async throws {
        let folder = try TestFolder()
        for name in [
            "what?.md", "in/x:y.md", "in/good.md", "~$letter.docx", ".hidden", ".git/config", "bad?/inside.md",
        ] {
            try folder.put("text", at: name)
        }
        let root = folder.root.path
        #expect(symlink("in/good.md", root + "/link.md") == 0 && mkfifo(root + "/in/pipe", 0o600) == 0)
        #if os(Linux)
            let latin: [CChar] = Array((root + "/caf").utf8CString.dropLast()) + [CChar(bitPattern: 0xE9), 0]
            #expect(close(open(latin, O_CREAT | O_WRONLY, 0o600)) == 0)
            let notText = ["caf\u{FFFD}"]
        #else
            let notText: [String] = []
        #endif
        let configuration = WorkspaceConfiguration(stateURL: folder.url.appendingPathComponent("state"))
        let workspace = try SharedWorkspace(root: folder.root, configuration: configuration)
        var status = try await workspace.status()
        #expect(
            status.ignored == ["bad?"] + notText + ["link.md", "what?.md", "~$letter.docx", "in/pipe", "in/x:y.md"])
        #expect(status.ignoredCount == status.ignored.count && status.fileCount == 1)
        for number in 0..<30 { try folder.put("text", at: "in/\(number)?.md") }
        status = try await workspace.status()
        #expect(status.ignored.count == 20 && status.ignoredCount == 36 + notText.count)
    }
}
