import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Each case checks every law. `make soak` checks more cases.
@Suite("Laws of journal merges")
struct JournalMergeLawTests {
    @Test("Journal merges obey the laws of merging for any base and any versions", arguments: 0..<UInt64(2))
    func laws(part: UInt64) async {
        await Seeds.run(1_000, from: part * 1_000) { seed in
            var generator = SeededGenerator(seed: seed)
            let sample = JournalCase(&generator)
            let (x, y, z) = (sample.versions[0], sample.versions[1], sample.versions[2])
            func merge(_ versions: [UInt8]?...) -> [UInt8]? {
                let known = versions.compactMap { $0 }
                return known.count < versions.count
                    ? nil : JournalMerge.merged(base: sample.base, versions: known, on: "2026-11-21")
            }
            let xy = merge(x, y)
            let all = merge(x, y, z)
            try sample.expect([merge(y, x)], equal: xy, "commutative")
            try sample.expect([merge(z, x, y)], equal: all, "commutative")
            try sample.expect([merge(xy, xy), merge(xy)], equal: xy, "idempotent")
            try sample.expect([merge(x, x)], equal: merge(x), "idempotent")
            try sample.expect([merge(xy, x)], equal: xy, "absorbing")
            // A text of the base changed by several versions is merged by lines.
            guard !sample.isContradictory else { return }
            try sample.expect([merge(xy, z), merge(x, merge(y, z))], equal: all, "associative")
            try sample.expect([merge(all, y), merge(all, xy)], equal: all, "absorbing")
        }
    }

    @Test("A journal merge has all text added by any version")
    func nothingLost() async {
        await Seeds.run(500) { seed in
            var generator = SeededGenerator(seed: seed)
            let sample = JournalCase(&generator, isPlain: true)
            let result = try #require(JournalMerge.merged(base: sample.base, versions: sample.versions))
            let base = Set(String(decoding: sample.base ?? [], as: UTF8.self).split(whereSeparator: \.isWhitespace))
            let kept = Set(String(decoding: result, as: UTF8.self).split(whereSeparator: \.isWhitespace))
            for version in sample.versions {
                let words = String(decoding: version, as: UTF8.self).split(whereSeparator: \.isWhitespace)
                for word in words where word.hasPrefix("word") && !base.contains(word) {
                    #expect(kept.contains(word))
                }
            }
        }
    }
}

/// A base and three versions, derived from it or independent of it, with any content that a file may have.
private struct JournalCase {
    var base: [UInt8]?
    var versions: [[UInt8]] = []

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    func expect(_ results: [[UInt8]?], equal expected: [UInt8]?, _ law: String) throws {
        for result in results where result != expected {
            let texts = ([base ?? []] + versions + [expected ?? [], result ?? []]).map {
                String(decoding: $0, as: UTF8.self).debugDescription
            }
            throw Broken(description: "not \(law); base, versions, expected, result:\n\(texts.joined(separator: "\n"))")
        }
    }

    /// Whether several versions changed one text of the base.
    var isContradictory: Bool {
        func texts(_ bytes: [UInt8]) -> [ByteText: Alternatives] {
            var known = JournalVersion.KnownEntries(day: "2026-11-21")
            guard let version = JournalVersion(bytes, knowing: &known) else { return [:] }
            return version.entries.mapValues(\.alternatives).merging([ByteText(""): version.head]) { first, _ in first }
        }
        guard let old = base.map(texts) else { return false }
        let new = versions.map(texts)
        return old.contains { id, text in
            new.count { version in version[id].map { !$0.isSame(as: text) } ?? false } > 1
        }
    }

    init(_ generator: inout SeededGenerator, isPlain: Bool = false) {
        var words = 0
        let origin = Self.text(&generator, entries: 4, isPlain: isPlain, words: &words)
        if Bool.random(using: &generator) { base = origin }
        for _ in 0..<3 {
            var version = Int.random(in: 0..<5, using: &generator) == 0 ? [] : origin
            for _ in 0..<generator.size(upTo: 3) {
                Self.edit(&version, &generator, isPlain: isPlain, words: &words)
            }
            versions.append(version)
        }
        // Some versions are results of earlier merges, with another base or none.
        if !isPlain, Int.random(in: 0..<3, using: &generator) == 0 {
            let mixed = JournalMerge.merged(
                base: Bool.random(using: &generator) ? base : nil, versions: versions, on: "2026-11-21")
            versions[0] = mixed ?? versions[0]
            if base != nil, Bool.random(using: &generator) { base = mixed }
        }
    }

