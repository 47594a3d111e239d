import Foundation
import RecollectCore

extension MemoryTool {
    func view(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        let target = try input.path("path")
        guard let item = try await item(at: target.path) else {
            // The folder is created with its first file.
            guard target.isRoot else { throw missing(target, advice: " Please provide a valid path.") }
            return try listing([], of: target, input)
        }
        if item.isFolder { return try listing(await workspace.list(target.path, recursively: true), of: target, input) }
        let file = try await workspace.read(target.path, download: download)
        let lines = try text(of: file, target).lines
        guard lines.count <= Self.maxLineCount else {
            throw MemoryFailure("File \(target.text) exceeds maximum line limit of 999,999 lines.")
        }
        viewed.note(file.version, of: target.path, in: session)
        return numbered(
            lines, in: try input.range(of: lines.count),
            after: "Here's the content of \(target.text) with line numbers:")
    }

    /// Returns the text of a file.
    /// - Throws: A failure for a file other than text.
    func text(of file: WorkspaceFile, _ target: MemoryPath) throws -> MemoryText {
        guard file.bytes.isText else { throw MemoryFailure("The file \(target.text) is not a text file.") }
        return MemoryText(file.bytes)
    }

    func missing(_ target: MemoryPath, advice: String = "") -> MemoryFailure {
        MemoryFailure("The path \(target.text) does not exist\(advice.isEmpty ? "" : ".")\(advice)")
    }

    /// Returns lines with their numbers after a heading, as many as fit, and a note on the others.
    func numbered(_ lines: [ArraySlice<UInt8>], in range: Range<Int>, after heading: String) -> String {
        var text = heading + "\n"
        var rest = maxResultBytes - text.utf8.count - Self.noteLength
        for line in range {
            let number = String(line + 1)
            let start = String(repeating: " ", count: max(0, Self.numberWidth - number.count)) + number + "\t"
            let shown = (line > range.lowerBound ? "\n" : "") + start + String(decoding: lines[line], as: UTF8.self)
            rest -= shown.utf8.count
            if rest >= 0 {
                text += shown
                continue
            }
            // At least a part of the first line is shown, so that the next range leads on.
            let isFirst = line == range.lowerBound
            if isFirst { text += shown.prefix(bytes: max(0, shown.utf8.count + rest)) }
            let next = isFirst ? line + 2 : line + 1
            let part =
                isFirst
                ? "Only the beginning of line \(number) is shown: it has \(lines[line].count) bytes."
                : "Lines \(range.lowerBound + 1) to \(line) of \(lines.count) are shown."
            let advice = next > range.upperBound ? "" : " To view more, use view_range [\(next), \(range.upperBound)]."
            return text + "\n\n[\(part)\(advice)]"
        }
        return text
    }

    // MARK: Directories

    private func listing(_ items: [WorkspaceItem], of target: MemoryPath, _ input: MemoryInput) throws -> String {
        let children = Dictionary(grouping: items) { $0.path.parent ?? .root }
        var sizes: [WorkspacePath: Int] = [:]
        for item in items {
            var folder = item.path.parent
            while let path = folder, path.names.count >= target.path.names.count {
                sizes[path, default: 0] += item.size
                folder = path.parent
            }
        }
        func lines(of folder: WorkspacePath, _ prefix: String, levels: Int) -> [String] {
            let items = children[folder, default: []].sorted { $0.path.name.precedesByBytes($1.path.name) }
            return items.flatMap { item -> [String] in
                let name = prefix + item.path.name
                guard item.isFolder else { return ["\(Self.shown(item.size))\t\(name)"] }
                let content = levels > 1 ? lines(of: item.path, name + "/", levels: levels - 1) : []
                return ["\(Self.shown(sizes[item.path] ?? 0))\t\(name)/"] + content
            }
        }
        let heading =
            "Here're the files and directories up to 2 levels deep in \(target.text), excluding hidden items:\n"
            + "\(Self.shown(sizes[target.path] ?? 0))\t\(target.prefix)"
        let all = lines(of: target.path, target.prefix + "/", levels: 2)
        let range = try input.range(of: all.count)
        var text = heading
        for line in range {
            guard text.utf8.count + all[line].utf8.count + 1 <= maxResultBytes - Self.noteLength else {
                return text
                    + "\n\n[Items \(range.lowerBound + 1) to \(line) of \(all.count) are shown. To view more, use view_range [\(line + 1), \(range.upperBound)].]"
            }
            text += "\n" + all[line]
        }
        return text
    }

    /// Returns a size as in the results of Anthropic's tool: `0B`, `1.5K`.
    static func shown(_ size: Int) -> String {
        guard size > 0 else { return "0B" }
        let units = ["B", "K", "M", "G"]
        let unit = min((Int.bitWidth - size.leadingZeroBitCount - 1) / 10, units.count - 1)
        let count = Double(size) / Double(1 << (10 * unit))
        return (count == count.rounded() ? String(Int(count)) : String(format: "%.1f", count)) + units[unit]
    }

    private static let maxLineCount = 999_999
    private static let numberWidth = 6
    /// The bytes reserved for a note on what was left out.
    private static let noteLength = 200
}
