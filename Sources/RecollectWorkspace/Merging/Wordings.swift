import Foundation

/// The texts that stand in one place of a version: one, or several where a conflict was left there.
struct Wordings {
    /// One text, and how it is laid out where it stands alone; the greater one of two for which no difference is made is kept.
    private struct Wording: Comparable {
        let text: ByteText
        var layout: Layout

        init(text: ByteText, layout: Layout? = nil) {
            self.text = text
            self.layout = layout ?? Layout(title: ByteText(""), body: ByteText(lines: text.lines.map(\.quoted)))
        }

        static func < (left: Wording, right: Wording) -> Bool {
            left.text == right.text ? left.layout < right.layout : left.text < right.text
        }
    }

    /// How a text was parted into what stands in the heading and what below it.
    private struct Layout: Comparable {
        let title: ByteText
        let body: ByteText

        static func < (left: Layout, right: Layout) -> Bool {
            left.title == right.title ? left.body < right.body : left.title < right.title
        }
    }

    /// By what makes a difference.
    private var byKey: [ByteText: Wording] = [:]

    init() {}

    /// What stands before the first entry.
    init(ofHead body: [ByteText]) {
        take(ByteText(lines: body), layout: nil)
    }

    /// What an entry says.
    init(ofEntry body: [ByteText], title: String) {
        let isQuotation = body.allSatisfy(\.isQuoted)
        let lines = (title.isEmpty ? [] : [ByteText(title)]) + (isQuotation ? body.map(\.unquoted) : body)
        take(ByteText(lines: lines), layout: Layout(title: ByteText(title), body: ByteText(lines: body)))
    }

    private mutating func take(_ text: ByteText, layout: Layout?) {
        let text = text.normalised
        let lines = text.text.lines
        // A block that somebody wrote into is a text of theirs.
        if let (block, count) = LabelledBlock.read(lines[...]), count == lines.count, block.alternatives.count > 1,
            ByteText(block.text) == text
        {
            block.alternatives.forEach { add(Wording(text: ByteText($0).normalised)) }
        } else {
            add(Wording(text: text, layout: layout))
        }
    }

    private mutating func add(_ wording: Wording) {
        let key = Self.key(of: wording.text)
        byKey[key] = byKey[key].map { max($0, wording) } ?? wording
    }

    /// The text without marks of quotation, and with accents in one spelling.
    private static func key(of text: ByteText) -> ByteText {
        if text.bytes.allSatisfy({ $0 < 0x80 }) { return ByteText(lines: text.lines.map(\.unquoted)) }
        let composed = ByteText(text.text.precomposedStringWithCanonicalMapping)
        let plain = ByteText(lines: composed.lines.map(\.unquoted))
        return ByteText(plain.text.precomposedStringWithCanonicalMapping)
    }

    var keys: Set<ByteText> { Set(byKey.keys) }

    func isSame(as other: Wordings) -> Bool { keys == other.keys }

    /// Takes in what else one version says in the same place.
    mutating func add(_ other: Wordings) {
        // Several have no layouts any more, however many come to them.
        if byKey.count > 1 {
            byKey.merge(other.byKey.mapValues { Wording(text: $0.text) }, uniquingKeysWith: max)
        } else {
            byKey.merge(other.byKey, uniquingKeysWith: max)
            if byKey.count > 1 { byKey = byKey.mapValues { Wording(text: $0.text) } }
        }
        dropNothing()
    }

    /// No text is no alternative to one.
    private mutating func dropNothing() {
        if byKey.count > 1 { byKey[ByteText("")] = nil }
    }

    // MARK: Merging

    /// What a version left of the base's texts. All of it is no decision; none of it says only that there is another text; fewer of them
    /// is more decided; and who adds a text of their own beside all of them decided for them all.
    private struct Decision: Comparable {
        let rank: Int
        let kept: [ByteText]

        init(_ keys: Set<ByteText>, of old: Set<ByteText>) {
            let left = keys.intersection(old)
            kept = left.sorted()
            rank = left == old ? (keys == old ? 0 : .max) : left.isEmpty ? 1 : 2 + old.count - left.count
        }

        static func < (left: Decision, right: Decision) -> Bool {
            left.rank == right.rank ? left.kept.lexicographicallyPrecedes(right.kept) : left.rank < right.rank
        }
    }

    /// What the texts of several versions become.
    ///
    /// Of the base's texts those stay that the most decided version left; the others are united, but for those that another one of
    /// them holds.
    static func joined(_ versions: [Wordings], base: Wordings?) -> Wordings {
        let old = base?.keys ?? []
        let decisions = versions.map { Decision($0.keys, of: old) }
        let new = Set(versions.flatMap(\.keys)).subtracting(old)
        let lines = old.flatMap(\.lines)
        let added = new.filter { key in
            let isCut = key.lines.last.map { last in lines.contains { $0.continues(last) } } ?? false
            return !new.contains { $0 != key && $0.holds(key, isCut: isCut) }
        }
        var result = Wordings()
        for (version, decision) in zip(versions, decisions) {
            let isDecisive = decision == decisions.max()
            let taken = version.byKey.filter { added.contains($0.key) || isDecisive && old.contains($0.key) }
            result.byKey.merge(taken, uniquingKeysWith: max)
        }
        result.dropNothing()
        return result
    }

    // MARK: Writing

    var asHead: [UInt8] { text.bytes }

    /// What stands in the heading, and what below it.
    var asEntry: (title: String, body: [UInt8]) {
        let layout = byKey.count == 1 ? byKey.values.first?.layout : Wording(text: text).layout
        return (layout?.title.text ?? "", layout?.body.bytes ?? [])
    }

    private var text: ByteText {
        guard byKey.count > 1 else { return byKey.values.first?.text ?? ByteText("") }
        return ByteText(LabelledBlock(alternatives: Set(byKey.values.map(\.text.text))).text)
    }
}

extension ByteText {
    /// Without what a labelled block does not keep: line ends of Windows, and blank lines around the text.
    fileprivate var normalised: ByteText {
        ByteText(lines: lines.map(\.trimmingCarriageReturn).trimmingBlankLines)
    }

    /// Whether all lines of another text stand in this one, in order.
    /// - Parameter isCut: Whether the other's last line may be a prefix.
    fileprivate func holds(_ other: ByteText, isCut: Bool) -> Bool {
        guard bytes.count > other.bytes.count else { return false }
        var wanted = other.lines[...]
        for line in lines {
            guard let next = wanted.first else { break }
            if line == next || isCut && wanted.count == 1 && line.continues(next) { wanted.removeFirst() }
        }
        return wanted.isEmpty
    }
}
