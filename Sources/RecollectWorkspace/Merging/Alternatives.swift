import Foundation

/// The alternatives at one position in a version of a day: one text, or several from an unresolved conflict.
struct Alternatives: Equatable {
    /// A string, and its layout for use without other alternatives. Of two equivalent texts, the greater one is
    /// kept.
    private struct Alternative: Comparable {
        let text: ByteText
        var layout: Layout

        init(text: ByteText, layout: Layout? = nil) {
            self.text = text
            self.layout = layout ?? Layout(title: ByteText(""), body: ByteText(lines: text.lines.map(\.quoted)))
        }

        static func < (left: Alternative, right: Alternative) -> Bool {
            left.text == right.text ? left.layout < right.layout : left.text < right.text
        }
    }

    /// The division of a text into the title in the heading and the body below it.
    private struct Layout: Comparable {
        let title: ByteText
        let body: ByteText

        static func < (left: Layout, right: Layout) -> Bool {
            left.title == right.title ? left.body < right.body : left.title < right.title
        }
    }

    /// The texts by their normalized form.
    private var byKey: [ByteText: Alternative] = [:]

    init() {}

    /// Creates the text before the first entry.
    init(ofHead body: [ByteText]) {
        take(ByteText(lines: body), layout: nil)
    }

    /// Creates the text of an entry.
    init(ofEntry body: [ByteText], title: String) {
        let isQuotation = body.allSatisfy(\.isQuoted)
        let lines = (title.isEmpty ? [] : [ByteText(title)]) + (isQuotation ? body.map(\.unquoted) : body)
        take(ByteText(lines: lines), layout: Layout(title: ByteText(title), body: ByteText(lines: body)))
    }

    private mutating func take(_ text: ByteText, layout: Layout?) {
        let text = text.normalized
        // A block edited by a person is an ordinary text.
        if let block = ConflictBlock(whole: text), block.alternatives.count > 1, ByteText(block.text) == text {
            block.alternatives.forEach { add(Alternative(text: ByteText($0).normalized)) }
        } else {
            add(Alternative(text: text, layout: layout))
        }
    }

    private mutating func add(_ alternative: Alternative) {
        let key = Self.key(of: alternative.text)
        byKey[key] = byKey[key].map { max($0, alternative) } ?? alternative
    }

    /// Returns the text without quotation marks (`>`), in composed form.
    private static func key(of text: ByteText) -> ByteText {
        if text.bytes.allSatisfy({ $0 < 0x80 }) { return text.unquotedLines }
        let plain = ByteText(text.text.precomposedStringWithCanonicalMapping).unquotedLines
        return ByteText(plain.text.precomposedStringWithCanonicalMapping)
    }

    var keys: Set<ByteText> { Set(byKey.keys) }
    var count: Int { byKey.count }

    func isSame(as other: Alternatives) -> Bool { byKey.keys == other.byKey.keys }

    /// Adds the texts of the same version at the same position.
    mutating func add(_ other: Alternatives) {
        // With several texts, layouts are dropped for good.
        if byKey.count > 1 {
            byKey.merge(other.byKey.mapValues { Alternative(text: $0.text) }, uniquingKeysWith: max)
        } else {
            byKey.merge(other.byKey, uniquingKeysWith: max)
            if byKey.count > 1 { byKey = byKey.mapValues { Alternative(text: $0.text) } }
        }
        removeEmptyText()
    }

    /// Removes the empty text, if there is another one.
    private mutating func removeEmptyText() {
        if byKey.count > 1 { byKey[ByteText("")] = nil }
    }

    // MARK: Merging

    /// A version's decision about the texts of the base. From the weakest to the strongest: all of them are kept;
    /// none is kept, as another text replaces them; some are removed, the more the stronger; all are kept beside a
    /// new text.
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

    /// Merges the texts of several versions.
    ///
    /// Of the base's texts, those kept by the strongest decision remain. The new texts are all added, except those
    /// contained in another new text. If several texts result, and the base is known, the texts are merged by lines,
    /// unless merging the result with a version again would change it.
    static func joined(_ versions: [Alternatives], base: Alternatives?) -> Alternatives {
        let wholes = joinedAsWholes(versions, base: base)
        guard wholes.byKey.count > 1, let base, let byLines = joinedByLines(versions, base: base) else {
            return wholes
        }
        let isStable = versions.allSatisfy { version in
            let wholes = joinedAsWholes([byLines, version], base: base)
            let again = wholes.byKey.count > 1 ? joinedByLines([byLines, version], base: base) ?? wholes : wholes
            return again.asEntry == byLines.asEntry
        }
        return isStable ? byLines : wholes
    }

