import Foundation
import RecollectCore

/// Folds several contents of one file into one, the same on every device.
public enum WorkspaceMerge {
    /// The content that all of some versions become.
    ///
    /// The order of the versions does not matter. Folding a result with one of its versions changes nothing. A day of the
    /// journal merges by entries, a chat by messages, Markdown by headings and lines, plain text by lines. Research, other
    /// files, and text that is not UTF-8 are never merged. Neither are texts if a check of the result finds a line missing
    /// that no version deleted, or lines moved that no version moved. Markdown is merged by lines alone if a merge by headings
    /// does not pass this check or repeats lines.
    /// - Parameters:
    ///   - base: What the versions came from, where that is known: what it holds and a version does not, was deleted there.
    ///   - versions: The contents, at least one.
    ///   - path: Whose contents: decides by which structure they unite.
    /// - Returns: `nil` where the versions cannot be one.
    public static func merged(base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath) -> [UInt8]? {
        mergedAndChecked(base: base, versions: versions, at: path)?.bytes
    }

    /// A merge's result, and what it does not hold.
    struct Result {
        let bytes: [UInt8]
        /// The lines of the versions that were taken for deleted.
        let deleted: [String]
        /// The versions of which the result lacks something that nobody deleted.
        var apart: [[UInt8]] = []
    }

    /// `merged`, and what the result does not hold.
    static func mergedAndChecked(base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath) -> Result? {
        let different = Set(versions)
        guard different.count > 1 else { return different.first.map { Result(bytes: $0, deleted: []) } }
        // In one order, so that devices decide alike.
        let ordered = different.sorted { $0.lexicographicallyPrecedes($1) }
        let structure = Structure(of: path)
        guard structure != .chat else { return ChatProjection.mergedAndChecked(base: base, versions: ordered) }
        let texts = ordered.compactMap { String(validUTF8: $0) }
        guard texts.count == ordered.count, !texts.contains(where: \.hasEndlessLetters) else { return nil }
        let root = base.flatMap { String(validUTF8: $0) }
        switch structure {
        case .journal:
            let merged = JournalMerge.merged(base: base, versions: ordered, on: String(path.name.dropLast(3)))
            return merged.flatMap { merged in
                let text = String(decoding: merged, as: UTF8.self)
                let check = MergeCheck(text, of: texts, base: root, isJournal: true)
                return check.isPassed ? Result(bytes: merged, deleted: check.deleted) : nil
            }
        case .markdown: return merged(base: root, texts, as: [.markdown, .withoutHeadings])
        case .lines: return merged(base: root, texts, as: [.plain])
        case .chat, .opaque: return nil
        }
    }

    /// The first merge that passes the check and repeats no lines, else the first that passes.
    private static func merged(
        base: String?, _ versions: [String], as syntaxes: [MarkdownSection.Syntax]
    ) -> Result? {
        var repeating: Result?
        for syntax in syntaxes {
            guard let text = text(base: base, versions, as: syntax) else { continue }
            let check = MergeCheck(text, of: versions, base: base, isJournal: false)
            guard check.isPassed else { continue }
            let result = Result(bytes: Array(text.utf8), deleted: check.deleted)
            if !check.repeatsLines { return result }
            repeating = repeating ?? result
        }
        return repeating
    }

    /// A merged text; Markdown below its front matter.
    private static func text(base: String?, _ versions: [String], as syntax: MarkdownSection.Syntax) -> String? {
        if syntax == .plain { return MarkdownMerge.merged(base: base, versions: versions, as: syntax) }
        let (root, parts) = (base.map(FrontMatter.init), versions.map(FrontMatter.init))
        return MarkdownMerge.merged(base: root?.rest, versions: parts.map(\.rest), as: syntax).flatMap { rest in
            FrontMatter.merged(base: root, versions: parts, above: rest)?.text
        }
    }

    /// Whether a content has the structure by which its file is merged: text, or a chat that can be read.
    static func canMerge(_ bytes: [UInt8], at path: WorkspacePath) -> Bool {
        switch Structure(of: path) {
        case .journal, .markdown, .lines: String(validUTF8: bytes).map { !$0.hasEndlessLetters } ?? false
        case .chat: (try? ChatProjection(bytes: bytes)) != nil
        case .opaque: false
        }
    }

    /// What holds a file's content together.
    enum Structure {
        case journal, chat, markdown, lines, opaque

        init(of path: WorkspacePath) {
            let names = path.names
            self =
                switch names.first {
                case "Journal" where names.count == 3 && names[2].hasSuffix(".md"): .journal
                case "Chats" where names.count == 2 && names[1].hasSuffix(".json"): .chat
                case "Research": .opaque
                default:
                    switch path.name.lowercased() {
                    case let name where name.hasSuffix(".md") || name.hasSuffix(".markdown"): .markdown
                    case let name where name.hasSuffix(".txt"): .lines
                    default: .opaque
                    }
                }
        }
    }
}

extension String {
    /// The text of bytes that are UTF-8. (`String(validating:as:)` needs iOS 18.)
    init?(validUTF8 bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}

extension String {
    /// Whether a letter has so many marks that composing it takes time without end. (Unicode's stream-safe text has 30 at most:
    /// UAX #15, 13.)
    var hasEndlessLetters: Bool {
        var marks = 0
        for scalar in unicodeScalars {
            marks = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered ? marks + 1 : 0
            if marks > 30 { return true }
        }
        return false
    }
}
