import Foundation
import RecollectCore

/// Folds several versions of a journal's day into one file.
///
/// Every version is read as a point in a lattice and the result is their least upper bound, written canonically. That is why neither
/// order nor grouping matters, why folding twice changes nothing, and why folding a result with a version it came from gives
/// the result again. What is compared with what:
///
/// - An **entry** is its heading and all that follows up to the next entry's heading. Its name is its id; one without is
///   named by its time and text, so that all devices give it the same name. An entry that the base holds and a version does not was
///   deleted there, and stays so unless another version changed it.
/// - Its **text** is what changed against the base; where several did, all are kept in a labelled block. A text that holds another's
///   lines replaces it. The other's last line may be a prefix if a line of the base begins with it: then it was cut. Marks
///   of quotation, the spelling of accents, and line ends of Windows make no difference.
/// - An entry that is **struck out** anywhere is struck out, at the earliest moment.
/// - What stands **before the first entry** is a text like an entry's. It is not taken apart into paragraphs, because no order of
///   paragraphs that came from two devices would be the same in whatever groups they are folded.
/// - Entries are **ordered** by the time that they show, then by their moment and id.
public enum JournalMerge {
    /// The bytes that all versions become; `nil` where one of them is not UTF-8. A cut character at the end is
    /// left out, and so is a cut heading of the base.
    /// - Parameters:
    ///   - base: What the versions came from, where that is known.
    ///   - versions: The contents, in any order.
    ///   - day: The file's day, `2026-11-21`: makes names of entries without an id different on different days.
    public static func merged(base: [UInt8]?, versions: [[UInt8]], on day: String = "") -> [UInt8]? {
        let base = base.flatMap { JournalVersion($0, on: day) }
        let read = versions.compactMap { JournalVersion($0, on: day, cutting: base?.headings ?? []) }
        guard read.count == versions.count, !read.isEmpty else { return nil }
        var result = JournalVersion()
        result.dayLine = latest(of: read.compactMap(\.dayLine), base: base?.dayLine)
        result.head = Wordings.joined(read.map(\.head), base: base?.head)
        for id in Set(read.flatMap(\.entries.keys)) {
            result.entries[id] = joined(read.map { $0.entries[id] }, base: base?.entries[id])
        }
        return result.bytes
    }

    /// What an entry becomes; `nil` where it was deleted, and nowhere changed.
    private static func joined(_ versions: [JournalVersion.Entry?], base: JournalVersion.Entry?) -> JournalVersion
        .Entry?
    {
        let present = versions.compactMap { $0 }
        let changed = present.filter { entry in base.map { !entry.isSame(as: $0) } ?? true }
        // Where nobody changed it, it is as it was, or deleted.
        let decisive = changed.isEmpty && present.count == versions.count ? present : changed
        guard let first = decisive.first else { return nil }
        return JournalVersion.Entry(
            heading: latest(of: decisive.map(\.heading), base: base?.heading) ?? first.heading,
            struck: latest(of: decisive.map(\.struck), base: base?.struck) ?? first.struck,
            wordings: Wordings.joined(decisive.map(\.wordings), base: base?.wordings))
    }

    /// The greatest of the values that are not the base's; the base's where all are.
    private static func latest<Value: Comparable>(of values: [Value], base: Value?) -> Value? {
        values.filter { $0 != base }.max() ?? values.first
    }
}
