import RecollectCore

/// The front matter of a Markdown file: the keys between two lines `---` at its beginning. Also the text below.
///
/// As in Jekyll and Pandoc, blanks may follow `---`, a byte order mark may precede it, and the last line may be `...`.
///
/// Front matter is merged key by key. A conflict block would change the meaning of the YAML, or make it invalid. So of
/// several values of a key, the last one in byte order stays (of dates, the latest), and the others become comments above
/// it, which are read back as alternatives:
///
/// ```yaml
/// # recollect:or updated: 2026-11-24
/// updated: 2026-11-25
/// ```
struct FrontMatter {
    /// A key, with its lines.
    struct Entry: Hashable {
        let key: String
        /// The comments above the key's line, the line itself, and its continuation lines.
        let text: String
    }

    private(set) var entries: [Entry] = []
    /// The first and the last line.
    private var fences = Fences()
    /// The number of blank lines between the front matter and the text below.
    private let spacing: Int
    /// The text below.
    let rest: String

    /// The lines above and below the keys, as written.
    private struct Fences: Hashable {
        var first = FrontMatter.fence
        var last = FrontMatter.fence
    }

    private init(entries: [Entry], fences: Fences, spacing: Int, rest: String) {
        self.entries = entries
        self.fences = fences
        self.spacing = spacing
        self.rest = rest
    }

    /// Creates front matter from a string. Without front matter, the whole text counts as the text below.
    init(_ text: String) {
        // A shortcut: most texts have no front matter, and some are long.
        let isPossible = text.utf8.starts(with: Self.fence.utf8) || text.utf8.starts(with: Self.byteOrderMark.utf8)
        let lines = isPossible ? text.lines : []
        guard let first = lines.first, Self.isFence(first, after: Self.byteOrderMark), let end = Self.end(of: lines)
        else {
            rest = text
            spacing = 0
            return
        }
        fences = Fences(first: first, last: lines[end])
        let below = lines[(end + 1)...]
        // After the last line end, there is no further line.
        spacing = below.dropLast().prefix(while: \.isBlank).count
        rest = below.dropFirst(spacing).joined(separator: text.lineEnd ?? "\n")
        entries = Self.entries(in: lines[1..<end])
        if Set(entries.map(\.key)).count < entries.count || Self.hasLineWithoutKey(lines[1..<end]) {
            entries = [Entry(key: "", text: lines[1..<end].joined(separator: "\n"))]
        }
    }

    /// Returns the position of the last line of front matter; `nil` if there is none.
    private static func end(of lines: [String]) -> Int? {
        let inside = lines.dropFirst().prefix(maxLineCount)
        let fence = inside.firstIndex { isFence($0) }
        // Other texts may begin with a line `---`, too, and have a line `...`.
        let end = inside.prefix(upTo: fence ?? inside.endIndex).firstIndex { isFence($0, of: documentEnd) }
        if let end, end > 1, !hasLineWithoutKey(lines[1..<end]) { return end }
        return fence
    }

