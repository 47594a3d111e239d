import RecollectCore
import RecollectFileSystem

/// The items of a workspace in an open folder.
struct Listing {
    private let folder: OpenFolder
    private let path: WorkspacePath
    private let hasChangeDates: Bool

    init(_ folder: OpenFolder, at path: WorkspacePath) {
        self.folder = folder
        self.path = path
        hasChangeDates = folder.hasChangeDates
    }

    /// Returns all items. Several forms of one name are one item, marked as conflicted. Of several folders, it has the items
    /// of the first one.
    func items() throws -> [WorkspaceItem] {
        var items: [WorkspaceItem] = []
        // Items with possibly more than one name on disk.
        var forms: [WorkspacePath: WorkspaceItem] = [:]
        var placeholders: [WorkspacePath: WorkspaceItem] = [:]
        for name in try folder.names() {
            let original = Placeholder.original(of: name)
            // Skips names not allowed in a workspace: temporary, hidden, excluded from sync.
            guard let itsPath = try? path.appending(original ?? name), let entry = try folder.entry(name) else {
                continue
            }
            if original != nil {
                placeholders[itsPath] = placeholder(entry, at: itsPath)
                continue
            }
            guard let item = item(entry, at: itsPath) else { continue }
            if name.isASCII {
                items.append(item)
            } else if forms[itsPath] == nil {
                forms[itsPath] = item
            } else if let variant = try self.item(at: itsPath) {
                forms[itsPath] = variant
            }
        }
        let others = placeholders.merging(forms) { _, file in file }
        guard !others.isEmpty else { return items }
        let there = Set(items.map(\.path))
        return items + others.filter { !there.contains($0.key) }.values
    }

    /// Returns the names left out by `items`, except for hidden and temporary ones, and for other forms of a file's name.
    func unlistedNames() throws -> [String] {
        let names = try folder.names(repairing: true)
        // `String` comparison ignores normalization, so a name with several forms is counted more than once.
        let counts = Dictionary(names.lazy.filter { !$0.isASCII }.map { ($0, 1) }, uniquingKeysWith: +)
        return try names.filter { name in
            if name.utf8.first == UInt8(ascii: ".") || FolderWatchRules.isTemporary(name) { return false }
            guard let itsPath = try? path.appending(name), let entry = try folder.entry(name) else { return true }
            if entry.kind == .other { return true }
            guard counts[name] ?? 1 > 1, let first = try FoundFile.name(itsPath.name, in: folder),
                !first.hasSameBytes(as: name)
            else { return false }
            return try entry.kind != .file || folder.entry(first)?.kind != .file
        }
    }

    /// Returns the item at a path; `nil` if there is none.
    func item(at path: WorkspacePath) throws -> WorkspaceItem? {
        guard let name = try FoundFile.name(path.name, in: folder), let entry = try folder.entry(name) else {
            return try folder.entry(Placeholder.name(for: path.name)).map { placeholder($0, at: path) }
        }
        let otherForms = try FoundFile.otherForms(of: path, in: folder, kind: entry.kind)
        return item(entry, at: path, isConflicted: !otherForms.isEmpty)
    }

    private func item(_ entry: FolderEntry, at path: WorkspacePath, isConflicted: Bool = false) -> WorkspaceItem? {
        switch entry.kind {
        case .other: nil
        case .folder:
            WorkspaceItem(
                path: path, isFolder: true, modified: entry.modified, state: isConflicted ? .conflicted : .local,
                stamp: "\(entry.stamp)")
        case .file:
            WorkspaceItem(
                path: path, size: entry.size, modified: entry.modified, changed: hasChangeDates ? entry.touched : nil,
                state: entry.isDataless ? .notLocal : isConflicted ? .conflicted : .local,
                stamp: "\(entry.stamp) \(entry.touched.timeIntervalSince1970)")
        }
    }

    private func placeholder(_ entry: FolderEntry, at path: WorkspacePath) -> WorkspaceItem {
        WorkspaceItem(path: path, modified: entry.modified, state: .notLocal, stamp: "\(entry.stamp)")
    }
}
