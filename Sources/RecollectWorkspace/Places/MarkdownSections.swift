import Foundation
import RecollectCore

/// Adds to what stands under a heading of a Markdown text, and changes nothing else in it.
struct MarkdownSections {
    private let heading: String

    /// - Throws: `invalidArgument` for a heading that is not one line of text.
    init(heading: String) throws {
        self.heading = heading.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !self.heading.isEmpty, !self.heading.contains(where: \.isNewline), self.heading.first != "#" else {
            throw RecollectError(.invalidArgument, "a heading is one line of text, without # before it")
        }
    }

    /// The text with some lines more at the end of the section.
    func adding(_ addition: String, to text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        let headings = Self.headings(in: lines)
        let added = addition.trimmingCharacters(in: .newlines)
        guard let start = headings.first(where: { $0.text == heading }) else {
            while lines.last.map(Self.isBlank) ?? false { lines.removeLast() }
            return (lines + (lines.isEmpty ? [] : [""]) + ["## " + heading, "", added, ""]).joined(separator: "\n")
        }
        var end = headings.first { $0.line > start.line && $0.level <= start.level }?.line ?? lines.count
        let isLast = end == lines.count
        while end > start.line + 1, Self.isBlank(lines[end - 1]) { end -= 1 }
        let isEmpty = end == start.line + 1
        lines.replaceSubrange(end..<end, with: (isEmpty ? [""] : []) + [added])
        // One empty line stays between the section and what follows it.
        if !isLast, end + (isEmpty ? 2 : 1) < lines.count, !Self.isBlank(lines[end + (isEmpty ? 2 : 1)]) {
            lines.insert("", at: end + (isEmpty ? 2 : 1))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Heading {
        let line: Int
        let level: Int
        let text: String
    }

    /// The headings that begin with `#`, those in blocks of code left out.
    private static func headings(in lines: [String]) -> [Heading] {
        var fence: String?
        return lines.enumerated().compactMap { number, line in
            let text = line.trimmingCharacters(in: .whitespaces)
            if let open = fence {
                if text.hasPrefix(open) { fence = nil }
                return nil
            }
            if text.hasPrefix("```") || text.hasPrefix("~~~") {
                fence = String(text.prefix(3))
                return nil
            }
            let level = line.prefix { $0 == "#" }.count
            guard (1...6).contains(level), line.dropFirst(level).first?.isWhitespace ?? false else { return nil }
            let title = line.dropFirst(level).trimmingCharacters(in: .whitespaces)
            return Heading(line: number, level: level, text: title)
        }
    }

    private static func isBlank(_ line: String) -> Bool { line.allSatisfy(\.isWhitespace) }
}
