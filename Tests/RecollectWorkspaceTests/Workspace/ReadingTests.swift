import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

@Suite("Reading in a workspace") struct ReadingTests {
    /// A workspace with one file that is not local, in which waiting passes as a test says.
    private func make(
        sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in try await forever() }
    ) throws -> TestWorkspace {
        let test = try TestWorkspace { $0.sleep = sleep }
        test.files.put("text", at: "a.md")
        let file = try path("a.md")
        test.files.state.withLock { _ = $0.notLocal.insert(file) }
        return test
    }

    @Test("not-local: a file that is not local: the download is asked for, and the caller told")
    func ask() async throws {
        let test = try make()
        await #expect(throws: FileNotYetAvailableError.self) {
            try await test.workspace.read(path("a.md"), download: .ask)
        }
        #expect(try test.files.state.withLock { $0.requested } == [path("a.md")])
        #expect(try await test.workspace.item(at: path("a.md")).state == .notLocal)
    }

    @Test("slow-download: a download that never ends: timed out; one that is cancelled: cancelled", .endsHanging)
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

    @Test("what arrives is read: told by the provider, or found by looking now and then")
    func arrives() async throws {
        let told = try make()
        let reading = Task { try await told.workspace.read(path("a.md")) }
        while told.files.state.withLock({ $0.requested.isEmpty }) { await Task.yield() }
        told.files.state.withLock { $0.notLocal = [] }
        told.files.waker.signal()
        #expect(try await reading.value.text == "text")

        let polls = Locked<MemoryProvider?>(nil)
        let found = try make { time in
            guard time == SharedWorkspace.downloadPoll else { return try await forever() }
            // Nobody tells of it.
            polls.withLock { $0?.state.withLock { $0.notLocal = [] } }
            await Task.yield()
            try Task.checkCancellation()
        }
        polls.withLock { $0 = found.files }
        #expect(try await found.workspace.read(path("a.md")).text == "text")
    }

    @Test("lists are in the order of the bytes; a folder that is not there is not found")
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

    @Test("search: all words, whatever their case and accents, in paths and lines")
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
        #expect((result.filesNotLocal, result.filesNotSearched, result.isCut) == (1, 1, false))
        #expect(try await test.workspace.search(WorkspaceQuery("moby whale")).files.count == 1)
        #expect(try await test.workspace.search(WorkspaceQuery("whale", in: path("Journal"))).files.isEmpty)
        #expect(try await test.workspace.search(WorkspaceQuery("away")).files.map(\.path) == [away])
        #expect(await code { _ = try await test.workspace.search(WorkspaceQuery(" \n")) } == .invalidArgument)
    }

    @Test("search: words of several scripts, each in a line of its own")
    func searchScripts() async throws {
        let test = try TestWorkspace()
        test.files.put("the whale\nи кит\n", at: "a.md")
        let found = try await test.workspace.search(WorkspaceQuery("КИТ whale"))
        #expect(found.files.map { $0.lines.map(\.number) } == [[1, 2]])
    }

    @Test("search is bounded by what nobody would write, too: huge queries, characters without end")
    func searchOfUgly() async throws {
        let test = try TestWorkspace()
        test.files.put("needle e" + String(repeating: "\u{301}", count: 20_000), at: "a.md")
        let line = try #require(try await test.workspace.search(WorkspaceQuery("needle")).files.first?.lines.first)
        #expect(line.text.hasPrefix("needle") && line.text.utf8.count < 1_000)
        let query = WorkspaceQuery(String(repeating: "word ", count: 201))
        #expect(await code { _ = try await test.workspace.search(query) } == .invalidArgument)
    }

    @Test("search is bounded in files, lines, their length and bytes, and says so")
    func searchBounds() async throws {
        let test = try TestWorkspace { $0.largestFile = 10_000 }
        for number in 0..<5 { test.files.put(String(repeating: "word and more\n", count: 20), at: "\(number).md") }
        test.files.put(
            String(repeating: "é ", count: 2000) + "Word" + String(repeating: " x", count: 1500), at: "long.md")
        test.files.put(String(repeating: "word ", count: 5000), at: "toolarge.md")
        var query = WorkspaceQuery("word", limit: 3, linesPerFile: 2)
        var result = try await test.workspace.search(query)
        #expect(result.files.map { $0.lines.map(\.number) } == [[1, 2], [1, 2], [1, 2]] && result.isCut)
        query.limit = 50
        result = try await test.workspace.search(query)
        #expect(result.files.count == 6 && result.filesNotSearched == 1 && !result.isCut)
        let line = try #require(result.files.last?.lines.first?.text)
        #expect(line.count < 300 && line.contains("Word") && line.hasPrefix("…") && line.hasSuffix("…"))
        // A file that is not read at all is no reason to read on.
        query.byteLimit = 20_000
        result = try await test.workspace.search(query)
        #expect(result.files.count == 6 && result.filesNotSearched == 1 && !result.isCut)
        query.byteLimit = 300
        result = try await test.workspace.search(query)
        #expect(result.files.count == 1 && result.isCut)
    }

    // MARK: Changes

    @Test("changes: own and others', once each, in the order of the paths")
    func changes() async throws {
        let test = try TestWorkspace()
        test.files.put("before", at: "old.md")
        _ = try test.workspace.look()
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

    @Test("changes: what disappears at once is told as one, and as none when it comes back")
    func vanishing() async throws {
        let test = try TestWorkspace()
        for number in 0..<6 { test.files.put("x", at: "\(number).md") }
        _ = try test.workspace.look()
        var changes = test.workspace.changes().makeAsyncIterator()
        let all = test.files.state.withLock { $0.files }
        test.files.state.withLock { $0.files = [:] }
        test.files.waker.signal()
        #expect(await changes.next() == WorkspaceChange(path: .root, kind: .massDeletion, isOwn: false))
        test.files.state.withLock { $0.files = all }
        test.files.put("new", at: "new.md")
        #expect(await changes.next() == WorkspaceChange(path: try path("new.md"), kind: .added, isOwn: false))
    }

    @Test("changes end with the task that listens")
    func ending() async throws {
        let test = try TestWorkspace()
        let listening = Task { for await _ in test.workspace.changes() {} }
        listening.cancel()
        await listening.value
    }
}

/// Waits until it is cancelled.
@Sendable private func forever() async throws {
    let (stream, _) = AsyncStream<Void>.makeStream()
    for await _ in stream {}
    throw CancellationError()
}
