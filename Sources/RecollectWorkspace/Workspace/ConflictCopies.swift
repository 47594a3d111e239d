/// Which files are copies that a sync service made because two devices changed one file.
enum ConflictCopies {
    /// The file that a copy contradicts; `nil` for a file whose name may be one that a person gave.
    static func original(of path: WorkspacePath) -> WorkspacePath? {
        guard let parent = path.parent, let name = ConflictName(path.name), name.isCertain else { return nil }
        return try? parent.appending(name.original)
    }
}