    /// Merges texts by their lines, so that only different lines are alternatives.
    /// - Returns: `nil` if a version may be cut off, if the lines cannot be merged, or if they have nothing in common.
    private static func joinedByLines(_ versions: [Alternatives], base: Alternatives) -> Alternatives? {
        func merged(_ text: (Alternatives) -> ByteText) -> [ByteText]? {
            let (base, texts) = (text(base), versions.map(text))
            // A killed writer may have cut a line of the base.
            let newline = UInt8(ascii: "\n")
            if texts.contains(where: { base.continues($0) && base.bytes[$0.bytes.count] != newline }) { return nil }
            return MarkdownMerge.merged(base: base.text, versions: texts.map(\.text), as: .withoutHeadings)
                .map { ByteText($0).lines.trimmingBlankLines }
        }
        let result: Alternatives?
        if (versions + [base]).allSatisfy(\.isQuotation) {
            result = merged(\.text).map { Alternatives(ofHead: $0) }
        } else {
            let titles = Set(versions.map(\.asEntry.title)).subtracting([base.asEntry.title])
            if titles.count <= 1 {
                let title = titles.first ?? base.asEntry.title
                result = merged { ByteText($0.asEntry.body) }.map { Alternatives(ofEntry: $0, title: title) }
            } else {
                // Different titles become the first line.
                result = merged { ByteText(lines: [ByteText($0.asEntry.title), ByteText($0.asEntry.body)]) }
                    .map { Alternatives(ofEntry: $0, title: "") }
            }
        }
        return result.flatMap { $0.byKey.count == 1 ? $0 : nil }
    }

    /// Whether the texts are written without a title, as quotations or before the first entry.
    private var isQuotation: Bool {
        asEntry.title.isEmpty && asEntry.body == ByteText(lines: text.lines.map(\.quoted)).bytes
    }

    private static func joinedAsWholes(_ versions: [Alternatives], base: Alternatives?) -> Alternatives {
        let old = base?.keys ?? []
        let decisions = versions.map { Decision($0.keys, of: old) }
        let new = Set(versions.flatMap(\.keys)).subtracting(old)
        let added = new.filter { key in !new.contains { $0 != key && $0.holds(key) } }
        var result = Alternatives()
        for (version, decision) in zip(versions, decisions) {
            let isDecisive = decision == decisions.max()
            let taken = version.byKey.filter { added.contains($0.key) || isDecisive && old.contains($0.key) }
            result.byKey.merge(taken, uniquingKeysWith: max)
        }
        result.removeEmptyText()
        return result
    }

    // MARK: Writing

    var asHead: [UInt8] { text.bytes }

    /// The title in the heading, and the body below it.
    var asEntry: (title: String, body: [UInt8]) {
        let layout = byKey.count == 1 ? byKey.values.first?.layout : Alternative(text: text).layout
        return (layout?.title.text ?? "", layout?.body.bytes ?? [])
    }

    private var text: ByteText {
        guard byKey.count > 1 else { return byKey.values.first?.text ?? ByteText("") }
        return ByteText(ConflictBlock(alternatives: Set(byKey.values.map(\.text.text))).text)
    }
}

extension ByteText {
    /// The text without Windows line ends and blank lines around it, as read back from a conflict block.
    fileprivate var normalized: ByteText {
        func isVisible(_ line: some Sequence<UInt8>) -> Bool { line.contains { $0 > UInt8(ascii: " ") } }
        let newline = UInt8(ascii: "\n")
        // Most texts are.
        if !bytes.contains(UInt8(ascii: "\r")), isVisible(bytes.prefix { $0 != newline }),
            isVisible(bytes.reversed().prefix { $0 != newline })
        {
            return self
        }
        return ByteText(lines: lines.map(\.trimmingCarriageReturn).trimmingBlankLines)
    }

    /// Whether this text has all lines of another one, in order.
    fileprivate func holds(_ other: ByteText) -> Bool {
        guard bytes.count > other.bytes.count else { return false }
        var wanted = other.lines[...]
        for line in lines {
            guard let next = wanted.first else { break }
            if line == next { wanted.removeFirst() }
        }
        return wanted.isEmpty
    }
}
