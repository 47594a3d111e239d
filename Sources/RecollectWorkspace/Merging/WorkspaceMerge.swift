import Foundation
import RecollectCore

/// Merges several contents of one file, with the same result on every device.
package enum WorkspaceMerge {
    /// Merges versions of a file.
    ///
    /// The order of the versions does not matter. Merging a result with one of its versions gives the same result.
    /// A day of the journal merges by entries, a chat by messages, Markdown by headings and lines, plain text by
    /// lines. Research, other files, text with invalid UTF-8, and texts with more than five million lines in all are
    /// never merged. The result of a text merge is checked. The merge fails if a line is missing without a deletion in a version, or if lines are moved
    /// without a move in a version. Markdown is merged by lines alone if the merge by headings fails this check or
    /// repeats lines. Contradicting changes in a chat do not fail the merge: the result has one of them.
    /// - Parameters:
    ///   - base: A common ancestor, if one is known. Content of the base missing in a version was deleted there.
    ///   - versions: The contents, at least one.
    ///   - path: The file's path. It determines the structure for the merge.
    /// - Returns: `nil` if the versions cannot be merged.
    package static func merged(base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath) -> [UInt8]? {
        mergedAndChecked(base: base, versions: versions, at: path)?.bytes
    }

    /// The result of a merge, and the content missing in it.
    struct Result {
        let bytes: [UInt8]
        /// The lines assumed deleted: lines of the versions missing in the result. For a chat, the texts of deleted
        /// messages.
        let deleted: [String]
        /// The versions with a change or a message missing in the result. They are kept beside the file. Only chats
        /// have such versions.
        var apart: [[UInt8]] = []
    }

    /// Merges like `merged`. Also returns the content missing in the result.
    /// - Parameter maxLineCount: The maximum number of lines of all versions of a text. With more, a merge could take
    ///   longer than ten seconds.
    static func mergedAndChecked(
        base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath, maxLineCount: Int = 5_000_000
    ) -> Result? {
        // Sorted, so that all devices get the same result.
        let ordered = versions.sorted { $0.lexicographicallyPrecedes($1) }.reduce(into: [[UInt8]]()) {
            ordered, version in
            if ordered.last != version { ordered.append(version) }
        }
        guard ordered.count > 1 else { return ordered.first.map { Result(bytes: $0, deleted: []) } }
        let structure = Structure(of: path)
        guard structure != .chat else { return ChatProjection.mergedAndChecked(base: base, versions: ordered) }
        let texts = ordered.compactMap { String(validUTF8: $0) }
        guard texts.count == ordered.count, !texts.contains(where: \.hasEndlessLetters),
            ordered.reduce(0, { $0 + $1.count { $0 == UInt8(ascii: "\n") } }) <= maxLineCount
        else { return nil }
        let root = base.flatMap { String(validUTF8: $0) }
        switch structure {
        case .journal:
            let (merged, inputs) = concurrently(
                { JournalMerge.merged(base: base, versions: ordered, on: String(path.name.dropLast(3))) },
                { MergeCheck.Inputs(texts, base: root, isJournal: true) })
            return merged.flatMap { merged in
                let check = MergeCheck(String(decoding: merged, as: UTF8.self), of: inputs)
                return check.isPassed ? Result(bytes: merged, deleted: check.deleted) : nil
            }
        case .markdown: return merged(base: root, texts, as: .markdown, else: .withoutHeadings)
        case .lines: return merged(base: root, texts, as: .plain)
        case .chat, .opaque: return nil
        }
    }

    /// Returns the first merge to pass the check without repeating lines, else the first to pass.
    private static func merged(
        base: String?, _ versions: [String], as syntax: MarkdownSection.Syntax,
        else other: MarkdownSection.Syntax? = nil
    ) -> Result? {
        let (first, inputs) = concurrently(
            { text(base: base, versions, as: syntax) }, { MergeCheck.Inputs(versions, base: base, isJournal: false) })
        var repeating: Result?
        for merged in [{ first }, { other.flatMap { text(base: base, versions, as: $0) } }] {
            guard let text = merged() else { continue }
            let check = MergeCheck(text, of: inputs)
            guard check.isPassed else { continue }
            let result = Result(bytes: Array(text.utf8), deleted: check.deleted)
            if !check.repeatsLines { return result }
            repeating = repeating ?? result
        }
        return repeating
    }

    /// Returns the results of two computations, the second one on another thread if one is free.
    private static func concurrently<First: Sendable, Second: Sendable>(
        _ first: @Sendable () -> First, _ second: @Sendable () -> Second
    ) -> (First, Second) {
        let results = (Locked<First?>(nil), Locked<Second?>(nil))
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            if number == 0 {
                let result = first()
                results.0.withLock { $0 = result }
            } else {
                let result = second()
                results.1.withLock { $0 = result }
            }
        }
        guard let one = results.0.withLock(\.self), let other = results.1.withLock(\.self) else {
            preconditionFailure("each iteration runs")
        }
        return (one, other)
    }

    /// Merges texts. Markdown is merged below its front matter.
    private static func text(base: String?, _ versions: [String], as syntax: MarkdownSection.Syntax) -> String? {
        if syntax == .plain { return MarkdownMerge.merged(base: base, versions: versions, as: syntax) }
        let (root, parts) = (base.map(FrontMatter.init), versions.map(FrontMatter.init))
        return MarkdownMerge.merged(base: root?.rest, versions: parts.map(\.rest), as: syntax).flatMap { rest in
            FrontMatter.merged(base: root, versions: parts, above: rest)?.text
        }
    }

    /// Whether content has the structure of its file: text, or a readable chat.
    static func canMerge(_ bytes: [UInt8], at path: WorkspacePath) -> Bool {
        switch Structure(of: path) {
        case .journal, .markdown, .lines: String(validUTF8: bytes).map { !$0.hasEndlessLetters } ?? false
        case .chat: (try? ChatProjection(bytes: bytes)) != nil
        case .opaque: false
        }
    }

    /// The structure of a file's content.
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
    /// Creates a string from valid UTF-8 bytes; `nil` for other bytes. (`String(validating:as:)` needs iOS 18.)
    init?(validUTF8 bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}

extension String {
    /// Whether a letter has so many combining marks as to make composing slow without bound. (Unicode's
    /// stream-safe text has at most 30: UAX #15, 13.)
    var hasEndlessLetters: Bool {
        var marks = 0
        guard hasLongRunOfOtherThanASCII else { return false }
        for scalar in unicodeScalars {
            marks = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered ? marks + 1 : 0
            if marks > 30 { return true }
        }
        return false
    }

    /// Whether more than 30 marks in a row are possible. Each takes at least two bytes.
    private var hasLongRunOfOtherThanASCII: Bool {
        var length = 0
        for byte in utf8 {
            length = byte < 0x80 ? 0 : length + 1
            if length > 60 { return true }
        }
        return false
    }
}
