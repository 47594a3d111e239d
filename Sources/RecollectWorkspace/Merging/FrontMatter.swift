import RecollectCore

/// The front matter of a Markdown file: the keys between two lines `---` at its beginning. Also the text below.
///
/// Front matter is merged key by key. A conflict block would change the meaning of the YAML, or make it invalid.
struct FrontMatter {
    /// A key, with its lines.
    struct Entry: Hashable {
        let key: String
        /// The comments above the key's line, the line itself, and its continuation lines.
        let text: String
    }

    private(set) var entries: [Entry] = []
    /// The number of blank lines between the front matter and the text below.
    private let spacing: Int
    /// The text below.
    let rest: String

    private init(entries: [Entry], spacing: Int, rest: String) {
        self.entries = entries
        self.spacing = spacing
        self.rest = rest
    }

    /// Creates front matter from a text. Without front matter, the whole text counts as the text below.
    init(_ text: String) {
        // A shortcut: most texts have no front matter, and some are long.
        let lines = text.utf8.starts(with: Self.fence.utf8) ? text.lines : []
        guard lines.first == Self.fence,
            let end = lines.dropFirst().prefix(Self.mostLines).firstIndex(of: Self.fence)
        else {
            rest = text
            spacing = 0
            return
        }
        let below = lines[(end + 1)...]
        spacing = below.prefix(while: \.isBlank).count
        rest = below.dropFirst(spacing).joined(separator: text.lineEnd ?? "\n")
        var key: String?
        var begun: [String] = []
        for line in lines[1..<end] {
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
        if Set(entries.map(\.key)).count < entries.count {
            entries = [Entry(key: "", text: lines[1..<end].joined(separator: "\n"))]
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
    private static let mostLines = 1_000

    /// The whole text.
    var text: String {
        guard !entries.isEmpty else { return rest }
        let blank = Array(repeating: "", count: spacing)
        return ([Self.fence] + entries.flatMap(\.text.lines) + [Self.fence] + blank + [rest])
            .joined(separator: rest.lineEnd ?? "\n")
    }

    /// Merges the front matter of several versions, and puts it above a text; `nil` if two versions gave a key
    /// different values.
    static func merged(base: FrontMatter?, versions: [FrontMatter], above rest: String) -> FrontMatter? {
        let old = base?.values ?? [:]
        let values = versions.map(\.values)
        var entries: [Entry] = []
        let order = (base?.entries ?? []).map(\.key)
        for key in OrderedUnion.of(versions.map { $0.entries.map(\.key) }, or: order) {
            // Without a base, a missing key is not a deletion.
            let there = values.map { $0[key] }.filter { base != nil || $0 != nil }
            let changed = Set(there.filter { $0 != old[key] })
            // Different spellings of a value are equal. The first one in byte order is used.
            let written = Set(changed.compactMap { $0 })
            guard written.count < 2 else { return nil }
            let spelling = there.compactMap { $0 }.filter(written.contains).min { $0.precedesByBytes($1) }
            guard let text = spelling ?? (changed.isEmpty ? old[key] : nil) else { continue }
            entries.append(Entry(key: key, text: text))
        }
        return FrontMatter(entries: entries, spacing: versions.map(\.spacing).max() ?? 0, rest: rest)
    }

    private var values: [String: String] {
        Dictionary(entries.map { ($0.key, $0.text) }, uniquingKeysWith: { first, _ in first })
    }
}
