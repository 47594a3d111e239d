import Foundation
import RecollectCore

/// Which files are copies that a sync service made because two devices changed one file, or made one folder.
///
/// A name that only a service gives says so anywhere. A name that people give too (`notes 2.md`) says so only where the name of the
/// original is not theirs to choose: `context.md`, the days of the journal, and what stands for an id, for `PlaceName` gives no id
/// such a name.
enum ConflictCopies {
    /// The file that a copy contradicts, or in whose folder it belongs; `nil` for what may be a file of its own.
    static func original(of path: WorkspacePath) -> WorkspacePath? {
        var names = path.names
        var isCopy = false
        for position in names.indices {
            let isFile = position == names.count - 1
            guard let original = original(of: names[position], in: names[..<position], isFile: isFile) else { continue }
            names[position] = original
            isCopy = true
        }
        return isCopy ? try? WorkspacePath(names.joined(separator: "/")) : nil
    }

    /// The file beside a file with a name like a copy's, whether or not people give such names, too.
    static func possibleOriginal(of path: WorkspacePath) -> WorkspacePath? {
        guard let parent = path.parent, let name = ConflictName(path.name) else { return nil }
        return try? parent.appending(name.original)
    }

    /// The copies among some items, with the file that each contradicts.
    ///
    /// Where a service takes names that differ in case alone for one, it gives the second of them a copy's name, and the file that it
    /// stands against has the other spelling.
    static func originals(among items: [WorkspaceItem]) -> [WorkspacePath: WorkspacePath] {
        var originals: [WorkspacePath: WorkspacePath] = [:]
        for item in items where !item.isFolder {
            if let original = original(of: item.path) { originals[item.path] = original }
        }
        guard !originals.isEmpty else { return [:] }
        let files = Set(items.lazy.filter { !$0.isFolder }.map(\.path))
        let astray = originals.filter { !files.contains($0.value) }
        guard !astray.isEmpty else { return originals }
        let twins = Dictionary(grouping: files.filter { originals[$0] == nil }, by: \.key)
        for (copy, original) in astray {
            if let twin = twins[original.key]?.min() { originals[copy] = twin }
        }
        return originals
    }

    /// A copy's original, read down from copies of copies; `nil` for what may be a name of its own.
    private static func original(of name: String, in folder: ArraySlice<String>, isFile: Bool) -> String? {
        var rest = name
        while let copy = ConflictName(rest) {
            if copy.isCertain || isOurs(copy.original, as: name, in: folder, isFile: isFile) { return copy.original }
            rest = copy.original
        }
        return nil
    }

    /// The folder that was made twice; `nil` for what may be a folder of its own.
    static func originalFolder(of path: WorkspacePath) -> WorkspacePath? {
        // As of a file in it: a folder's name is read as one.
        guard let inside = try? path.appending("x"), let original = original(of: inside) else { return nil }
        return original.parent
    }

    /// Whether an original's name at a place is one that Recollect gave, and the copy's is not.
    private static func isOurs(_ name: String, as copy: String, in folder: ArraySlice<String>, isFile: Bool) -> Bool {
        switch (folder.first, folder.count) {
        case (nil, _):
            return isFile ? name == "context.md" : ["Journal", "Research", "Chats"].contains(name)
        case ("Journal", 1):
            return !isFile && ["user", "agent"].contains(name)
        case ("Journal", 2):
            return isFile && JournalDay(fileName: name, in: .gmt) != nil
        case ("Chats", 1) where isFile:
            return isID(name, of: ".json") && !isID(copy, of: ".json")
        case ("Research", 1):
            return !isFile && isID(name, of: "") && !isID(copy, of: "")
        case ("Research", 2):
            return name == (isFile ? "full_text.txt" : "sources")
        case ("Research", 3):
            return isFile && isSource(name)
        default:
            return false
        }
    }

    /// Whether a name ends with a hyphen, eight digits of a hash and `.md`, as those that `ResearchPlace` gives do.
    private static func isSource(_ name: String) -> Bool {
        guard name.hasSuffix(".md") else { return false }
        let stem = name.utf8.dropLast(3)
        let digits = stem.suffix(8)
        return digits.count == 8 && stem.dropLast(8).last == UInt8(ascii: "-")
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isID(_ name: String, of suffix: String) -> Bool {
        name.hasSuffix(suffix) && PlaceName.id(of: String(name.dropLast(suffix.count))) != nil
    }
}