    /// Whether a line is a mark, possibly after a prefix and before blanks.
    private static func isFence(_ line: String, of mark: String = fence, after prefix: String = "") -> Bool {
        var bytes = line.utf8[...]
        if bytes.starts(with: prefix.utf8) { bytes = bytes.dropFirst(prefix.utf8.count) }
        guard bytes.starts(with: mark.utf8) else { return false }
        return bytes.dropFirst(mark.utf8.count).allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// Returns the keys in some lines, with their comments and continuation lines.
    private static func entries(in lines: ArraySlice<String>) -> [Entry] {
        var entries: [Entry] = []
        var key: String?
        var begun: [String] = []
        for line in lines {
            let next = Self.key(of: line)
            // A comment belongs to the key below it.
            if let known = key, next != nil || line.hasPrefix("#") {
                entries.append(Entry(key: known, text: begun.joined(separator: "\n")))
                (key, begun) = (nil, [])
            }
            key = next ?? key
            begun.append(line)
        }
        if !begun.isEmpty { entries.append(Entry(key: key ?? "", text: begun.joined(separator: "\n"))) }
        return entries
    }

    /// Whether a line belongs to no key: neither below one, nor a comment.
    private static func hasLineWithoutKey(_ lines: ArraySlice<String>) -> Bool {
        var isBelowKey = false
        return lines.contains { line in
            if line.hasPrefix("#") {
                isBelowKey = false
            } else if key(of: line) != nil {
                isBelowKey = true
            } else {
                return !isBelowKey && !line.isBlank
            }
            return false
        }
    }

    /// Returns the key in a line; `nil` for other lines.
    private static func key(of line: String) -> String? {
        guard let first = line.utf8.first, ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "-")].contains(first),
            first != UInt8(ascii: "#"), let colon = line.firstIndex(of: ":")
        else { return nil }
        return String(line[..<colon])
    }

    private static let fence = "---"
    private static let documentEnd = "..."
    private static let byteOrderMark = "\u{FEFF}"
    private static let maxLineCount = 1_000

    /// The whole text.
    var text: String {
        guard !entries.isEmpty else { return rest }
        let blank = Array(repeating: "", count: spacing)
        return ([fences.first] + entries.flatMap(\.text.lines) + [fences.last] + blank + [rest])
            .joined(separator: rest.lineEnd ?? "\n")
    }

    /// Merges the front matter of several versions, and puts it above a text; `nil` if versions differ, and one has lines
    /// without a key, or one key twice, or if no alternative chosen by a version would stay.
    static func merged(base: FrontMatter?, versions: [FrontMatter], above rest: String) -> FrontMatter? {
        let old = base?.values ?? [:]
        let values = versions.map(\.values)
        let different = Set(values).subtracting([[:], old])
        if different.count > 1, different.contains(where: { $0[""] != nil }) { return nil }
        var entries: [Entry] = []
        let order = (base?.entries ?? []).map(\.key)
        for key in OrderedUnion.of(versions.map { $0.entries.map(\.key) }, or: order) {
            let there = values.map { $0[key] ?? [] }
            // Without a base, a missing value is not a deletion.
            let deleted = (old[key] ?? []).filter { value in there.contains { !$0.contains(value) } }
            // Different spellings of a value are equal. The first one in byte order is used.
            let spellings = there.joined().sorted { $0.precedesByBytes($1) }
            let kept = spellings.reduce(into: Set<String>()) { if !deleted.contains($1) { $0.insert($1) } }
            // A version with some of several alternatives has chosen them, and another version has deleted them.
            let isChoiceLost = there.contains {
                !$0.isEmpty && $0.isStrictSubset(of: old[key] ?? []) && $0.isDisjoint(with: kept)
            }
            if isChoiceLost { return nil }
            if !kept.isEmpty { entries.append(Entry(key: key, alternatives: kept)) }
        }
        let fences = Fences(
            first: mergedFence(\.first, base: base, versions), last: mergedFence(\.last, base: base, versions))
        let spacing = versions.map(\.spacing).max() ?? 0
        guard !entries.isEmpty, rest.utf8.first.map({ $0 <= UInt8(ascii: " ") }) ?? false else {
            return FrontMatter(entries: entries, fences: fences, spacing: spacing, rest: rest)
        }
        // Blank lines at the beginning count as spacing when the result is read.
        let lines = rest.lines
        let blank = lines.dropLast().prefix(while: \.isBlank).count
        return FrontMatter(
            entries: entries, fences: fences, spacing: max(spacing, blank),
            rest: lines.dropFirst(blank).joined(separator: rest.lineEnd ?? "\n"))
    }

    /// Returns the fence changed since the base; of several ones the last in byte order.
    private static func mergedFence(
        _ fence: KeyPath<Fences, String>, base: FrontMatter?, _ versions: [FrontMatter]
    ) -> String {
        let all = versions.filter { !$0.entries.isEmpty }.map { $0.fences[keyPath: fence] }
        let old = base.flatMap { $0.entries.isEmpty ? nil : $0.fences[keyPath: fence] }
        let changed = all.filter { text in old.map { !text.hasSameBytes(as: $0) } ?? true }
        return changed.max { $0.precedesByBytes($1) } ?? old ?? Self.fence
    }

    private var values: [String: Set<String>] {
        Dictionary(entries.map { ($0.key, $0.alternatives) }, uniquingKeysWith: { first, _ in first })
    }
}

extension FrontMatter.Entry {
    /// Creates a key with several alternatives.
    init(key: String, alternatives: Set<String>) {
        let ordered = alternatives.sorted { $0.precedesByBytes($1) }
        let others = ordered.dropLast().flatMap(\.lines).map { Self.mark + $0 }
        self.init(key: key, text: (others + ordered.suffix(1)).joined(separator: "\n"))
    }

    /// The value, and those in comments above it.
    var alternatives: Set<String> {
        let others = text.lines.filter { $0.hasPrefix(Self.mark) }
        guard !others.isEmpty else { return [text] }
        let own = text.lines.filter { !$0.hasPrefix(Self.mark) }.joined(separator: "\n")
        let entries = FrontMatter.entries(in: others.map { String($0.dropFirst(Self.mark.count)) }[...])
        return Set(entries.map(\.text) + [own]).subtracting([""])
    }

    private static let mark = "# recollect:or "
}
