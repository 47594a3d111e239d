import Foundation
import RecollectCore

/// Folds several contents of one file into one, the same on every device.
public enum WorkspaceMerge {
    /// The content that all of some versions become.
    ///
    /// The order of the versions does not matter, folding a result with a version it came from changes nothing, and folding in steps
    /// gives what folding at once gives. A day of the journal unites by its entries, a chat by its messages, other Markdown and plain
    /// text by headings and lines. Of everything else, of Research, which is written once, and of text that is not UTF-8
    /// nothing is merged: all versions have to be kept.
    /// - Parameters:
    ///   - base: What the versions came from, where that is known: what it holds and a version does not, was deleted there.
    ///   - versions: The contents, at least one.
    ///   - path: Whose contents: decides by which structure they unite.
    /// - Returns: `nil` where the versions cannot be one.
    public static func merged(base: [UInt8]?, versions: [[UInt8]], at path: WorkspacePath) -> [UInt8]? {
        let different = Set(versions)
        guard different.count > 1 else { return different.first }
        switch Structure(of: path) {
        case .journal:
            return JournalMerge.merged(base: base, versions: Array(different), on: String(path.name.dropLast(3)))
        case .chat: return ChatProjection.merged(base: base, versions: Array(different))
        case .text:
            let texts = different.compactMap { String(validUTF8: $0) }
            guard texts.count == different.count else { return nil }
            return Array(MarkdownMerge.merged(base: base.flatMap { String(validUTF8: $0) }, versions: texts).utf8)
        case .opaque: return nil
        }
    }

    /// Whether a content has the structure by which its file is merged: a day of the journal that is text, a chat that can be read.
    static func canMerge(_ bytes: [UInt8], at path: WorkspacePath) -> Bool {
        switch Structure(of: path) {
        case .journal, .text: String(validUTF8: bytes) != nil
        case .chat: (try? ChatProjection(bytes: bytes)) != nil
        case .opaque: false
        }
    }

    /// What holds a file's content together.
    enum Structure {
        case journal, chat, text, opaque

        init(of path: WorkspacePath) {
            let names = path.names
            self =
                switch names.first {
                case "Journal" where names.count == 3 && names[2].hasSuffix(".md"): .journal
                case "Chats" where names.count == 2 && names[1].hasSuffix(".json"): .chat
                case "Research": .opaque
                default:
                    [".md", ".markdown", ".txt"].contains { path.name.lowercased().hasSuffix($0) } ? .text : .opaque
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
