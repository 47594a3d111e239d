import Foundation
import RecollectCore

/// A section of a Markdown text, for additions at its end. The rest of the text stays unchanged.
struct MarkdownSections {
    private let heading: String

    /// Creates a section from its heading.
    /// - Throws: `invalidArgument` for a heading that is not one line of text, or begins with `#`.
    init(heading: String) throws {
        self.heading = heading.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !self.heading.isEmpty, !self.heading.contains(where: \.isNewline), self.heading.first != "#" else {
            throw RecollectError(.invalidArgument, "a heading must be one line of text, without # before it")
        }
    }

    /// Returns the text with lines added at the end of the section. Their line ends match the text's first line.
    func adding(_ addition: String, to text: String) -> String {
        // The text is split as bytes, because a Windows line end is a single character.
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        if lines.last == "" { lines.removeLast() }
        let end = lines.first?.utf8.last == UInt8(ascii: "\r") ? "\r" : ""
        let added = addition.trimmingCharacters(in: .newlines).lines.map { $0 + end }
        let headings = Self.headings(in: lines)
        guard let start = headings.first(where: { $0.text == heading }) else {
            while lines.last.map(Self.isBlank) ?? false { lines.removeLast() }
            lines += (lines.isEmpty ? [] : [end]) + ["## " + heading + end, end] + added
            return lines.joined(separator: "\n") + "\n"
        }
        let next = headings.first { $0.line > start.line && $0.level <= start.level }?.line ?? lines.count
        var position = next
        while position > start.line + 1, Self.isBlank(lines[position - 1]) { position -= 1 }
        let isEmpty = position == start.line + 1
        // An empty line remains between the section and the following heading.
        let isTight = position == next && next < lines.count
        lines.insert(contentsOf: (isEmpty ? [end] : []) + added + (isTight ? [end] : []), at: position)
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Heading {
        let line: Int
        let level: Int
        let text: String
    }

    /// Returns the `#` headings outside code blocks.
    private static func headings(in lines: [String]) -> [Heading] {
        var fence: CodeFence?
        return lines.enumerated().compactMap { number, line in
            if let open = fence {
                if open.isClosed(by: line.utf8) { fence = nil }
                return nil
            }
            fence = CodeFence(line.utf8)
            guard fence == nil else { return nil }
            let level = line.prefix { $0 == "#" }.count
            guard (1...6).contains(level), line.dropFirst(level).first?.isWhitespace ?? false else { return nil }
            let title = line.dropFirst(level).trimmingCharacters(in: .whitespacesAndNewlines)
            return Heading(line: number, level: level, text: title)
        }
    }

    private static func isBlank(_ line: String) -> Bool { line.allSatisfy(\.isWhitespace) }
}
