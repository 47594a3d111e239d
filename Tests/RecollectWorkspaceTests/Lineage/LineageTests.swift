import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Lineage from several logs") struct LineageTests {
    /// A line of a device's log: an edit without an author.
    private func line(
        _ content: String, from parents: [String] = [], at date: Int64 = 1, isWritten: Bool = false,
        kind: WorkspaceVersion.Kind? = nil
    ) throws -> VersionLine {
        VersionLine(
            mark: .done, path: try path("a.md"),
            version: WorkspaceVersion(
                hash: hash(content), date: Date(millisecondsSince1970: date), author: isWritten ? .user : nil,
                kind: kind ?? (isWritten ? .written : .edited), parents: parents.map(hash)))
    }

    private func hash(_ content: String) -> ContentHash { ContentHash(of: content.utf8) }

    /// A log in which each version was observed in place of the previous one: an edit, or an arrival.
    private func found(
        _ contents: String..., arrived: Set<String> = [], at date: Int64 = 1
    ) throws -> [VersionLine] {
        try zip([nil] + contents.map(Optional.some), contents).map { before, content in
            try line(
                content, from: [before].compactMap { $0 }, at: date,
                kind: arrived.contains(content) ? .observed : .edited)
        }
    }

    private func base(
        _ contents: [String], _ logs: [[VersionLine]], copied: [String] = []
    ) -> ContentHash? {
        let lineage = Lineage(logs, copies: Set(copied.map(hash)), contradicting: Set(contents.map(hash)))
        return lineage.base(of: contents.map(hash))
    }

    private func isAncestor(
        _ ancestor: String, of descendant: String, _ logs: [[VersionLine]], copied: [String] = []
    ) -> Bool {
        let lineage = Lineage(logs, copies: Set(copied.map(hash)))
        return lineage.isAncestor(hash(ancestor), of: hash(descendant))
    }

    @Test("concurrent-edits: the merge base is the nearest common ancestor")
    func nearest() throws {
        let logs = [try found("old", "start", "here"), try found("old", "start", "there", arrived: ["start"])]
        #expect(base(["here", "there"], logs) == hash("start"))
        #expect(base(["here", "elsewhere"], logs) == nil)
        #expect(base(["here", "there"], [logs[0]]) == nil)
    }

    @Test("concurrent-edits: a content saved on two devices in place of different ones has no merge base")
    func late() throws {
        let logs = [
            try found("old", "start", "here"), try found("old", "start", "there", arrived: ["start"]),
            try found("other", "old", "here"),
        ]
        #expect(base(["here", "there"], logs) == nil)
        let joining = [
            try found("old", "start", "here"), try found("old", "start", "there", arrived: ["start"]),
            try found("here"),
        ]
        #expect(base(["here", "there"], joining) == hash("start"))
    }

    @Test("The parents recorded by the writer count, regardless of other devices' observations")
    func written() throws {
        let writer = [try line("start"), try line("here", from: ["start"], isWritten: true)]
        let logs = [writer, try found("start", "there"), try found("start", "middle", "here")]
        #expect(base(["here", "there"], logs) == hash("start"))
        #expect(isAncestor("start", of: "here", logs))
        #expect(!isAncestor("middle", of: "here", logs))
    }

    @Test("concurrent-edits: the content of a conflict copy is not an ancestor of its replacement")
    func copied() throws {
        let logs = [try found("start", "mine", "theirs", "later", at: 2), try found("start", "theirs")]
        #expect(base(["later", "mine"], logs) == hash("start"))
        #expect(base(["later", "mine"], [logs[0]]) == nil)
        #expect(!isAncestor("mine", of: "later", logs, copied: ["mine"]))
        #expect(isAncestor("start", of: "later", [logs[1], try found("theirs", "later")], copied: ["mine"]))
    }

    @Test("concurrent-edits: an arrived or conflicted content has no ancestors, unless another device edited it")
    func arrived() throws {
        func observed(_ kind: WorkspaceVersion.Kind) throws -> [VersionLine] {
            var line = try line("won", from: ["start"])
            line.version = WorkspaceVersion(
                hash: line.version.hash, date: line.version.date, author: nil, kind: kind, parents: line.version.parents
            )
            return [try self.line("start"), line]
        }
        let losing = try [line("start"), line("mine", from: ["start"])]
        for kind in [WorkspaceVersion.Kind.observed, .conflicted] {
            #expect(try base(["won", "mine"], [losing, observed(kind)]) == nil)
            #expect(try base(["won", "mine"], [losing, observed(kind), observed(.edited)]) == hash("start"))
        }
    }

    @Test("concurrent-edits: a reverted content descends from the version it reverted")
    func takenBack() throws {
        let here = try [
            line("four"), line("five", from: ["four"], isWritten: true), line("cake", from: ["five"], isWritten: true),
        ]
        let there = try found("four", "five", "four")
        #expect(base(["cake", "four"], [here, there]) == hash("five"))
        #expect(!isAncestor("four", of: "cake", [here, there], copied: ["four", "cake"]))
        #expect(isAncestor("four", of: "cake", [here], copied: ["four", "cake"]))
    }

    @Test("concurrent-edits: a restored content descends from the version it replaced, despite equal earlier bytes")
    func putBack() throws {
        let here = try found("ab", "qab", "ab n", "qab")
        #expect(base(["qab", "ab m"], [here, try found("ab", "ab n", "ab m", arrived: ["ab n"])]) == hash("ab n"))
        let there = try found("qa", "an", "qan")
        #expect(base(["qan", "top"], [try found("qa", "qan", "an", "top"), there]) == nil)
        let folding = try [
            line("q"), line("q a", from: ["q"]), line("fold", from: ["q a", "b"], isWritten: true, kind: .merged),
        ]
        let logs = [folding + [try line("top", from: ["fold"])], try found("q", "b", "fold", "q a", arrived: ["fold"])]
        #expect(base(["q a", "top"], logs) == hash("fold"))
        #expect(!isAncestor("q a", of: "top", logs, copied: ["q a", "top"]))
    }

    @Test("concurrent-edits: a log with a content only as a parent does not determine the order of two parents")
    func orderOfParents() throws {
        let logs = [
            [try line("there", isWritten: true)],
            [try line("here", isWritten: true), try line("there", from: ["here"], kind: .observed)],
            [try line("there"), try line("fold", from: ["there", "here"], isWritten: true)],
        ]
        #expect(isAncestor("there", of: "fold", logs, copied: ["there", "fold"]))
        #expect(base(["there", "fold"], logs) == hash("there"))
    }

    @Test("concurrent-edits: a content made twice is no ancestor: a third device may have had either")
    func madeTwice() throws {
        // Another device writes the earlier bytes again, without a record of the first time.
        let first = try [
            line("z"), line("milk", from: ["z"], isWritten: true), line("jam", from: ["milk"], isWritten: true),
        ]
        for kind in [WorkspaceVersion.Kind.written, .edited] {
            let second = try [line("jam", kind: .observed), line("milk", from: ["jam"], isWritten: kind == .written)]
            let eggs = try [line("eggs", from: ["jam"], isWritten: true)]
            #expect(!isAncestor("milk", of: "eggs", [first + eggs, second], copied: ["milk", "eggs"]))
            #expect(
                try base(["cake", "eggs"], [first + eggs, second, [line("cake", from: ["milk"])]]) == nil)
        }
        #expect(isAncestor("milk", of: "jam", [first]))
        // Another device writes the bytes again that were replaced without a record.
        let unrecorded = try [line("milk"), line("jam", from: ["milk"], kind: .observed), line("tea", from: ["jam"])]
        let again = try [line("jam", kind: .observed), line("milk", from: ["jam"], isWritten: true)]
        #expect(try base(["tea", "nut"], [unrecorded, again, found("milk", "nut")]) == nil)
        // A merge by several devices is one version.
        let merges = try (0..<2).map { _ in [try line("m", from: ["x", "y"], isWritten: true, kind: .merged)] }
        #expect(base(["a", "b"], merges + [try found("m", "a"), try found("m", "b")]) == hash("m"))
    }

    @Test("conflict-copies: a conflict copy restored under its file's name keeps its ancestors")
    func restored() throws {
        let copy = try line("theirs", from: ["theirs"], isWritten: true, kind: .merged)
        let logs = try [found("start", "theirs"), [line("start"), copy], found("start", "other")]
        #expect(base(["theirs", "other"], logs) == hash("start"))
    }

    @Test("Two merges of the same versions have no merge base among these versions")
    func severalNearest() throws {
        let one = try [line("x", from: ["s"]), line("fold 1", from: ["x", "y"], isWritten: true)]
        let other = try [line("y", from: ["s"]), line("fold 2", from: ["x", "y"], isWritten: true)]
        #expect(base(["fold 1", "fold 2"], [one, other]) == nil)
    }

    @Test("Cyclic logs give no wrong ancestors, and long chains are followed to their beginning")
    func hostile() throws {
        #expect(base(["x", "y"], [try found("x", "y"), try found("y", "x")]) == nil)
        let many = try (1..<20_000).map { try line("\($0)", from: ["\($0 - 1)"], isWritten: true) }
        let isFound = isAncestor("0", of: "19999", [many])
        #expect(isFound)
    }
}

