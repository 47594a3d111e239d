import Foundation
import RecollectCore

/// Detection of conflict copies: files made by a sync service because two devices changed one file or created one
/// folder.
///
/// A name in an unambiguous form is a conflict copy anywhere. A name also given by people (`notes 2.md`) is one
/// only if Recollect gives the original's name, such as `context.md`, the days of the journal, and encoded IDs.
/// `FileNameEncoding` encodes no ID to the name of a conflict copy.
enum ConflictCopies {
    /// Returns the original of a conflict copy, or the path in the original folder for a file in a duplicate
    /// folder; `nil` for a possibly independent file.
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

    /// Returns the path of the original beside a file with a name like a conflict copy's, ambiguous or not.
    static func possibleOriginal(of path: WorkspacePath) -> WorkspacePath? {
        guard let parent = path.parent, let name = ConflictCopyName(path.name) else { return nil }
        return try? parent.appending(name.original)
    }

    /// Returns the conflict copies among some items, with the original of each.
    ///
    /// A service without distinction of case gives the second of two such names a conflict copy's name. The
    /// original is then the file with the other spelling.
    static func originals(among items: [WorkspaceItem]) -> [WorkspacePath: WorkspacePath] {
        var originals: [WorkspacePath: WorkspacePath] = [:]
        for item in items where !item.isFolder {
            if let original = original(of: item.path) { originals[item.path] = original }
        }
        guard !originals.isEmpty else { return [:] }
        let files = Set(items.lazy.filter { !$0.isFolder }.map(\.path))
        // A folder with the name of a file's copy is not a duplicate of a folder.
        originals = originals.filter { _, original in
            sequence(first: original, next: \.parent).dropFirst().allSatisfy { !files.contains($0) }
        }
        let astray = originals.filter { !files.contains($0.value) }
        guard !astray.isEmpty else { return originals }
        let nameCollisions = Dictionary(grouping: files.filter { originals[$0] == nil }, by: \.key)
        for (copy, original) in astray {
            if let variant = nameCollisions[original.key]?.min() { originals[copy] = variant }
        }
        return originals
    }

    /// Returns the original of a copy, or of a copy of a copy; `nil` for a possibly independent name.
    private static func original(of name: String, in folder: ArraySlice<String>, isFile: Bool) -> String? {
        var rest = name
        while let copy = ConflictCopyName(rest) {
            if copy.isCertain || isOurs(copy.original, as: name, in: folder, isFile: isFile) { return copy.original }
            rest = copy.original
        }
        return nil
    }

    /// Returns the original of a duplicate folder; `nil` for a possibly independent folder.
    static func originalFolder(of path: WorkspacePath) -> WorkspacePath? {
        // The rules for folders apply to the path of a file inside.
        guard let inside = try? path.appending("x"), let original = original(of: inside) else { return nil }
        return original.parent
    }

    /// Whether Recollect gives this original name in the folder, and does not give the copy's name.
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

    /// Whether a name ends with a hyphen, eight hash digits and `.md`, the form of `ResearchArea`.
    private static func isSource(_ name: String) -> Bool {
        guard name.hasSuffix(".md") else { return false }
        let stem = name.utf8.dropLast(3)
        let digits = stem.suffix(8)
        return digits.count == 8 && stem.dropLast(8).last == UInt8(ascii: "-")
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isID(_ name: String, of suffix: String) -> Bool {
        name.hasSuffix(suffix) && FileNameEncoding.id(of: String(name.dropLast(suffix.count))) != nil
    }
}
