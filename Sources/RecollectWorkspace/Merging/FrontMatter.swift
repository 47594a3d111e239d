import RecollectCore

/// The keys between two lines `---` at the beginning of a Markdown file, and what stands below.
///
/// Merged by keys: a block of alternatives would make YAML of another meaning of it, or none.
struct FrontMatter {
    /// What stands at a key, with the lines that belong to it.
    struct Entry: Hashable {
        let key: String
        /// The comments above the key's line, that line, and what continues it.
        let text: String
    }

    private(set) var entries: [Entry] = []
    /// How many blank lines stand between it and the text below.
    private let spacing: Int
    /// The text below.
    let rest: String

    private init(entries: [Entry], spacing: Int, rest: String) {
        self.entries = entries
        self.spacing = spacing
        self.rest = rest
    }

    /// Reads a text; without front matter all of it stands below.
    init(_ text: String) {
        // Most texts have none, and some are long.
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
            // Comments stand above what they are about.
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

    /// The key of a line that begins one.
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

    /// The entries of several versions above a text; `nil` where two gave a key different values.
    static func merged(base: FrontMatter?, versions: [FrontMatter], above rest: String) -> FrontMatter? {
        let old = base?.values ?? [:]
        let values = versions.map(\.values)
        var entries: [Entry] = []
        let order = (base?.entries ?? []).map(\.key)
        for key in OrderedUnion.of(versions.map { $0.entries.map(\.key) }, or: order) {
            // Without a base, a version that has no such key did not delete it.
            let there = values.map { $0[key] }.filter { base != nil || $0 != nil }
            let changed = Set(there.filter { $0 != old[key] })
            // Spellings of one value are equal; the lesser one by its bytes stays.
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