@Suite("Lineage log writer") struct LineageWriterTests {
    private func lines(_ numbers: Range<Int>) throws -> [VersionLine] {
        try numbers.map { number in
            VersionLine(
                mark: .done, path: try path("a.md"),
                version: WorkspaceVersion(
                    hash: ContentHash(of: "\(number)".utf8), date: Date(millisecondsSince1970: 1), author: .user,
                    kind: .written, parents: [ContentHash(of: "\(number - 1)".utf8)]))
        }
    }

    @Test(
        "A lineage log has the newest changes in at most 16 segments, added one by one or many at once", .needs(.time),
        arguments: [1, 7, 2_500])
    func bounded(step: Int) throws {
        // More lines than 16 segments can have, and at least two additions.
        let count = max(1_400, 2 * step)
        var writer = LineageWriter()
        var files: [String: [UInt8]] = [:]
        for start in stride(from: 0, to: count, by: step) {
            let result = writer.add(try lines(start..<min(start + step, count)), file: files[writer.segmentName])
            for segment in result.written { files[segment.name] = segment.bytes }
            for name in result.removed { files[name] = nil }
            writer = try JSONDecoder().decode(LineageWriter.self, from: JSONEncoder().encode(writer))
        }
        #expect(files.count <= 16 && files.values.allSatisfy { $0.count < 17_000 })
        let segments = files.values.compactMap { LineageSegment($0) }.sorted { $0.number < $1.number }
        let published = segments.flatMap(\.lines)
        #expect(segments.count == files.count && published.count >= 900)
        #expect(
            published.suffix(900).map(\.version.hash) == (count - 900..<count).map { ContentHash(of: "\($0)".utf8) })
    }

    @Test("A writer replaces an outdated or missing segment, and never overwrites another writer's segment")
    func foreign() throws {
        var writer = LineageWriter()
        let old = writer.add(try lines(0..<2), file: nil).written[0]
        let new = writer.add(try lines(2..<3), file: old.bytes).written[0]
        #expect(writer.add(try lines(3..<4), file: old.bytes).written[0].lines.count == 4)
        #expect(writer.add(try lines(4..<5), file: nil).written[0].name == new.name)
        var theirs = new
        theirs.lines += try lines(9..<10)
        let mine = writer.add(try lines(5..<6), file: theirs.bytes).written[0]
        #expect(mine.device != theirs.device && mine.lines.count == 1)
    }
}

