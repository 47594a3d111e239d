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
/// - Different things written at the same place are all kept: items of lists as one list in the order of their bytes, everything else
///   in a `LabelledBlock`.
/// - The order of lines and sections is the base's; new sections stand behind the others.
enum MarkdownMerge {
    /// Merges versions of a text.
    /// - Parameters:
    ///   - base: what they came from; `nil` where nobody knows.
    ///   - versions: at least one.
    static func merged(base: String?, versions: [String]) -> String {
        let different = Set(versions.map { ByteString($0) }).map(\.string)
        guard different.count > 1 else { return different.first ?? base ?? "" }
        let root = MarkdownSection(base ?? "")
        let changed = different.map { (text: $0, section: MarkdownSection($0)) }.filter {
            $0.section.differs(from: root)
        }
        guard changed.count > 1 else { return changed.first?.text ?? base ?? "" }
        return merged(base: root, versions: changed.map(\.section))?.text ?? ""
    }

    /// Merges one section; `nil` among the versions is one that has no such section.
    /// - Returns: `nil` where the section is gone.
    static func merged(base: MarkdownSection?, versions: [MarkdownSection?]) -> MarkdownSection? {
        let there = versions.compactMap { $0 }
        guard let first = there.first else { return nil }
        if let base, there.count < versions.count, there.allSatisfy({ !$0.differs(from: base) }) { return nil }
        var result = MarkdownSection(heading: base?.heading ?? first.heading)
        result.spacing = (there + [base].compactMap { $0 }).map(\.spacing).max() ?? 0
        result.pieces = GapChanges.merged(base: base?.pieces ?? [], versions: there.map(\.pieces))
        result.children = mergedChildren(base: base, versions: there)
        return result
    }

    private static func mergedChildren(base: MarkdownSection?, versions: [MarkdownSection]) -> [MarkdownSection] {
        let old = base?.children ?? []
        let oldHeadings = Set(old.map(\.heading))
        let sections = versions.map(\.childrenByHeading)
        let new = versions.map { $0.children.map(\.heading).filter { !oldHeadings.contains($0) } }.filter {
            !$0.isEmpty
        }
        let kept = old.compactMap { child in
            merged(base: child, versions: sections.map { $0[child.heading] })
        }
        let added = OrderedUnion.of(new).compactMap { heading in
            merged(base: nil, versions: sections.compactMap { $0[heading] })
        }
        // A section below one of a higher level would be read as a part of it.
        let all = Dictionary(grouping: kept + added, by: \.level)
        return all.keys.sorted(by: >).flatMap { all[$0] ?? [] }
    }
}

extension MarkdownSection {
    /// Whether a version says anything else than the base, the order of lines apart.
    fileprivate func differs(from base: MarkdownSection) -> Bool {
        let places = GapChanges.Places(base.pieces)
        guard GapChanges(of: pieces, against: places).isNothing(against: places),
            children.count == base.children.count, spacing <= base.spacing
        else { return true }
        let old = base.childrenByHeading
        return children.contains { child in old[child.heading].map { child.differs(from: $0) } ?? true }
    }
}

/// Sequences of different texts as one: as they are where all are the same, else in the order of their bytes.
enum OrderedUnion {
    static func of(_ sequences: some Collection<[String]>) -> [String] {
        let different = Set(sequences)
        guard different.count > 1 else { return different.first ?? [] }
        return Set(different.joined()).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
