import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Laws of Markdown merges")
struct MarkdownMergeTests {
    /// The base may be missing or unrelated. The order of steps may matter only for the order of items and sections,
    /// and for texts with repeated lines.
    @Test("concurrent-edits: Markdown merges obey the laws of merging and lose no line")
    func laws() async {
        var laws = MergeLaws(
            merge: { merged(base: $0, $1) },
            make: { random in
                var notes = RandomNotes(random: random)
                defer { random = notes.random }
                return notes.family()
            },
            missing: { base, versions, result in
                if merged(base: base, versions) == nil { return nil }
                let kept = Set(result.lines.map(unescaped))
                let old = Set((base ?? "").precomposedStringWithCanonicalMapping.lines)
                return versions.flatMap { $0.precomposedStringWithCanonicalMapping.lines }.first { line in
                    !line.isBlank && !line.contains("recollect:") && !line.hasPrefix("*Conflicting changes:")
                        && !old.contains(line) && !kept.contains(unescaped(line))
                }
            }
        )
        laws.isLoose = { base, versions in
            guard let base else { return true }
            // A step that cannot merge by headings merges by lines, or not at all.
            func merged(_ versions: String...) -> String? {
                MarkdownMerge.merged(base: base, versions: versions, as: .markdown)
            }
            guard let first = merged(versions[0], versions[1]), let last = merged(versions[1], versions[2]),
                merged(versions[0], versions[1], versions[2]) != nil, merged(first, versions[0]) != nil,
                merged(first, versions[2]) != nil, merged(versions[0], last) != nil
            else { return true }
            return ([base] + versions).contains { text in
                let lines = text.precomposedStringWithCanonicalMapping.lines.filter { !$0.isBlank }
                return Set(lines).count < lines.count
            }
        }
        laws.isSame = { $0.lines.sorted() == $1.lines.sorted() }
        await Seeds.run(4_000, laws.check)
    }
}

@Suite("Laws of front matter merges")
struct FrontMatterMergeTests {
    @Test("concurrent-edits: merges of front matter obey the laws of merging and lose no value")
    func laws() async {
        let merge: @Sendable (String?, [String]) -> String? = { base, versions in
            guard let path = try? WorkspacePath("a.md") else { return nil }
            return WorkspaceMerge.merged(
                base: base.map { Array($0.utf8) }, versions: versions.map { Array($0.utf8) }, at: path
            ).map { String(decoding: $0, as: UTF8.self) }
        }
        var laws = MergeLaws(
            merge: merge,
            make: { random in
                func text() -> String {
                    let entries = ["date", "tags", "title"].flatMap { key -> [String] in
                        switch Int.random(in: 0..<6, using: &random) {
                        case 0: []
                        case 1: ["# note on \(key)", "\(key): 1"]
                        case 2: ["\(key):", "  - \(key) a", "  - \(key) b"]
                        case 3: ["# recollect:or \(key): 1", "\(key): 2"]
                        default: ["\(key): \(Int.random(in: 1...3, using: &random))"]
                        }
                    }
                    return (["---"] + entries + ["---", "text", ""]).joined(separator: "\n")
                }
                return (Bool.random(using: &random) ? text() : nil, [text(), text(), text()])
            },
            missing: { base, versions, result in
                func values(_ text: String) -> Set<String> {
                    Set(text.replacing("# recollect:or ", with: "").lines)
                }
                let lost = versions.reduce(into: Set()) { $0.formUnion(values($1)) }
                    .subtracting(values(result)).subtracting(base.map(values) ?? [])
                return merge(base, versions) == nil ? nil : lost.sorted().first
            })
        // New keys keep the order of their versions.
        laws.isSame = { $0.lines.sorted() == $1.lines.sorted() }
        // Versions may be kept apart, for example if two of them delete all keys.
        laws.isLoose = { base, versions in
            guard let first = merge(base, Array(versions[0...1])), let last = merge(base, Array(versions[1...2])) else {
                return true
            }
            return [versions, [first, versions[0]], [first, versions[2]], [versions[0], last]].contains {
                merge(base, $0) == nil
            }
        }
        await Seeds.run(400, laws.check)
    }
}

/// Merges by headings, or by lines if headings repeat.
private func merged(base: String?, _ versions: [String]) -> String? {
    MarkdownMerge.merged(base: base, versions: versions, as: .markdown)
        ?? MarkdownMerge.merged(base: base, versions: versions, as: .withoutHeadings)
}

private func unescaped(_ line: String) -> String { String(line.drop { $0 == "\\" }) }

/// Generates notes from a small set of lines, so that equal lines are frequent.
struct RandomNotes {
    var random: SeededGenerator

    mutating func family() -> (base: String?, versions: [String]) {
        let base = text()
        let versions = (0..<3).map { _ in Int.random(in: 0..<8, using: &random) == 0 ? text() : edited(base) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return (nil, versions)
        case 1: return (text(), versions)
        case 2: return (merged(base: nil, versions), versions.map { edited($0) })
        default: return (base, versions)
        }
    }

    private mutating func text() -> String {
        (0..<random.size(upTo: 9)).map { _ in line() }.joined()
    }

    private mutating func edited(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) + "\n" }
        for _ in 0..<random.size(upTo: 4) {
            let position = Int.random(in: 0...lines.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where position < lines.count: lines.remove(at: position)
            case 1 where position < lines.count: lines[position] = line()
            case 2 where position < lines.count:
                let moved = lines.remove(at: position)
                lines.insert(moved, at: Int.random(in: 0...lines.count, using: &random))
            default: lines.insert(line(), at: position)
            }
        }
        return lines.joined()
    }

    private mutating func line() -> String {
        let words = ["tea", "at four", "caf\u{E9}", "cafe\u{301}", "x", "y", "北京"]
        let word = words.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<24, using: &random) {
        case 0...3: return "# \(["A", "B", "C"].randomElement(using: &random) ?? "")\n"
        case 4, 5: return "## \(["A", "D"].randomElement(using: &random) ?? "")\n"
        case 6...10: return "- \(word)\n"
        case 11: return "  - \(word)\n"
        case 12: return "```\n# \(word)\n```\n"
        case 13: return "```\n"
        case 14: return ConflictBlock(alternatives: [word, "x"]).text + "\n"
        case 15: return "<!-- recollect:\(["both", "or", "end"].randomElement(using: &random) ?? "") -->\n"
        case 16, 17: return "\n"
        case 18: return "\(word)\r\n"
        case 19: return word
        default: return "\(word)\n"
        }
    }
}