@Suite("Lineage log segments") struct LineageSegmentTests {
    private func segment() throws -> LineageSegment {
        var segment = LineageSegment(device: "a-b-c", number: 3)
        for name in ["a.md", "Journal/user/2026-11-21.md", "日記.md"] {
            segment.lines.append(
                VersionLine(
                    mark: .done, path: try path(name),
                    version: WorkspaceVersion(
                        hash: ContentHash(of: name.utf8), date: Date(millisecondsSince1970: 17), author: .agent("x\ty"),
                        kind: .written, parents: [ContentHash(of: [1])])))
        }
        return segment
    }

    @Test("A segment is read back as written")
    func roundTrip() throws {
        #expect(try LineageSegment(segment().bytes) == segment())
        let empty = LineageSegment(device: "d", number: 0)
        #expect(LineageSegment(empty.bytes) == empty)
    }

    @Test("A truncated segment, or one with a changed byte, is not read")
    func damaged() throws {
        let bytes = try segment().bytes
        for count in 0..<bytes.count { #expect(LineageSegment(Array(bytes.prefix(count))) == nil) }
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 1
            #expect(LineageSegment(other) == nil, "byte \(position)")
        }
    }

    @Test("Invalid headers and lines are ignored, even in a segment with a valid checksum")
    func foreign() throws {
        func sealed(_ text: String) -> [UInt8] { Array((text + "# \(ContentHash(of: text.utf8).rawValue)\n").utf8) }
        #expect(LineageSegment(sealed("recollect-lineage 2 d 1\n")) == nil)
        #expect(LineageSegment(sealed("recollect-lineage 1 d -1\n")) == nil)
        #expect(LineageSegment(sealed("something else\n")) == nil)
        #expect(LineageSegment(sealed("\n\n")) == nil)
        let lines = "=\t1\tseen\tno hash\t\t\ta.md\t\n=\t1\tseen\t\(ContentHash(of: [1]).rawValue)\t\t\t../a.md\t\n"
        #expect(LineageSegment(sealed("recollect-lineage 1 d 1\n" + lines))?.lines == [])
        let sizes = ["-5", "5", "9223372036854775808", "\(Int.min)", "x", ""].map {
            "=\t\(Int64.max)\tedited\t\(ContentHash(of: [1]).rawValue)\t\t\ta.md\t\t\($0)\n"
        }
        let read = LineageSegment(sealed("recollect-lineage 1 d 1\n" + sizes.joined()))?.lines
        #expect(read?.map(\.version.size) == [nil, 5, nil, nil, nil, nil])
    }
}
