import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Merge check") struct MergeCheckTests {
    private func isPassed(
        _ merged: String, of versions: [String], base: String? = nil, isJournal: Bool = false
    ) -> Bool {
        MergeCheck(merged, of: versions, base: base, isJournal: isJournal).isPassed
    }

    @Test("concurrent-edits: a line may be missing only if the base has it and another version does not")
    func lines() {
        #expect(isPassed("a\nb\nc\n", of: ["a\nb\n", "a\nc\n"]))
        #expect(!isPassed("a\nb\n", of: ["a\nb\n", "a\nc\n"]))
        #expect(isPassed("a\nb\n", of: ["a\nb\n", "a\nc\n"], base: "c\n"))
        #expect(!isPassed("a\nb\n", of: ["a\nb\nc\n", "a\nc\n"], base: "c\n"))
        #expect(!isPassed("}\na\n", of: ["}\n}\na\n", "}\n}\n"], base: "}\n}\n"))
        #expect(isPassed("}\na\n", of: ["}\n}\na\n", "}\n"], base: "}\n}\n"))
    }

    @Test(
        "concurrent-edits: a line that only begins like a mark of a block or its label is no mark: it is missed",
        arguments: [
            "*Conflicting changes: call Ann*", "<!-- recollect: call Ann -->", "> *Conflicting changes: call Ann*",
            "<!-- recollect:both of them -->",
        ])
    func likeMarks(line: String) {
        let base = "one\n\(line)\ntwo\n\(line)\nthree\n"
        let (first, second) = ("one\ntwo\n\(line)\nthree\n", "one\n\(line)\ntwo\nthree\n")
        #expect(!isPassed("one\ntwo\nthree\n", of: [first, second], base: base))
        #expect(!isPassed("one\n", of: ["one\n\(line)\n", "one\n"]))
        let check = MergeCheck(
            "one\n", of: ["one\n\(line)\n", "one\n"], base: "one\n\(line)\n", isJournal: false)
        #expect(check.isPassed && check.deleted == [line])
        // In a block, it has a backslash.
        let block = ConflictBlock(alternatives: [line, "other"]).text + "\n"
        #expect(isPassed(block, of: [line + "\n", "other\n"]))
    }

    @Test("In a journal, a line of emoji counts as words: it is missed, and its deletion is reported")
    func emoji() throws {
        let base = "## 09:12\n\n> bread\n> 👍🎉\n"
        let without = base.replacing("> 👍🎉\n", with: "")
        #expect(!isPassed(without, of: [base, base + "> tea\n"], base: base, isJournal: true))
        let check = MergeCheck(without + "> tea\n", of: [without, base + "> tea\n"], base: base, isJournal: true)
        #expect(check.isPassed && check.deleted == ["> 👍🎉"])
    }

    @Test("The marks and the label of a block in a quoted entry may be missing, its lines may not")
    func quotedBlock() {
        let block = ConflictBlock(alternatives: ["Tea at four.", "Tea at five."]).lines
        let quoted = "## 09:12\n\n" + block.map { $0.isEmpty ? ">" : "> " + $0 }.joined(separator: "\n") + "\n"
        let solved = "## 09:12\n\n> Tea at five.\n> Tea at four.\n"
        #expect(isPassed(solved, of: [quoted, solved], isJournal: true))
        #expect(!isPassed("## 09:12\n\n> Tea at five.\n", of: [quoted, solved], isJournal: true))
    }

    @Test("Lines in the same order in all versions have this order in the result")
    func order() {
        #expect(!isPassed("b\na\nc\n", of: ["a\nb\n", "a\nb\nc\n"]))
        #expect(isPassed("b\na\nc\n", of: ["a\nb\n", "b\na\nc\n"]))
        #expect(!isPassed("b\na\nc\n", of: ["a\nb\n", "a\nb\nc\n", "a\nx\nb\n"]))
        #expect(!isPassed("c\nb\na\nx\n", of: ["a\nc\nb\n", "c\na\nb\nx\n"]))
    }

    @Test("The check of three versions does not depend on their order")
    func anyOrder() {
        let versions = ["a\nx\nb\n", "a\nb\n", "a\ny\nb\n"]
        for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1], [1, 2, 0], [2, 0, 1]] {
            #expect(!isPassed("b\nx\ny\na\n", of: order.map { versions[$0] }))
            #expect(isPassed("a\nx\ny\nb\n", of: order.map { versions[$0] }))
        }
    }

    @Test("concurrent-edits: an insertion stays between the same lines as in its version, unless these were moved")
    func insertions() {
        let (one, other) = ("a\nb\n## new\nc\n", "a\nb\nc\nx\n")
        #expect(isPassed("a\nb\n## new\nc\nx\n", of: [one, other]))
        #expect(!isPassed("a\nb\nx\n## new\nc\n", of: [one, other]))
        #expect(!isPassed("a\nb\nc\n## new\nx\n", of: [one, other]))
        #expect(isPassed("a\nx\nb\nc\n", of: ["c\na\nb\n", "a\nb\nx\nc\n"]))
        #expect(!isPassed("x\nb\na\nc\n", of: ["b\na\nc\n", "a\nb\nc\nx\n"]))
    }

    @Test("concurrent-edits: lines moved by one version stay moved")
    func moves() {
        let base = "a\nb\nc\n"
        #expect(!isPassed("x\na\nb\nc\n", of: ["c\na\nb\n", "x\na\nb\nc\n"], base: base))
        #expect(isPassed("x\nc\na\nb\n", of: ["c\na\nb\n", "x\na\nb\nc\n"], base: base))
        #expect(!isPassed("b\na\nc\n", of: ["b\na\nc\n", "a\nc\nb\n"], base: base))
        #expect(!isPassed("a\nb\nc\nx\n", of: ["c\na\nb\n", base, "a\nb\nc\nx\n"], base: base))
    }

    @Test("The check detects a line repeated more often than in any version")
    func repeats() {
        func repeats(_ merged: String, _ base: String?) -> Bool {
            MergeCheck(merged, of: ["a\nb\n", "a\nc\n"], base: base, isJournal: false).repeatsLines
        }
        #expect(repeats("a\nb\na\nc\n", "a\n") && !repeats("a\nb\nc\n", "a\n"))
        #expect(!repeats("a\nb\na\nc\n", nil))
    }

    @Test("Blank lines, conflict block markers, line endings and Unicode normalization make no difference")
    func layout() {
        let block = ConflictBlock(alternatives: ["tea", "caf\u{E9}"]).text
        #expect(isPassed("a\n\n" + block + "\n", of: ["a\ntea\r\n", "a\n\n\ncafe\u{301}\n"]))
        #expect(!isPassed("a\n\n" + block + "\n", of: ["a\ntea\r\n", "a\ncoffee\n"]))
    }

    @Test("journal: no line may be missing, except a partial heading left by a killed writer")
    func words() {
        let base = "Dose: 5 mg\n"
        #expect(!isPassed("Dose: 10 mg\n", of: ["Dose: 1\n", "Dose: 10 mg\n"], base: base, isJournal: true))
        #expect(!isPassed("Dose: 10 mg\n", of: ["Dose: 5 m\n", "Dose: 10 mg\n"], base: base, isJournal: true))
        #expect(!isPassed("> Dose: 10 mg, 1\n", of: ["Dose: 1\n", "Dose: 10 mg\n"], base: base, isJournal: true))
        #expect(isPassed("> 1, Dose\n> Dose: 10 mg\n", of: ["1 Dose\n", "Dose: 10 mg\n"], base: base, isJournal: true))
        let heading = "## 09:12 Tea <!-- note A 2026-11-21T09:12:07.123Z -->\n"
        for (end, isCut) in [("", true), ("\n", false)] {
            let cut = "## 09:12 Te" + end
            #expect(isPassed(heading + "x\n", of: [cut, heading + "x\n"], base: heading, isJournal: true) == isCut)
        }
        let check = MergeCheck("Call Bob\n", of: ["Call\n", "Call Bob\n"], base: "Call\n", isJournal: true)
        #expect(check.isPassed && check.deleted == ["Call"])
    }

    @Test("journal: of two changed headings of one entry, neither may be dropped")
    func headings() {
        func heading(_ time: String, _ rest: String = "") -> String {
            "## \(time) <!-- note A 2026-11-21T09:12:07.123Z \(rest)-->\n"
        }
        let base = heading("09:12")
        func undated(_ time: String) -> String { "## \(time) <!-- note A -->\n" }
        // The heading of a person has an ID after a merge.
        #expect(
            !isPassed(
                undated("09:35"), of: [undated("09:20"), undated("09:35")], base: undated("09:12"), isJournal: true))
        #expect(!isPassed(undated("10:00"), of: [undated("08:45"), undated("10:00")], isJournal: true))
        #expect(isPassed(undated("09:12"), of: ["## 09:12\n", undated("09:12")], isJournal: true))
        for (one, other) in [
            (heading("09:13"), heading("09:14")), (heading("09:12", "by x "), heading("09:12", "by y ")),
        ] {
            #expect(!isPassed(other, of: [one, other], base: base, isJournal: true))
            #expect(isPassed(other, of: [base, other], base: base, isJournal: true))
        }
        #expect(
            isPassed("## ~~09:12~~ <!-- note A 2026-11-21T09:12:07.123Z -->\n", of: [base], base: base, isJournal: true)
        )
    }

    @Test("Lines assumed deleted are reported, each once")
    func deleted() {
        let check = MergeCheck("a\nd\n", of: ["a\nb\nc\nd\n", "a\n"], base: "a\nb\nc\n", isJournal: false)
        #expect(check.isPassed && check.deleted == ["b", "c"])
    }

    @Test("Sequences are combined into one with their common order", arguments: 0..<UInt64(300))
    func union(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let all = (0..<Int.random(in: 1...12, using: &random)).map { "\($0 * 7 % 13)" }
        let sequences = (0..<3).map { _ in all.filter { _ in Bool.random(using: &random) } }
        let union = OrderedUnion.of(sequences)
        #expect(Set(union) == Set(sequences.joined()) && union.count == Set(union).count)
        for sequence in sequences { #expect(union.filter(sequence.contains) == sequence) }
        #expect(OrderedUnion.of(sequences.reversed()) == union)
        #expect(OrderedUnion.of([["b", "a"], ["a", "b"]]) == ["a", "b"])
        #expect(OrderedUnion.of([["b", "a"], ["a", "b"]], or: ["b", "a"]) == ["a", "b"])
        #expect(OrderedUnion.of([["b", "a", "x"], ["a", "y", "b"]], or: ["a", "b"]) == ["b", "a", "x", "y"])
    }

    @Test("Exchanges from all sequences are applied, and others only if necessary", arguments: 0..<UInt64(300))
    func exchanges(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let numbers = Array(0..<Int.random(in: 1...8, using: &random))
        func exchanges(_ sequence: [Int]) -> Set<[Int]> {
            Set(
                sequence.indices.flatMap { left in
                    sequence[left...].filter { $0 < sequence[left] }.map { [sequence[left], $0] }
                })
        }
        var sequences = (0..<2).map { _ in numbers.shuffled(using: &random) }
        let sorted = try #require(OrderedUnion.exchanged(numbers, in: sequences))
        #expect(sorted.sorted() == numbers)
        for sequence in sequences { #expect(exchanges(sequence).isSubset(of: exchanges(sorted))) }
        #expect(OrderedUnion.exchanged(numbers, in: [sequences[0], sorted]) == sorted)
        // Swaps of different neighbors.
        sequences = [0, 2].map { position in
            var sequence = numbers
            if sequence.count > position + 1 { sequence.swapAt(position, position + 1) }
            return sequence
        }
        let swapped = try #require(OrderedUnion.exchanged(numbers, in: sequences))
        #expect(exchanges(swapped) == exchanges(sequences[0]).union(exchanges(sequences[1])))
    }
}

extension MergeCheck {
    fileprivate init(_ merged: String, of versions: [String], base: String?, isJournal: Bool) {
        self.init(merged, of: Inputs(versions, base: base, isJournal: isJournal))
    }
}