    private static func edit(
        _ text: inout [UInt8], _ generator: inout SeededGenerator, isPlain: Bool, words: inout Int
    ) {
        var lines = text.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        let position = lines.indices.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<(isPlain ? 3 : 10), using: &generator) {
        case 0: text += Self.text(&generator, entries: 1, isPlain: isPlain, words: &words)
        case 1:
            lines.insert(piece(&generator, isPlain: isPlain, words: &words), at: position)
            text = joined(lines)
        case 2 where !isPlain: text = Array(text.prefix(Int.random(in: 0...text.count, using: &generator)))
        case 3:
            lines.remove(at: position)
            text = joined(lines)
        case 4:
            lines[position] += piece(&generator, isPlain: isPlain, words: &words)
            text = joined(lines)
        case 5: text = Array(String(decoding: text, as: UTF8.self).replacingOccurrences(of: "\n", with: "\r\n").utf8)
        case 6:
            let end = lines.indices.randomElement(using: &generator) ?? 0
            lines.removeSubrange(min(position, end)..<max(position, end))
            text = joined(lines)
        case 7:
            // Struck out by hand or by Recollect.
            let date = ["", " struck 2026-11-21T1\(Int.random(in: 0...3, using: &generator)):00:00.000Z"]
            for (number, line) in lines.enumerated() where line.starts(with: "## 1".utf8) {
                guard Bool.random(using: &generator) else { continue }
                lines[number] = Array(
                    String(decoding: line, as: UTF8.self).replacingOccurrences(
                        of: " -->", with: (date.randomElement(using: &generator) ?? "") + " -->"
                    ).replacingOccurrences(of: "## 10:00 ", with: "## ~~10:00~~ ").utf8)
            }
            text = joined(lines)
        case 8: text += text
        default:
            for (number, line) in lines.enumerated() where Bool.random(using: &generator) && line.first == 0x3E {
                lines[number] = Array("> ".utf8) + piece(&generator, isPlain: isPlain, words: &words)
            }
            text = joined(lines)
        }
    }

    private static func joined(_ lines: [[UInt8]]) -> [UInt8] { Array(lines.joined(separator: [10])) }

    private static func text(
        _ generator: inout SeededGenerator, entries: Int, isPlain: Bool, words: inout Int
    ) -> [UInt8] {
        var text = Bool.random(using: &generator) ? "# 2026-11-21\n" : ""
        for _ in 0..<generator.size(upTo: entries) {
            words += 1
            let id = isPlain ? "id\(words)" : ["A", "B", "C", "%C3%A9", "%"].randomElement(using: &generator) ?? ""
            let time = isPlain ? "10:00" : ["10:00", "10:01", "9:05"].randomElement(using: &generator) ?? ""
            let headings = [
                "## \(time) <!-- note \(id) 2026-11-21T\(time.count < 5 ? "0" : "")\(time):00.000Z -->", "## \(time)",
                "## \(time) <!-- note \(id) -->", "## \(time) title <!-- note \(id) 2026-11-21T10:00:00.000Z by x -->",
                "## ~~\(time)~~ Mara", "## \(time) title", "## \(time) <!-- mine -->",
            ]
            text += "\n" + (headings[isPlain ? 0 : Int.random(in: 0..<headings.count, using: &generator)]) + "\n"
            let mark = Bool.random(using: &generator) ? "> " : ""
            for _ in 0..<Int.random(in: isPlain ? 1...3 : 0...3, using: &generator) {
                text +=
                    "\n" + mark + String(decoding: piece(&generator, isPlain: isPlain, words: &words), as: UTF8.self)
            }
            text += "\n"
        }
        return Array(text.utf8)
    }

    private static func piece(_ generator: inout SeededGenerator, isPlain: Bool, words: inout Int) -> [UInt8] {
        words += 1
        if isPlain { return Array("word\(words)x".utf8) }
        let pieces: [[UInt8]] = [
            "## 10:00", "## 10:00 <!-- note A 2026-11-21T10:00:00.000Z -->", "# heading", "## plan", "```", "> quoted",
            ">",
            "> > twice", "<!--", "-->", "<!-- note ", "", "\r", " ", "\t", "e\u{301}", "é", ">\u{338}", "\u{226F}",
            "\u{0}",
            "text", "text and more", "other", "~~", "# 2026-11-21", "# 2026-11-22", "## ~~10:00~~ x", "\u{2028}", "🔥",
            "## 10:00 <!-- note A", "## 1", "<!-- kept -->", "> <!-- end -->", "\u{FEFF}", "漢字", "a\u{301}\u{323}",
        ].map { Array($0.utf8) }
        if Int.random(in: 0..<200, using: &generator) == 0 { return [0xF0, 0x9F] }
        return pieces.randomElement(using: &generator) ?? []
    }
}
