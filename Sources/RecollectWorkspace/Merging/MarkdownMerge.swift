import RecollectCore

/// Merges versions of a Markdown or plain text.
///
/// A version is read as a set of changes to the base: deleted lines, and lines inserted after a line of the base.
/// Merging is the union of these sets, and reading the merged text gives the union back. So merging is commutative
/// and idempotent: devices with the same versions in any order write the same bytes. It is associative except for
/// the order of insertions, repeated lines, and texts without a base.
///
/// - Sections are identified by their headings. A section deleted in one version and changed in another stays.
/// - A line deleted in one version is deleted. A changed line is a deletion and an insertion.
/// - Different insertions at the same position are all kept: list items as one list, everything else in a conflict
///   block.
/// - Two lines or sections of the base are exchanged if any version exchanged them. Insertions stay after the line
///   before them in their version.
/// - New sections and items keep the order of their versions, else the order of their bytes.
/// - Without a base, the common lines of all versions in their common order are the base.
enum MarkdownMerge {
    /// Merges versions of a text.
    /// - Parameters:
    ///   - base: A common ancestor; `nil` if none is known.
    ///   - versions: At least one.
    ///   - syntax: The syntax of the texts.
    /// - Returns: `nil` if a heading repeats in one section, because headings do not identify sections then; also `nil`
    ///   for an insertion beside a line possibly moved by another version, or in place of it.
    static func merged(base: String?, versions: [String], as syntax: MarkdownSection.Syntax) -> String? {
        // Sorted, so that all devices align versions without a base in the same way.
        var composer = TextComposer()
        let different = Set(versions.map { ByteString($0) }).sorted().map { composer.spelled($0.string) }
        guard different.count > 1 else { return different.first?.text ?? base ?? "" }
        let base = base.map { composer.spelled($0) }
        let read = (different + [base].compactMap { $0 }).map { MarkdownSection.read($0.composed, as: syntax) }
        if read.contains(where: \.hasRepeatedHeadings) { return nil }
        let root = base == nil ? nil : read.last?.section
        let changed = zip(different, read).map { (spelled: $0, section: $1.section) }.filter { version in
            version.section.differs(from: root ?? MarkdownSection(), as: syntax)
        }
        guard changed.count > 1 else { return changed.first?.spelled.text ?? base?.text ?? "" }
        let section: MarkdownSection?
        do {
            section = try merged(base: root, versions: changed.map(\.section), as: syntax)
        } catch {
            return nil
        }
        let text = section?.text ?? ""
        return LineSpelling(of: changed.map(\.spelled), base: base).spelled(text)
    }

    /// Merges one section. `nil` stands for a version without the section.
    /// - Returns: `nil` if the section is deleted.
    static func merged(
        base: MarkdownSection?, versions: [MarkdownSection?], as syntax: MarkdownSection.Syntax
    ) throws(LineChanges.InsertionBesideMove) -> MarkdownSection? {
        let there = versions.compactMap { $0 }
        guard let first = there.first else { return nil }
        // A shortcut: most sections are equal in all versions.
        if there.count == versions.count, base == nil || base == first, there.allSatisfy({ $0 == first }) {
            return first
        }
        if let base, there.count < versions.count, there.allSatisfy({ !$0.differs(from: base, as: syntax) }) {
            return nil
        }
        var result = MarkdownSection(heading: base?.heading ?? first.heading)
        result.spacing = (there + [base].compactMap { $0 }).map(\.spacing).max() ?? 0
        result.pieces = try LineChanges.merged(base: base?.pieces, versions: there.map(\.pieces), as: syntax)
        result.children = try mergedChildren(base: base, versions: there, as: syntax)
        return result
    }

    private static func mergedChildren(
        base: MarkdownSection?, versions: [MarkdownSection], as syntax: MarkdownSection.Syntax
    ) throws(LineChanges.InsertionBesideMove) -> [MarkdownSection] {
        let old = base?.childrenByHeading ?? [:]
        let sections = versions.map(\.childrenByHeading)
        let order = (base?.children ?? []).map(\.heading)
        let positions = Dictionary(uniqueKeysWithValues: zip(order, 0...))
        let alignments = versions.map { version in
            Alignment(version.children.map { positions[$0.heading] }, against: order.count)
        }
        if Alignment.hasMovedReplacement(in: alignments) { throw LineChanges.InsertionBesideMove() }
        var all: [MarkdownSection] = []
        for heading in OrderedUnion.of(versions.map { $0.children.map(\.heading) }, or: order) {
            let there = sections.map { $0[heading] }
            // A section missing in the base was not deleted in any version.
            let versions = old[heading] == nil ? there.filter { $0 != nil } : there
            // If the base lacks the section, the base is an empty section, not an unknown one.
            let base = old[heading] ?? base.map { _ in MarkdownSection(heading: heading) }
            if let section = try merged(base: base, versions: versions, as: syntax) { all.append(section) }
        }
        // A section below a section of a higher level would be read as its child.
        let byLevel = Dictionary(grouping: all, by: \.level)
        return byLevel.keys.sorted(by: >).flatMap { byLevel[$0] ?? [] }
    }
}

extension MarkdownSection {
    /// Whether a version differs from the base. Removed blank lines do not count.
    fileprivate func differs(from base: MarkdownSection, as syntax: Syntax) -> Bool {
        if self == base { return false }
        guard pieces.count == base.pieces.count, children.count == base.children.count, spacing <= base.spacing,
            LineChanges.isNothing(in: pieces, against: base.pieces, as: syntax)
        else { return true }
        return zip(children, base.children).contains { child, old in
            child.heading != old.heading || child.differs(from: old, as: syntax)
        }
    }
}
