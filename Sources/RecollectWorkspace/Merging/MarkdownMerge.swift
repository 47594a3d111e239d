import RecollectCore

/// Merges Markdown and plain texts, of which several devices wrote versions, into one.
///
/// What a version says is taken as a set of changes against the base: which of its lines are gone, and what was written after which
/// of them. Merging unites these sets, and a text is written so that reading it gives the set back. That makes merging commutative,
/// associative and idempotent, so devices that merge the same versions in any order and in any steps end with the same
/// bytes.
///
/// - Sections are told by their headings. One that was deleted in one version and changed in another one stays.
/// - A line that is gone in one version is gone, unless it was changed too: the change is a line that was written.
/// - Different things written at the same place are all kept: items of lists as one list, everything else in a `LabelledBlock`.
/// - The order of lines is the base's. Sections and items stand in the order that they have in all versions, else in the order of their
///   bytes; then merging in other steps may give another order.
/// - Without a base, the lines with which all versions begin are taken for it: none of them is missing anywhere.
/// - A text in which a heading comes twice in one section is merged by lines, not by sections.
enum MarkdownMerge {
    /// Merges versions of a text.
    /// - Parameters:
    ///   - base: what they came from; `nil` where nobody knows.
    ///   - versions: at least one.
    ///   - isPlain: whether they are lines and nothing else, rather than Markdown.
    static func merged(base: String?, versions: [String], isPlain: Bool = false) -> String {
        let different = Set(versions.map { ByteString($0) }).map(\.string)
        guard different.count > 1 else { return different.first ?? base ?? "" }
        let texts = different + [base].compactMap { $0 }
        var syntax: MarkdownSection.Syntax = isPlain ? .plain : .markdown
        var read = texts.map { MarkdownSection.read($0, as: syntax) }
        if read.contains(where: \.hasRepeatedHeadings) {
            syntax = .withoutHeadings
            read = texts.map { MarkdownSection.read($0, as: syntax) }
        }
        let root = base == nil ? nil : read.last?.section
        let changed = zip(different, read).map { (text: $0, section: $1.section) }.filter { version in
            version.section.differs(from: root ?? MarkdownSection(), as: syntax)
        }
        guard changed.count > 1 else { return changed.first?.text ?? base ?? "" }
        let text = merged(base: root, versions: changed.map(\.section), as: syntax)?.text ?? ""
        return LineSpelling(of: changed.map(\.text), base: base).spelled(text)
    }

    /// Merges one section; `nil` among the versions is one that has no such section.
    /// - Returns: `nil` where the section is gone.
    static func merged(
        base: MarkdownSection?, versions: [MarkdownSection?], as syntax: MarkdownSection.Syntax
    ) -> MarkdownSection? {
        let there = versions.compactMap { $0 }
        guard let first = there.first else { return nil }
        // Most sections were changed nowhere.
        if there.count == versions.count, base == nil || base == first, there.allSatisfy({ $0 == first }) {
            return first
        }
        if let base, there.count < versions.count, there.allSatisfy({ !$0.differs(from: base, as: syntax) }) {
            return nil
        }
        var result = MarkdownSection(heading: base?.heading ?? first.heading)
        result.spacing = (there + [base].compactMap { $0 }).map(\.spacing).max() ?? 0
        result.pieces = GapChanges.merged(base: base?.pieces, versions: there.map(\.pieces), as: syntax)
        result.children = mergedChildren(base: base, versions: there, as: syntax)
        return result
    }

    private static func mergedChildren(
        base: MarkdownSection?, versions: [MarkdownSection], as syntax: MarkdownSection.Syntax
    ) -> [MarkdownSection] {
        let old = base?.childrenByHeading ?? [:]
        let sections = versions.map(\.childrenByHeading)
        // If versions contradict each other, the base's order counts.
        let order = (base?.children ?? []).map(\.heading)
        let all = OrderedUnion.of(versions.map { $0.children.map(\.heading) }, or: order).compactMap { heading in
            let there = sections.map { $0[heading] }
            // One that the base does not have was deleted nowhere.
            let versions = old[heading] == nil ? there.filter { $0 != nil } : there
            // A base that has no such section has nothing in this place.
            let base = old[heading] ?? base.map { _ in MarkdownSection(heading: heading) }
            return merged(base: base, versions: versions, as: syntax)
        }
        // A section below one of a higher level would be read as a part of it.
        let byLevel = Dictionary(grouping: all, by: \.level)
        return byLevel.keys.sorted(by: >).flatMap { byLevel[$0] ?? [] }
    }
}

extension MarkdownSection {
    /// Whether a version says anything else than the base, the order of lines apart.
    fileprivate func differs(from base: MarkdownSection, as syntax: Syntax) -> Bool {
        if self == base { return false }
        guard pieces.count == base.pieces.count, children.count == base.children.count, spacing <= base.spacing,
            GapChanges.isNothing(in: pieces, against: base.pieces, as: syntax)
        else { return true }
        let old = base.childrenByHeading
        return children.contains { child in old[child.heading].map { child.differs(from: $0, as: syntax) } ?? true }
    }
}
