import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Concurrent writes to a folder")
struct FolderProviderRaceTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// A provider that performs the next event immediately before each write takes effect.
    private func provider(_ events: [@Sendable (TestFolder) throws -> Void]) throws -> FolderProvider {
        let rest = Locked(events)
        return try FolderProvider(root: folder.root, now: { Date() }) { [folder] in
            let event = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            #expect(throws: Never.self) { try event?(folder) }
        }
    }

    private func mismatch(_ work: () throws -> Void) -> String? {
        let error = #expect(throws: ContentMismatchError.self) { try work() }
        return error?.current.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("stale-version: an editor that writes between the check and the write keeps its text")
    func quicker() throws {
        try folder.put("old", at: "a.md")
        let provider = try provider([{ try $0.put("foreign", at: "a.md") }])
        #expect(mismatch { try provider.write("mine", to: "a.md", replacing: "old") } == "foreign")
        #expect(try folder.names() == ["a.md"] && folder.text(at: "a.md") == "foreign")
    }

    @Test("A file changed in place between the check and the write keeps the editor's text")
    func inPlace() throws {
        try folder.put("old", at: "a.md")
        let provider = try provider([
            {
                let file = try FileHandle(forWritingTo: $0.root.appendingPathComponent("a.md"))
                try file.seekToEnd()
                try file.write(contentsOf: Data("er".utf8))
            }
        ])
        #expect(mismatch { try provider.write("mine", to: "a.md", replacing: "old") } == "older")
        #expect(try folder.names() == ["a.md"] && folder.text(at: "a.md") == "older")
    }

    @Test("A file removed after it was found reads as absent")
    func removedMeanwhile() throws {
        try folder.put("text", at: "a.md")
        let found = try #require(try FoundFile(WorkspacePath("a.md"), in: OpenFolder(path: folder.root.path)))
        try FileManager.default.removeItem(at: folder.root.appendingPathComponent("a.md"))
        #expect(try found.read() == nil)
    }

    @Test("An editor that writes again while its first text is being put back loses neither text")
    func twice() throws {
        try folder.put("old", at: "a.md")
        let provider = try provider([{ try $0.put("first", at: "a.md") }, { try $0.put("second", at: "a.md") }])
        _ = mismatch { try provider.write("mine", to: "a.md", replacing: "old") }
        let names = try folder.names()
        let texts = try Set(names.map { try folder.text(at: $0) })
        #expect(texts == ["first", "second"] && names.count == 2)
        #expect(try provider.names() == names, "both files are listed")
        #expect(names.allSatisfy { ConflictCopyName($0) == nil })
    }

    @Test("A write does not recreate a file removed meanwhile, or overwrite a file created meanwhile")
    func removedAndMade() throws {
        try folder.put("old", at: "a.md")
        let url = folder.root.appendingPathComponent("a.md")
        let provider = try provider([
            { _ in try FileManager.default.removeItem(at: url) }, { try $0.put("foreign", at: "a.md") },
            { try $0.put("changed", at: "a.md") }, { _ in try FileManager.default.removeItem(at: url) },
        ])
        #expect(mismatch { try provider.write("mine", to: "a.md", replacing: "old") } == nil)
        #expect(try folder.names().isEmpty)
        #expect(mismatch { try provider.write("mine", to: "a.md", replacing: nil) } == "foreign")
        let path = try WorkspacePath("a.md")
        #expect(mismatch { try provider.remove(path, holding: ContentHash(of: "foreign".utf8)) } == "changed")
        #expect(try folder.names() == ["a.md"] && folder.text(at: "a.md") == "changed")
        #expect(mismatch { try provider.remove(path, holding: ContentHash(of: "changed".utf8)) } == nil)
        #expect(try folder.names().isEmpty)
    }

    @Test("An unreadable file that replaces the file at the last moment is put back, not removed")
    func replacedByUnreadable() throws {
        let url = folder.root.appendingPathComponent("a.md")
        // Too large to be held in memory.
        let replaced: @Sendable (TestFolder) throws -> Void = { folder in
            try folder.put("foreign", at: "a.md")
            try FileHandle(forWritingTo: url).truncate(atOffset: 1 << 40)
        }
        let works: [(FolderProvider) throws -> Void] = [
            { try $0.write("mine", to: "a.md", replacing: "old") },
            { try $0.remove(WorkspacePath("a.md"), holding: ContentHash(of: "old".utf8)) },
        ]
        for work in works {
            try folder.put("old", at: "a.md")
            let provider = try provider([replaced])
            let error = #expect(throws: RecollectError.self) { try work(provider) }
            #expect(error?.code == .tooLarge)
            #expect(try folder.names() == ["a.md"])
            #expect(try FileHandle(forReadingFrom: url).read(upToCount: 7) == Data("foreign".utf8))
        }
        // If its name is taken meanwhile, both files are listed.
        try folder.put("old", at: "a.md")
        let provider = try provider([replaced, { try $0.put("second", at: "a.md") }])
        #expect(throws: RecollectError.self) { try provider.write("mine", to: "a.md", replacing: "old") }
        let kept = KeptCopyName.name(for: "a.md", holding: ContentHash(of: "second".utf8))
        #expect(try folder.names() == [kept, "a.md"] && provider.names() == [kept, "a.md"])
        #expect(try folder.text(at: kept) == "second")
    }

    @Test("unsafe-names: a link or folder that replaces the file at the last moment is put back untouched")
    func replacedByLink() throws {
        let outside = folder.url.appendingPathComponent("secret.md")
        try Data("secret".utf8).write(to: outside)
        let url = folder.root.appendingPathComponent("a.md")
        for old in ["old", nil] {
            try? FileManager.default.removeItem(at: url)
            if let old { try folder.put(old, at: "a.md") }
            let provider = try provider([
                { _ in
                    try? FileManager.default.removeItem(at: url)
                    symlink(outside.path, url.path)
                }
            ])
            #expect(throws: RecollectError.self) { try provider.write("mine", to: "a.md", replacing: old) }
            #expect(try folder.names() == ["a.md"])
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: url.path) == outside.path)
            #expect(try String(contentsOf: outside, encoding: .utf8) == "secret")
        }
        try FileManager.default.removeItem(at: url)
        try folder.put("old", at: "a.md")
        let provider = try provider([
            {
                try FileManager.default.removeItem(at: url)
                try $0.put("inside", at: "a.md/b.md")
            }
        ])
        #expect(throws: RecollectError.self) { try provider.write("mine", to: "a.md", replacing: "old") }
        #expect(try folder.names() == ["a.md"] && folder.text(at: "a.md/b.md") == "inside")
    }

    @Test("A write into a folder that is moved out of the workspace meanwhile throws")
    func movedOut() throws {
        for (number, old) in ["old", nil].enumerated() {
            try folder.put(old ?? "other", at: old == nil ? "d/b.md" : "d/a.md")
            let outside = folder.url.appendingPathComponent("outside-\(number)")
            let provider = try provider([
                { try FileManager.default.moveItem(at: $0.root.appendingPathComponent("d"), to: outside) }
            ])
            #expect(mismatch { try provider.write("mine", to: "d/a.md", replacing: old) } == nil)
            #expect(try folder.names().isEmpty)
            // The folder keeps the content that the write did not replace.
            if let old {
                #expect(try String(contentsOf: outside.appendingPathComponent("a.md"), encoding: .utf8) == old)
            }
            // No refused text stays in it, and no temporary file.
            let names = try FileManager.default.contentsOfDirectory(atPath: outside.path).filter { !$0.hasPrefix(".") }
            #expect(names == [old == nil ? "b.md" : "a.md"])
        }
    }

    @Test(
        "A write into a folder that is replaced by a link or a file meanwhile is taken back", arguments: [true, false])
    func replacedFolder(isLink: Bool) throws {
        for (number, old) in ["old", nil].enumerated() {
            try folder.put(old ?? "other", at: old == nil ? "d/b.md" : "d/a.md")
            let outside = folder.url.appendingPathComponent("outside-\(number)")
            let place = folder.root.appendingPathComponent("d")
            let provider = try provider([
                { _ in
                    try FileManager.default.moveItem(at: place, to: outside)
                    if isLink { symlink(outside.path, place.path) } else { try Data().write(to: place) }
                }
            ])
            #expect(throws: RecollectError.self) { try provider.write("mine", to: "d/a.md", replacing: old) }
            let names = try FileManager.default.contentsOfDirectory(atPath: outside.path).filter { $0.hasSuffix("md") }
            #expect(names == [old == nil ? "b.md" : "a.md"])
            let text = try String(contentsOf: outside.appendingPathComponent(names[0]), encoding: .utf8)
            #expect(text == old ?? "other")
            try FileManager.default.removeItem(at: place)
        }
    }

    @Test("unsafe-names: no write leaves the workspace while a folder is repeatedly swapped with a link")
    func flippingLink() async throws {
        let outside = folder.url.appendingPathComponent("outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        let provider = try FolderProvider(root: folder.root)
        try provider.write("x", to: "Journal/user/first.md", replacing: nil)
        let isDone = Locked(false)
        let root = folder.root.path
        async let flips: Int = withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var flips = 0
                while !isDone.withLock({ $0 }) {
                    rename(root + "/Journal", root + "/Real \(flips)")
                    symlink(outside.path, root + "/Journal")
                    unlink(root + "/Journal")
                    rename(root + "/Real \(flips)", root + "/Journal")
                    flips += 1
                }
                continuation.resume(returning: flips)
            }
        }
        let written = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var written = 0
                for number in 0..<1_500 {
                    let path = number.isMultiple(of: 2) ? "Journal/\(number).md" : "Journal/user/\(number).md"
                    // A refused write is as valid as a write inside the workspace.
                    if (try? provider.write("text", to: path, replacing: nil)) != nil { written += 1 }
                    _ = try? provider.items(in: WorkspacePath("Journal"))
                }
                isDone.withLock { $0 = true }
                continuation.resume(returning: written)
            }
        }
        #expect(await flips > 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
        let inside = FileManager.default.enumerator(atPath: root)?.count { "\($0)".hasSuffix(".md") }
        // A file created while its folder had another name exists, although its write was reported as refused.
        #expect(inside ?? 0 >= written + 1, "every successful write is in the workspace")
    }

    @Test("An editor unaware of Recollect always wins, whenever it writes")
    func foreignWriter() async throws {
        let provider = try FolderProvider(root: folder.root)
        var outcomes: Set<Bool> = []
        for round in 0..<400 {
            try folder.put("old", at: "a.md")
            async let foreign: Void = withCheckedContinuation { continuation in
                Thread.detachNewThread { [folder] in
                    #expect(throws: Never.self) { try folder.put("foreign \(round)", at: "a.md") }
                    continuation.resume()
                }
            }
            do {
                try provider.write("mine \(round)", to: "a.md", replacing: "old")
                outcomes.insert(true)
            } catch is ContentMismatchError {
                outcomes.insert(false)
            }
            await foreign
            #expect(try folder.text(at: "a.md") == "foreign \(round)")
            #expect(try folder.names() == ["a.md"])
        }
    }

    @Test("Processes that change the same file lose none of each other's lines", .needs(.processes))
    func processes() async throws {
        let workers = try (0..<4).map { try Worker(["lines", folder.root.path, "Journal/day.md", "w\($0)", "60"]) }
        for worker in workers {
            #expect(await worker.finish().count == 60)
            #expect(worker.endedWell)
        }
        let lines = try folder.text(at: "Journal/day.md").split(separator: "\n").map(String.init)
        #expect(lines.count == 240)
        for writer in 0..<4 {
            #expect(lines.filter { $0.hasPrefix("w\(writer) ") } == (0..<60).map { "w\(writer) \($0)" })
        }
        #expect(try folder.names(in: "Journal") == ["day.md"])
    }

    @Test(
        "A writer killed at any system call leaves the old or the new file, and no leftovers that persist",
        .needs(.strace))
    func killedAtEachCall() async throws {
        let strace = try #require(strace)
        var kills = 0
        for call in ["mkdirat", "pwrite64", "fdatasync", "fsync", "renameat2", "unlinkat"] {
            for count in 1... {
                let root = folder.root.appendingPathComponent("\(call)\(count)")
                let options = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)"]
                let fault = ["-e", "inject=\(call):signal=KILL:when=\(count)"]
                let worker = try Worker(
                    ["lines", root.path, "Journal/day.md", "w", "3"], under: [strace] + options + fault)
                let said = await worker.finish().count
                let provider = try FolderProvider(root: root, now: { Date().addingTimeInterval(3_700) })
                let path = try WorkspacePath("Journal/day.md")
                let text = try provider.item(at: path) == nil ? nil : provider.text("Journal/day.md")
                let lines = (text ?? "").split(separator: "\n").map(String.init)
                #expect(lines == (0..<lines.count).map { "w \($0)" }, "\(call) \(count)")
                #expect(said <= lines.count && lines.count <= said + 1, "\(call) \(count)")
                #expect(text?.hasSuffix("\n") ?? true)
                if lines.count > 0 { #expect(try provider.names(WorkspacePath("Journal")) == ["day.md"]) }
                try provider.write((text ?? "") + "after", to: "Journal/day.md", replacing: text)
                // A temporary file left by a writer has text that the file had or was about to get.
                let known = Set(
                    (0...3).map { count in
                        ContentHash(of: (0..<count).map { "w \($0)\n" }.joined().utf8)
                    })
                let resolved = try provider.item(at: WorkspacePath("Journal")).map { _ in
                    try provider.resolveLeftovers(in: WorkspacePath("Journal"), includingRecent: false) {
                        known.contains($0)
                    }
                }
                #expect(resolved?.kept == [], "\(call) \(count)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: root.path + "/Journal") == ["day.md"])
                if said == 3 { break }
                kills += 1
            }
        }
        #expect(kills > 12)
    }

    @Test(
        "Writes compare versions even if the file system cannot exchange names",
        .needs(.strace), arguments: ["EINVAL", "ENOSYS"])
    func withoutExchange(error: String) async throws {
        let strace = try #require(strace)
        let options = [
            "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e", "inject=renameat2:error=\(error)",
        ]
        let workers = try (0..<2).map {
            try Worker(["lines", folder.root.path, "a/b.md", "w\($0)", "10"], under: [strace] + options)
        }
        for worker in workers {
            #expect(await worker.finish().count == 10)
            #expect(worker.endedWell)
        }
        #expect(try folder.text(at: "a/b.md").split(separator: "\n").count == 20)
        #expect(try folder.names(in: "a") == ["b.md"])
    }

    @Test("A save during a removal stays even if the file system has no exclusive rename", .needs(.strace))
    func removalWithoutExclusiveRename() async throws {
        try folder.put("first", at: "a.md")
        // The worker moves a.md to b.md. Each removal of a name waits long enough for a test delayed by others to see it.
        let worker = try Worker(
            ["workspace", "life", folder.root.path, folder.url.appendingPathComponent("state").path, "1"],
            under: [
                try #require(strace), "-f", "-qq", "-o", "/dev/null", "-P", folder.root.path, "-e",
                "trace=renameat2,unlinkat", "-e", "inject=renameat2:error=EINVAL", "-e",
                "inject=unlinkat:delay_enter=5000000",
            ])
        func isRemoving() throws -> Bool {
            let names = try folder.names()
            return names.contains("b.md") && names.contains { TemporaryName.original(of: $0)?.name == "a.md" }
        }
        for _ in 0..<3_000 where try !isRemoving() { try await Task.sleep(for: .milliseconds(10)) }
        try #require(try isRemoving())
        try Data("save".utf8).write(to: folder.root.appendingPathComponent("a.md"), options: .atomic)
        // The worker cannot move b.md back.
        _ = await worker.finish()
        #expect(try folder.text(at: "a.md") == "save")
        #expect(try folder.text(at: "b.md") == "life 0")
    }
}
