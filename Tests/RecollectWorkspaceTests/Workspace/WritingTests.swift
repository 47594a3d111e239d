import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Workspace writes") struct WritingTests {
    private let test: TestWorkspace
    private var workspace: SharedWorkspace { test.workspace }

    init() throws {
        test = try TestWorkspace()
    }

    @Test("stale-version: a stale or missing version is refused with the current content")
    func stale() async throws {
        let first = try await workspace.write("one", to: path("a.md"), replacing: nil)
        test.files.put("theirs", at: "a.md")
        for replacing in [first.version, nil, ContentHash(of: [])] {
            let error = await changed { try await workspace.write("mine", to: path("a.md"), replacing: replacing) }
            #expect(error?.current?.text == "theirs")
            #expect(try error?.path == path("a.md"))
        }
        #expect(try test.files.text("a.md") == "theirs")
        test.files.drop("a.md")
        let error = await changed { try await workspace.write("mine", to: path("a.md"), replacing: first.version) }
        #expect(error != nil && error?.current == nil)
        #expect(try test.files.text("a.md") == nil)
    }

    @Test("A write of the binary content already in the file archives it")
    func sameBinary() async throws {
        let bytes: [UInt8] = [0, 0xFF, 1]
        test.files.put(bytes, at: "data.bin")
        _ = try workspace.scanner.scan()
        let version = ContentHash(of: bytes)
        #expect(try await workspace.write(bytes, to: path("data.bin"), replacing: version).version == version)
        test.files.put([0, 0xFF, 2], at: "data.bin")
        _ = try workspace.scanner.scan()
        #expect(try await workspace.content(of: version) == bytes)
    }

    @Test("stale-version: an external edit between the check and the write is kept, and the write is refused")
    func race() async throws {
        let first = try await workspace.write("one", to: path("a.md"), replacing: nil)
        let files = test.files
        files.state.withLock { $0.beforeChange = { files.put("theirs", at: "a.md") } }
        let error = await changed { try await workspace.write("mine", to: path("a.md"), replacing: first.version) }
        #expect(error?.current?.text == "theirs")
        #expect(try test.files.text("a.md") == "theirs")
        #expect(try test.begun("a.md") == 0)
        _ = try workspace.scanner.scan()
        #expect(try await test.kinds("a.md") == [.written, .observed])
    }

    @Test("stale-version: writers replace only versions they know, and every text is current or archived")
    func anyKnowledge() async {
        await Seeds.run(5) { seed in
            var random = SeededGenerator(seed: seed)
            let test = try TestWorkspace()
            let workspace = test.workspace
            var known: [ContentHash?] = [nil, nil, nil]
            var (texts, current): (Set<String>, String?) = ([], nil)
            for step in 0..<200 {
                let writer = Int.random(in: 0..<known.count, using: &random)
                let text = "text \(step)"
                switch Int.random(in: 0..<10, using: &random) {
                case 0:
                    test.files.put(text, at: "a.md")
                    _ = try workspace.scanner.scan()
                    texts.insert(text)
                    current = text
                case 1:
                    test.files.drop("a.md")
                    current = nil
                case 2...3:
                    known[writer] = current.map { ContentHash(of: $0.utf8) }
                case 4 where known[writer] != nil:
                    let error = await changed {
                        try await workspace.trash(path("a.md"), replacing: known[writer] ?? ContentHash(of: []))
                    }
                    let mayBe = known[writer] == current.map { ContentHash(of: $0.utf8) }
                    #expect((error == nil) == mayBe, "step \(step)")
                    if mayBe { current = nil }
                default:
                    let mayBe = known[writer] == current.map { ContentHash(of: $0.utf8) }
                    let error = await changed {
                        known[writer] = try await workspace.write(
                            text, to: path("a.md"), replacing: known[writer], by: .agent("\(writer)")
                        ).version
                    }
                    #expect((error == nil) == mayBe, "step \(step)")
                    #expect(error == nil || error?.current?.text == current, "step \(step)")
                    if mayBe {
                        texts.insert(text)
                        current = text
                    }
                }
                #expect(try test.files.text("a.md") == current, "step \(step)")
            }
            #expect(Set(try await test.texts("a.md")).isSuperset(of: texts))
        }
    }

    @Test("Each version names its author and its parent")
    func authors() async throws {
        test.files.put("theirs", at: "a.md")
        let read = try await workspace.read(path("a.md"))
        try await workspace.write("mine", to: path("a.md"), replacing: read.version, by: .agent("scribe"))
        let versions = try await workspace.versions(of: path("a.md"))
        #expect(versions.map(\.author) == [.agent("scribe"), nil])
        #expect(versions.map(\.kind) == [.written, .observed])
        #expect(versions[0].parents == [read.version])
        #expect(try await test.texts("a.md") == ["theirs", "mine"])
        #expect(try test.lastSeen("a.md") == "theirs")
    }

    @Test("Writing the same bytes again changes nothing")
    func sameBytes() async throws {
        let file = try await workspace.write("same", to: path("a.md"), replacing: nil)
        #expect(try await workspace.write("same", to: path("a.md"), replacing: file.version) == file)
        #expect(try await test.kinds("a.md") == [.written])
    }

    @Test("A write that fails after it was applied is recorded with its author")
    func failsAfterwards() async throws {
        test.files.state.withLock { $0.failureAfterWrite = RecollectError(.inputOutput, "the folder's sync failed") }
        let error = await #expect(throws: UnconfirmedChangeError.self) {
            try await workspace.write("text", to: path("a.md"), replacing: nil, by: .agent("x"))
        }
        #expect(try error?.version == ContentHash(of: "text".utf8) && error?.path == path("a.md"))
        #expect(try await workspace.status().lastFailure?.code == .inputOutput)
        _ = try workspace.scanner.scan()
        let versions = try await workspace.versions(of: path("a.md"))
        #expect(versions.map(\.kind) == [.written] && versions.map(\.author) == [.agent("x")])
        #expect(try test.lastSeen("a.md") == nil)
    }

    @Test("Oversized files and writes to the root are refused")
    func bounds() async throws {
        let test = try TestWorkspace { $0.maxFileSize = 10 }
        #expect(
            await code { try await test.workspace.write("12345678901", to: path("a"), replacing: nil) } == .tooLarge)
        #expect(await code { try await test.workspace.write("x", to: .root, replacing: nil) } == .invalidArgument)
        test.files.put(String(repeating: "x", count: 50), at: "large")
        for replacing in [nil, ContentHash(of: String(repeating: "x", count: 50).utf8)] {
            #expect(
                await code { try await test.workspace.write("x", to: path("large"), replacing: replacing) } == .tooLarge
            )
        }
        #expect(await code { _ = try await test.workspace.read(path("large")) } == .tooLarge)
        #expect(await code { try await test.workspace.move(path("large"), to: path("other")) } == .tooLarge)
        #expect(await code { try await test.workspace.append("x", to: path("large")) } == .tooLarge)
        #expect(try test.files.text("large")?.count == 50)
        #expect(try await test.workspace.list().map(\.size) == [50])
        _ = try test.workspace.scanner.scan()
        #expect(try await test.kinds("large") == [])
    }

    @Test("Writing a credential is refused unless allowed; external text and restored files are not checked")
    func credentials() async throws {
        let text = "key: ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
        #expect(await code { try await workspace.write(text, to: path("a.md"), replacing: nil) } == .credential)
        #expect(await code { try await workspace.append(text, to: path("a.md")) } == .credential)
        #expect(try test.files.text("a.md") == nil)
        let open = try TestWorkspace { $0.credentials = .allow }
        try await open.workspace.write(text, to: path("a.md"), replacing: nil)
        test.files.put(text, at: "theirs.md")
        try await workspace.append("harmless", to: path("theirs.md"))
        #expect(try test.files.text("theirs.md") == text + "\nharmless")
        #expect(await code { try await workspace.append("again, \(text)", to: path("theirs.md")) } == .credential)
        test.files.put(text, at: "theirs.md")
        try await workspace.trash(path("theirs.md"), replacing: ContentHash(of: text.utf8))
        try await workspace.restore(path("theirs.md"))
        #expect(try test.files.text("theirs.md") == text)
    }

    @Test("Large files and frequent writes are reported")
    func warnings() async throws {
        let test = try TestWorkspace {
            $0.largeFileSize = 5
            $0.frequentWriteCount = 3
            $0.now = { Date(millisecondsSince1970: 1_000_000) }
        }
        try await test.workspace.write("larger", to: path("large.md"), replacing: nil)
        for number in 0..<6 { try await test.workspace.append("\(number)", to: path("often.md")) }
        let events = test.workspace.events.takeUndelivered()
        #expect(events.filter { $0.kind == .frequentWrites }.map(\.path) == ["often.md"])
        #expect(events.filter { $0.kind == .largeFile }.map(\.path).first == "large.md")
        #expect(try await test.workspace.status().writesInLastMinute[path("often.md")] == 6)
    }

    // MARK: Appending

    @Test("Appending creates the file, ends a partial line, and keeps external edits made meanwhile")
    func appending() async throws {
        try await workspace.append("one\n", to: path("a.md"))
        test.files.put("one\nhalf", at: "a.md")
        let files = test.files
        files.state.withLock { $0.beforeChange = { files.put("one\nhalf\ntheirs", at: "a.md") } }
        try await workspace.append("two\n", to: path("a.md"))
        #expect(try test.files.text("a.md") == "one\nhalf\ntheirs\ntwo\n")
    }

    @Test("Many tasks of two instances append: each line is there once")
    func appendingTogether() async throws {
        let other = try test.another()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                group.addTask {
                    try await (number.isMultiple(of: 2) ? workspace : other).append("\(number)\n", to: path("a.md"))
                }
            }
            try await group.waitForAll()
        }
        let lines = try #require(try test.files.text("a.md")).split(separator: "\n").compactMap { Int($0) }
        #expect(lines.sorted() == Array(0..<60))
        _ = try other.scanner.scan()
        #expect(try await test.kinds("a.md").allSatisfy { $0 == .written })
        #expect(try test.lastSeen("a.md") == nil)
    }

    @Test("An append that is always preceded by an external edit throws busy and loses nothing")
    func alwaysSecond() async throws {
        let files = test.files
        @Sendable func again() {
            files.put(UUID().uuidString, at: "a.md")
            files.state.withLock { $0.beforeChange = again }
        }
        files.put("x", at: "a.md")
        again()
        #expect(await code { try await workspace.append("mine", to: path("a.md")) } == .busy)
        #expect(try test.files.text("a.md")?.contains("mine") == false)
        #expect(try test.begun("a.md") == 0)
    }

    // MARK: Moving, trash

    @Test("A moved file is only at its new path, and both paths record the move")
    func moving() async throws {
        try await workspace.write("text", to: path("a.md"), replacing: nil)
        try await workspace.move(path("a.md"), to: path("in/b.md"), by: .agent("x"))
        #expect(try test.files.text("a.md") == nil)
        #expect(try test.files.text("in/b.md") == "text")
        #expect(try await test.kinds("a.md") == [.written, .movedAway])
        let version = try #require(try await workspace.versions(of: path("in/b.md")).first)
        #expect(try version.kind == .moved && version.otherPath == path("a.md") && version.author == .agent("x"))
        #expect(try await workspace.item(at: path("a.md")).state == .removed)
        #expect(await code { try await workspace.move(path("a.md"), to: path("c.md")) } == .notFound)
        #expect(await code { try await workspace.move(path("in"), to: path("out")) } != nil)
    }

    @Test("Moving to an existing file, or a file that changes meanwhile, is refused without loss")
    func movingRefused() async throws {
        try await workspace.write("text", to: path("a.md"), replacing: nil)
        test.files.put("taken", at: "b.md")
        let taken = await changed { try await workspace.move(path("a.md"), to: path("b.md")) }
        #expect(taken?.current?.text == "taken")
        #expect(try test.files.text("a.md") == "text")
        let files = test.files
        // The first change creates the new file, and the second one removes the old file.
        files.state.withLock {
            $0.beforeChange = { files.state.withLock { $0.beforeChange = { files.put("newer", at: "a.md") } } }
        }
        let newer = await changed { try await workspace.move(path("a.md"), to: path("c.md")) }
        #expect(newer?.current?.text == "newer")
        #expect(try test.files.text("a.md") == "newer")
        #expect(try test.files.text("c.md") == nil)
        #expect(try test.begun("a.md") == 0)
    }

    @Test("Only the expected version is trashed; trashed and externally removed files can be restored")
    func trash() async throws {
        let file = try await workspace.write("text", to: path("a.md"), replacing: nil)
        test.files.put("theirs", at: "a.md")
        #expect(
            await changed { try await workspace.trash(path("a.md"), replacing: file.version) }?.current?.text
                == "theirs")
        let theirs = try await workspace.read(path("a.md"))
        try await workspace.trash(path("a.md"), replacing: theirs.version, by: .agent("x"))
        #expect(try await workspace.item(at: path("a.md")).state == .removed)
        #expect(await code { _ = try await workspace.read(path("a.md")) } == .notFound)
        #expect(try await workspace.restore(path("a.md")).text == "theirs")
        #expect(try await test.kinds("a.md") == [.written, .observed, .trashed, .restored])
        #expect(await changed { try await workspace.restore(path("a.md")) }?.current?.text == "theirs")
        test.files.drop("a.md")
        _ = try workspace.scanner.scan()
        #expect(try await test.kinds("a.md").last == .removed)
        try await workspace.restore(path("a.md"))
        #expect(try test.files.text("a.md") == "theirs")
        #expect(await code { try await workspace.restore(path("never.md")) } == .notFound)
        #expect(await code { _ = try await workspace.item(at: path("never.md")) } == .notFound)
    }
}
