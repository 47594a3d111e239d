import Foundation
import RecollectCore

/// Merges versions of a day of the journal.
///
/// Each version is read as a point in a lattice. The result is their least upper bound, in canonical form. So the
/// order and grouping of merges do not matter, merging is idempotent, and merging a result with one of its
/// versions gives the same result. Only if several versions changed one text of the base, their grouping may matter.
///
/// - An **entry** is a heading and the text up to the next entry's heading outside of code blocks. It is identified by
///   its ID. An entry without one gets the ID of the base's entry at the same time, if both are the only ones, else an
///   ID from the day, its time and its text, the same on all devices; the second ID of the same content ends with `-2`.
///   If the base has an entry and a version does not, the entry was deleted there. It stays deleted unless another
///   version changed it.
/// - The **text** of an entry is the changed one. If several versions changed a text of the base, it is merged by lines,
///   as Markdown. Otherwise, all of their texts are kept in a conflict block. A text with all lines of another one
///   replaces it. Quotation marks (`>`), Unicode normalization and Windows line ends make no difference.
/// - An entry **struck out** in any version is struck out, at the earliest date.
/// - The text **before the first entry** is merged like an entry's.
/// - Entries are **sorted** by displayed time, then by date and ID.
package enum JournalMerge {
    /// Returns the merged bytes; `nil` if a version is not UTF-8, or without versions. Leaves out an incomplete
    /// character at the end of a version, and an incomplete heading of the base at the end of a version equal to the
    /// beginning of the base.
    /// - Parameters:
    ///   - base: A common ancestor, if one is known.
    ///   - versions: The contents, in any order.
    ///   - day: The file's day, `2026-11-21`. With it, the generated IDs of entries differ from day to day.
    package static func merged(base: [UInt8]?, versions: [[UInt8]], on day: String = "") -> [UInt8]? {
        let whole = base ?? []
        var known = JournalVersion.KnownEntries(day: day)
        let base = base.flatMap { JournalVersion($0, knowing: &known) }
        let read = versions.compactMap { version in
            // Only a killed writer leaves the beginning of the base. Otherwise, a person wrote the last line.
            JournalVersion(
                version, from: base, cutting: whole.starts(with: version) ? base?.headings ?? [] : [], knowing: &known)
        }
        guard read.count == versions.count, !read.isEmpty else { return nil }
        var result = JournalVersion()
        result.dayLine = latest(of: read.compactMap(\.dayLine), base: base?.dayLine)
        result.head = Alternatives.joined(read.map(\.head), base: base?.head)
        result.entries.reserveCapacity(read.map(\.entries.count).max() ?? 0)
        for (position, version) in read.enumerated() {
            for id in version.entries.keys where !read[..<position].contains(where: { $0.entries[id] != nil }) {
                result.entries[id] = joined(read.map { $0.entries[id] }, base: base?.entries[id])
            }
        }
        return result.bytes
    }

    /// Merges the versions of an entry; `nil` if it was deleted in a version and changed in none.
    private static func joined(
        _ versions: [JournalVersion.Entry?], base: JournalVersion.Entry?
    ) -> JournalVersion.Entry? {
        let present = versions.compactMap { $0 }
        // A shortcut: most entries are equal in all versions. If the ID of an entry occurs twice, one of its texts may be
        // in the other.
        let isOneText = present.first?.alternatives.count ?? 0 <= 1
        if isOneText, present.count == versions.count, present.dropFirst().allSatisfy({ $0 == present[0] }) {
            return present[0]
        }
        let changed = present.filter { entry in base.map { !entry.isSame(as: $0) } ?? true }
        // If no version changed the entry, it is unchanged or deleted.
        let decisive = changed.isEmpty && present.count == versions.count ? present : changed
        guard let first = decisive.first else { return nil }
        return JournalVersion.Entry(
            heading: latest(of: decisive.map(\.heading), base: base?.heading) ?? first.heading,
            struck: latest(of: decisive.map(\.struck), base: base?.struck) ?? first.struck,
            alternatives: Alternatives.joined(decisive.map(\.alternatives), base: base?.alternatives))
    }

    /// Returns the greatest value different from the base's; the base's value if there is none.
    private static func latest<Value: Comparable>(of values: [Value], base: Value?) -> Value? {
        values.filter { $0 != base }.max() ?? values.first
    }
}
