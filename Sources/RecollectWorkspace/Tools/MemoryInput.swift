import Foundation
import RecollectCore

/// The input of a memory command. Unknown members are ignored: newer versions of the tool may add some.
struct MemoryInput {
    private let members: [String: JSONValue]
    private let folder: WorkspacePath

    init(_ input: JSONValue, folder: WorkspacePath) {
        members = input.objectValue ?? [:]
        self.folder = folder
    }

    /// Returns a required string, possibly empty.
    func text(_ name: String) throws -> String {
        guard let value = members[name], value != .null else {
            throw MemoryFailure("The parameter `\(name)` is missing.")
        }
        guard let text = value.stringValue else { throw MemoryFailure("The parameter `\(name)` must be a string.") }
        return text
    }

    func number(_ name: String) throws -> Int {
        guard let value = members[name], value != .null else {
            throw MemoryFailure("The parameter `\(name)` is missing.")
        }
        guard let number = value.integerValue.flatMap({ Int(exactly: $0) }) else {
            throw MemoryFailure("The parameter `\(name)` must be an integer.")
        }
        return number
    }

    func path(_ name: String) throws -> MemoryPath { try MemoryPath(text(name), in: folder) }

    /// Returns the positions of the lines to view, within a number of lines. A range of any other length than 2 is
    /// ignored, and a negative end counts from the end, -1 for all lines.
    func range(of count: Int) throws -> Range<Int> {
        guard let range = members["view_range"]?.arrayValue, range.count == 2 else { return 0..<count }
        let numbers = range.compactMap { $0.integerValue.flatMap { Int(exactly: $0) } }
        guard numbers.count == 2 else { throw MemoryFailure("The parameter `view_range` must have two integers.") }
        let start = min(max(1, numbers[0]) - 1, count)
        let end =
            numbers[1] == -1 ? count : numbers[1] < 0 ? max(0, count + max(numbers[1], -count)) : min(numbers[1], count)
        return start..<max(start, end)
    }

    /// Returns a message with the paths as written by the model in place of those in the workspace.
    func withModelPaths(_ message: String) -> String {
        // Paths in the root may be ordinary words.
        guard folder != .root else { return message }
        // An invalid path names nothing in the workspace.
        let paths = ["path", "old_path", "new_path"].compactMap { try? path($0) }
        return paths.sorted { $0.path.description.utf8.count > $1.path.description.utf8.count }.reduce(message) {
            $0.replacingOccurrences(of: $1.path.description, with: $1.prefix)
        }
    }
}
