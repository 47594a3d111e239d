import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Folder watching", .endsHanging)
struct FolderWatcherTests {
    private let folder: TestFolder
    private let provider: FolderProvider

    init() throws {
        folder = try TestFolder()
        provider = try FolderProvider(root: folder.root)
    }

    /// Performs a change and waits for its signal.
    private func changeSignals(_ changeSignals: AsyncStream<Void>, after work: () throws -> Void) async throws {
        try work()
        var iterator = changeSignals.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test("Own writes, external writes, renames, removals and changes in new folders are signaled")
    func changes() async throws {
        let root = folder.root
        try folder.put("x", at: "deep/er/x.md")
        let works: [@Sendable (TestFolder) throws -> Void] = [
            { [provider] _ in try provider.write("one", to: "own.md", replacing: nil) },
            { [provider] _ in try provider.write("two", to: "own.md", replacing: "one") },
            { [provider] _ in try provider.write("three", to: "new/folder/own.md", replacing: nil) },
            { try $0.put("foreign", at: "deep/er/x.md") },
            { try Data("in place".utf8).write(to: $0.root.appendingPathComponent("deep/er/x.md")) },
            { _ in
                try FileManager.default.moveItem(
                    at: root.appendingPathComponent("deep/er/x.md"), to: root.appendingPathComponent("deep/y.md"))
            },
            { _ in
                try FileManager.default.moveItem(
                    at: root.appendingPathComponent("deep/er"), to: root.appendingPathComponent("other"))
            },
            { try $0.put("in a moved folder", at: "other/z.md") },
            { try $0.put("later", at: "a/b/c/d.md") },
            { try $0.put("later again", at: "a/b/c/e.md") },
            { _ in try FileManager.default.removeItem(at: root.appendingPathComponent("a/b/c/e.md")) },
            { [provider] _ in
                try provider.remove(WorkspacePath("own.md"), holding: ContentHash(of: "two".utf8))
            },
            { _ in try FileManager.default.removeItem(at: root) },
        ]
        for work in works {
            // Each change has a listener of its own, so that no earlier signal is mistaken for it.
            try await changeSignals(provider.changeSignals()) { try work(folder) }
        }
    }

    @Test("One listener is signaled for a chain of changes, each in a folder created by the previous one")
    func chain() async throws {
        var iterator = provider.changeSignals().makeAsyncIterator()
        var path = ""
        for number in 0..<10 {
            path += "\(number)/"
            try folder.put("x", at: path + "file.md")
            var seen = false
            while !seen {
                #expect(await iterator.next() != nil)
                seen = try provider.item(at: WorkspacePath(path + "file.md")) != nil
            }
        }
    }

    @Test("All listeners are signaled, and watching ends with the last listener")
    func listeners() async throws {
        let watcher = FolderWatcher(path: folder.root.path)
        #expect(!watcher.isWatching)
        let streams = (0..<3).map { _ in watcher.changeSignals() }
        #expect(watcher.isWatching)
        try folder.put("x", at: "a.md")
        for stream in streams {
            var iterator = stream.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
        let tasks = streams.map { stream in Task { for await _ in stream {} } }
        tasks[0].cancel()
        await tasks[0].value
        #expect(watcher.isWatching)
        for task in tasks {
            task.cancel()
            await task.value
        }
        #expect(!watcher.isWatching)
        try await changeSignals(watcher.changeSignals()) { try folder.put("y", at: "a.md") }
    }

    @Test("Listeners end when the watcher is deallocated")
    func end() async throws {
        var watcher: FolderWatcher? = FolderWatcher(path: folder.root.path)
        let stream = try #require(watcher?.changeSignals())
        watcher = nil
        for await _ in stream {}
    }

    @Test("Polling detects the same changes, and reports none if nothing changed")
    func polling() throws {
        let count = Locked(0)
        try folder.put("x", at: "a/b.md")
        let watch = PollingWatch(path: folder.root.path, every: 3_600) { count.withLock { $0 += 1 } }
        defer { watch.cancel() }
        var expected = 0
        func expectChange(_ isChange: Bool = true, _ line: Int = #line, _ work: () throws -> Void) throws {
            try work()
            watch.poll()
            if isChange { expected += 1 }
            #expect(count.withLock { $0 } == expected, "line \(line)")
        }
        try expectChange(false) {}
        try expectChange { try provider.write("new", to: "c.md", replacing: nil) }
        try expectChange { try provider.write("other", to: "c.md", replacing: "new") }
        try expectChange { try folder.put("longer", at: "a/b.md") }
        try expectChange { try folder.put("x", at: "d/e/f.md") }
        try expectChange { try folder.put("longer", at: "d/e/f.md") }
        try expectChange {
            try FileManager.default.moveItem(
                at: folder.root.appendingPathComponent("d/e/f.md"), to: folder.root.appendingPathComponent("d/e/g.md"))
        }
        try expectChange { try FileManager.default.removeItem(at: folder.root.appendingPathComponent("d")) }
        try expectChange(false) { _ = try provider.text("a/b.md") }
        try expectChange { try FileManager.default.removeItem(at: folder.root) }
        try expectChange(false) {}
    }

    #if os(Linux)
        @Test("Linux uses inotify instead of polling")
        func system() throws {
            #expect(systemWatch(path: folder.root.path, onChange: {}) is InotifyWatch)
        }

        @Test("A change of a folder's permissions is signaled")
        func rights() async throws {
            try folder.put("x", at: "in/x.md")
            let shut = folder.root.appendingPathComponent("in").path
            for rights: mode_t in [0, 0o700] {
                try await changeSignals(provider.changeSignals()) { #expect(chmod(shut, rights) == 0) }
            }
        }
    #endif
}
