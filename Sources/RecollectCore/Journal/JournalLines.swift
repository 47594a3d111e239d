/// The lines of a day's file, without line feeds. Headings in a fenced code block are text of an entry.
///
/// A block without an end, or with the heading of an entry written by Recollect before its end, is no code block:
/// otherwise a person's missing line would hide the entries below it. Takes linear time for any text.
package struct JournalLines: Sequence, IteratorProtocol {
    private let bytes: ArraySlice<UInt8>
    /// The first byte of the next line.
    private var position: Int
    /// The first byte after the current code block.
    private var endOfCode: Int
    /// The first byte after the lines searched for the ends of code blocks: up to the next heading of an entry written by
    /// Recollect.
    private var endOfSearch: Int
    /// The lines that may end a code block, by their mark, the last one first.
    private var closings: [UInt8: [Closing]] = [:]

    /// A line that may end a code block.
    private struct Closing {
        let fence: CodeFence
        let range: Range<Int>
        /// The greatest number of marks in this line and those after it.
        var greatest: Int
    }

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
        endOfCode = bytes.startIndex
        endOfSearch = bytes.startIndex
    }

    package mutating func next() -> (line: ArraySlice<UInt8>, isCode: Bool)? {
        guard position < bytes.endIndex else { return nil }
        let line = line(at: position)
        let isCode = position < endOfCode
        position = end(of: line)
        if !isCode, let fence = CodeFence(line) { open(fence) }
        return (line, isCode)
    }

    private func line(at start: Int) -> ArraySlice<UInt8> {
        bytes[start..<(bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex)]
    }

    /// The first byte after a line and its line feed.
    private func end(of line: ArraySlice<UInt8>) -> Int {
        Swift.min(line.endIndex + 1, bytes.endIndex)
    }

    /// Finds the end of a code block with its first line before the position.
    private mutating func open(_ fence: CodeFence) {
        if position > endOfSearch { findClosings() }
        var lines = closings[fence.mark] ?? []
        closings[fence.mark] = nil
        defer { closings[fence.mark] = lines }
        while let next = lines.last, next.greatest >= fence.count || next.range.lowerBound < position {
            if next.range.lowerBound >= position, next.fence.isClosing(fence) {
                endOfCode = next.range.upperBound
                return
            }
            lines.removeLast()
        }
    }

    /// Finds the lines that may end a code block, up to the next heading of an entry written by Recollect.
    private mutating func findClosings() {
        closings = [:]
        endOfSearch = position
        while endOfSearch < bytes.endIndex {
            let line = line(at: endOfSearch)
            if line.first == UInt8(ascii: "#"), JournalHeadingLine(String(decoding: line, as: UTF8.self))?.id != nil {
                break
            }
            let end = end(of: line)
            if let fence = CodeFence(line), fence.isClosed(by: line) {
                closings[fence.mark, default: []].append(
                    Closing(fence: fence, range: endOfSearch..<end, greatest: fence.count))
            }
            endOfSearch = end
        }
        for (mark, lines) in closings {
            var lines = Array(lines.reversed())
            for index in lines.indices.dropFirst() {
                lines[index].greatest = Swift.max(lines[index].greatest, lines[index - 1].greatest)
            }
            closings[mark] = lines
        }
    }
}
