import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Workspace reads, searches and changes") struct ReadingTests {
    /// A workspace with one file that is not local. `sleep` replaces its waiting.
    private func make(
        sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in try await forever() }
    ) throws -> TestWorkspace {
        let test = try TestWorkspace { $0.sleep = sleep }
        test.files.put("text", at: "a.md")
        let file = try path("a.md")
        test.files.state.withLock { _ = $0.notLocal.insert(file) }
        return test
    }

    @Test("not-local: reading a file that is not local requests its download and throws")
    func ask() async throws {
        let test = try make()
        await #expect(throws: FileNotYetAvailableError.self) {
            try await test.workspace.read(path("a.md"), download: .request)
        }
        #expect(try test.files.state.withLock { $0.requested } == [path("a.md")])
        #expect(try await test.workspace.item(at: path("a.md")).state == .notLocal)
    }

    @Test(
        "slow-download: a download that never ends times out, and a canceled read throws CancellationError",
        .endsHanging)
    func timeOut() async throws {
        let test = try make { if $0 == SharedWorkspace.downloadPoll { try await forever() } }
        #expect(
            await code { _ = try await test.workspace.read(path("a.md"), download: .wait(.seconds(5))) } == .timedOut)
        let patient = try make()
        let reading = Task { try await patient.workspace.read(path("a.md")) }
        while patient.files.state.withLock({ $0.requested.isEmpty }) { await Task.yield() }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    @Test("A downloaded file is read, whether the provider signals its arrival or polling finds it")
    func arrives() async throws {
        let fixture = try make()
        let reading = Task { try await fixture.workspace.read(path("a.md")) }
        while fixture.files.state.withLock({ $0.requested.isEmpty }) { await Task.yield() }
        fixture.files.state.withLock { $0.notLocal = [] }
        fixture.files.waker.signal()
        #expect(try await reading.value.text == "text")

        let polls = Locked<MemoryProvider?>(nil)
        let found = try make { time in
            guard time == SharedWorkspace.downloadPoll else { return try await forever() }
            // No signal is sent.
            polls.withLock { $0?.state.withLock { $0.notLocal = [] } }
            await Task.yield()
            try Task.checkCancellation()
        }
        polls.withLock { $0 = found.files }
        #expect(try await found.workspace.read(path("a.md")).text == "text")
    }

    @Test("Lists are sorted by the bytes of their paths, and a missing folder is not found")
    func listing() async throws {
        let test = try TestWorkspace()
        for name in ["b.md", "a/2.md", "a/1.md", "a.md", "é.md", "Z.md"] { test.files.put("x", at: name) }
        #expect(try await test.workspace.list().map(\.path.description) == ["Z.md", "a", "a.md", "b.md", "é.md"])
        #expect(
            try await test.workspace.list(recursively: true).map(\.path.description)
                == ["Z.md", "a", "a.md", "a/1.md", "a/2.md", "b.md", "é.md"])
        #expect(await code { _ = try await test.workspace.list(path("none")) } == .notFound)
    }

    // MARK: Search

    @Test("search: paths and lines match all words, regardless of case and accents")
    func search() async throws {
        let test = try TestWorkspace()
        test.files.put("First\nThe Café of Ähren\r\nlast", at: "Journal/user/2026-11-21.md")
        test.files.put("nothing\nCAFE here\nand ahren there", at: "b.md")
        test.files.put("whale", at: "Research/moby-dick/full_text.txt")
        test.files.put([0, 1, 2], at: "image.png")
        test.files.put("cafe ahren", at: "away.md")
        let away = try path("away.md")
        test.files.state.withLock { _ = $0.notLocal.insert(away) }
        let result = try await test.workspace.search(WorkspaceQuery("CAFÉ ahren"))
        #expect(result.files.map(\.path.description) == ["Journal/user/2026-11-21.md", "b.md"])
        #expect(result.files.map { $0.lines.map(\.number) } == [[2], [2, 3]])
        #expect(result.files[0].lines[0].text == "The Café of Ähren")
        #expect((result.filesNotLocal, result.filesNotSearched, result.isTruncated) == (1, 1, false))
        #expect(try await test.workspace.search(WorkspaceQuery("moby whale")).files.count == 1)
        #expect(try await test.workspace.search(WorkspaceQuery("whale", in: path("Journal"))).files.isEmpty)
        #expect(try await test.workspace.search(WorkspaceQuery("away")).files.map(\.path) == [away])
        #expect(await code { _ = try await test.workspace.search(WorkspaceQuery(" \n")) } == .invalidArgument)
    }

    @Test("search: words of several scripts match in separate lines")
    func searchScripts() async throws {
        let test = try TestWorkspace()
        test.files.put("the whale\nи кит\n", at: "a.md")
        let found = try await test.workspace.search(WorkspaceQuery("КИТ whale"))
        #expect(found.files.map { $0.lines.map(\.number) } == [[1, 2]])
    }

    @Test("Search is bounded for huge queries and for characters of unlimited length")
    func searchOfUgly() async throws {
        let test = try TestWorkspace()
        test.files.put("needle e" + String(repeating: "\u{301}", count: 20_000), at: "a.md")
        let line = try #require(try await test.workspace.search(WorkspaceQuery("needle")).files.first?.lines.first)
        #expect(line.text.hasPrefix("needle") && line.text.utf8.count < 1_000)
        let query = WorkspaceQuery(String(repeating: "word ", count: 201))
        #expect(await code { _ = try await test.workspace.search(query) } == .invalidArgument)
    }

    @Test("Search is bounded in files, lines, line lengths and bytes, and reports a limit it reached")
    func searchBounds() async throws {
        let test = try TestWorkspace { $0.maxFileSize = 10_000 }
        for number in 0..<5 { test.files.put(String(repeating: "word and more\n", count: 20), at: "\(number).md") }
        test.files.put(
            String(repeating: "é ", count: 2000) + "Word" + String(repeating: " x", count: 1500), at: "long.md")
        test.files.put(String(repeating: "word ", count: 5000), at: "toolarge.md")
        var query = WorkspaceQuery("word", limit: 3, linesPerFile: 2)
        var result = try await test.workspace.search(query)
        #expect(result.files.map { $0.lines.map(\.number) } == [[1, 2], [1, 2], [1, 2]] && result.isTruncated)
        query.limit = 50
        result = try await test.workspace.search(query)
        #expect(result.files.count == 6 && result.filesNotSearched == 1 && !result.isTruncated)
        let line = try #require(result.files.last?.lines.first?.text)
        #expect(line.count < 300 && line.contains("Word") && line.hasPrefix("…") && line.hasSuffix("…"))
        // A file that is not read does not count toward the byte limit.
        query.byteLimit = 20_000
        result = try await test.workspace.search(query)
        #expect(result.files.count == 6 && result.filesNotSearched == 1 && !result.isTruncated)
        query.byteLimit = 300
        result = try await test.workspace.search(query)
        #expect(result.files.count == 1 && result.isTruncated)
    }

    // MARK: Changes

    @Test("changes: own and external changes are reported once each, in the order of their paths")
    func changes() async throws {
        let test = try TestWorkspace()
        test.files.put("before", at: "old.md")
        _ = try test.workspace.scanner.scan()
        test.files.put("since", at: "since.md")
        var changes = test.workspace.changes().makeAsyncIterator()
        #expect(await changes.next() == WorkspaceChange(path: try path("since.md"), kind: .added, isOwn: false))
        try await test.workspace.write("mine", to: path("mine.md"), replacing: nil)
        #expect(await changes.next() == WorkspaceChange(path: try path("mine.md"), kind: .added, isOwn: true))
        try await test.another().append("!", to: path("mine.md"))
        #expect(await changes.next() == WorkspaceChange(path: try path("mine.md"), kind: .changed, isOwn: true))
        test.files.put("theirs", at: "mine.md")
        #expect(await changes.next() == WorkspaceChange(path: try path("mine.md"), kind: .changed, isOwn: false))
        test.files.put("copy", at: "mine.sync-conflict-20261121-101010-ABCDEFG.md")
        #expect(await changes.next() == WorkspaceChange(path: try path("mine.md"), kind: .conflicted, isOwn: false))
        #expect(await changes.next()?.kind == .added)
        test.files.drop("old.md")
        #expect(await changes.next() == WorkspaceChange(path: try path("old.md"), kind: .removed, isOwn: false))
        try await test.workspace.trash(path("mine.md"), replacing: ContentHash(of: "theirs".utf8))
        #expect(await changes.next() == WorkspaceChange(path: try path("mine.md"), kind: .removed, isOwn: true))
    }

    @Test("changes: a mass deletion is reported as one change, and files that come back as none")
    func vanishing() async throws {
        let test = try TestWorkspace()
        for number in 0..<6 { test.files.put("x", at: "\(number).md") }
        _ = try test.workspace.scanner.scan()
        var changes = test.workspace.changes().makeAsyncIterator()
        let all = test.files.state.withLock { $0.files }
        test.files.state.withLock { $0.files = [:] }
        test.files.waker.signal()
        #expect(await changes.next() == WorkspaceChange(path: .root, kind: .massDeletion, isOwn: false))
        test.files.state.withLock { $0.files = all }
        test.files.put("new", at: "new.md")
        #expect(await changes.next() == WorkspaceChange(path: try path("new.md"), kind: .added, isOwn: false))
    }

    @Test("The sequence of changes ends when its task is canceled")
    func ending() async throws {
        let test = try TestWorkspace()
        let listening = Task { for await _ in test.workspace.changes() {} }
        listening.cancel()
        await listening.value
    }
}

/// Waits until it is canceled.
@Sendable private func forever() async throws {
    let (stream, _) = AsyncStream<Void>.makeStream()
    for await _ in stream {}
    throw CancellationError()
}
