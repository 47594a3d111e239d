/// The lines of a day's file, without line feeds. Headings in a fenced code block are text of an entry.
///
/// A block without an end, or with the heading of an entry written by Recollect before its end, is no code block:
/// otherwise a person's missing line would hide the entries below it.
package struct JournalLines: Sequence, IteratorProtocol {
    private let bytes: ArraySlice<UInt8>
    /// The first byte of the next line.
    private var position: Int
    /// The first byte after the current code block.
    private var endOfCode: Int
    /// The fences without a code block, each with the end of the lines searched for its end.
    private var openFences: [(fence: CodeFence, end: Int)] = []

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
        endOfCode = bytes.startIndex
    }

    package mutating func next() -> (line: ArraySlice<UInt8>, isCode: Bool)? {
        guard position < bytes.endIndex else { return nil }
        let line = line(at: position)
        let isCode = position < endOfCode
        position = Swift.min(line.endIndex + 1, bytes.endIndex)
        if !isCode, let fence = CodeFence(line) { open(fence) }
        return (line, isCode)
    }

    private func line(at start: Int) -> ArraySlice<UInt8> {
        bytes[start..<(bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex)]
    }

    /// Finds the end of a code block with its first line before the position.
    private mutating func open(_ fence: CodeFence) {
        openFences.removeAll { $0.end <= position }
        // An earlier search found no end, so these lines are not searched again.
        if openFences.contains(where: { fence.isClosing($0.fence) }) { return }
        var start = position
        while start < bytes.endIndex {
            let line = line(at: start)
            let end = Swift.min(line.endIndex + 1, bytes.endIndex)
            if fence.isClosed(by: line) {
                endOfCode = end
                return
            }
            if line.first == UInt8(ascii: "#"), JournalHeadingLine(String(decoding: line, as: UTF8.self))?.id != nil {
                break
            }
            start = end
        }
        openFences.append((fence, start))
    }
}
