import Foundation
import RecollectCore

/// Folds several contents of one file into one, the same on every device.
public enum WorkspaceMerge {
    /// The content that all of some versions become.
    ///
    /// The order of the versions does not matter. Folding a result with one of its versions changes nothing. A day of the
    /// journal merges by entries, a chat by messages, Markdown by headings and lines, plain text by lines. Research, other
    /// files, and text that is not UTF-8 are never merged. Neither are texts if a check of the result finds a line missing
    /// that no version deleted, or lines moved.
    /// - Parameters:
    ///   - base: What the versions came from, where that is known: what it holds and a version does not, was deleted there.
    ///   - versions: The contents, at least one.
    ///   - path: Whose contents: decides by which structure they unite.
    /// - Returns: `nil` where the versions cannot be one.
    public static func merged(base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath) -> [UInt8]? {
        mergedAndChecked(base: base, versions: versions, at: path)?.bytes
    }

    /// `merged`, and the lines that were taken for deleted.
    static func mergedAndChecked(
        base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath
    ) -> (bytes: [UInt8], deleted: [String])? {
        let different = Set(versions)
        guard different.count > 1 else { return different.first.map { ($0, []) } }
        // In one order, so that devices decide alike.
        let ordered = different.sorted { $0.lexicographicallyPrecedes($1) }
        let structure = Structure(of: path)
        switch structure {
        case .opaque: return nil
        case .chat:
            return ChatProjection.merged(base: base, versions: ordered).map {
                ($0, ChatProjection.replaced(by: $0, base: base, versions: ordered))
            }
        case .journal, .markdown, .lines: break
        }
        let texts = ordered.compactMap { String(validUTF8: $0) }
        guard texts.count == ordered.count, !texts.contains(where: \.hasEndlessLetters) else { return nil }
        let root = base.flatMap { String(validUTF8: $0) }
        let merged: [UInt8]? =
            switch structure {
            case .journal:
                JournalMerge.merged(base: base, versions: ordered, on: String(path.name.dropLast(3)))
            case .markdown: markdown(base: root, versions: texts).map { Array($0.utf8) }
            default: Array(MarkdownMerge.merged(base: root, versions: texts, isPlain: true).utf8)
            }
        guard let merged else { return nil }
        let check = MergeCheck(
            String(decoding: merged, as: UTF8.self), of: texts, base: root, isJournal: structure == .journal)
        return check.isPassed ? (merged, check.deleted) : nil
    }

    /// Markdown below front matter.
    private static func markdown(base: String?, versions: [String]) -> String? {
        let (root, parts) = (base.map(FrontMatter.init), versions.map(FrontMatter.init))
        let rest = MarkdownMerge.merged(base: root?.rest, versions: parts.map(\.rest))
        return FrontMatter.merged(base: root, versions: parts, above: rest)?.text
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
