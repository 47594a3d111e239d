import RecollectCore

extension MemoryTool {
    func delete(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        let target = try input.path("path")
        guard !target.isRoot else { throw MemoryFailure("Cannot delete the /memories directory itself") }
        guard let item = try await item(at: target.path) else { throw missing(target) }
        var note = ""
        if item.isFolder {
            let isGone = try await workspace.writing { [workspace, author] in
                try workspace.writer.trashFolder(target.path, by: author)
            }
            note = isGone ? "" : remains(target)
        } else {
            try await trash(target)
        }
        viewed.note(nil, of: target.path, in: session)
        return "Successfully deleted \(target.text)\(note)"
    }

    /// Trashes the current content of a file.
    private func trash(_ target: MemoryPath) async throws {
        for _ in 0..<Self.maxAttempts {
            do {
                let file = try await workspace.read(target.path, download: download)
                return try await workspace.trash(target.path, replacing: file.version, by: author)
            } catch let error as FileChangedError where error.current != nil {
                continue
            } catch is FileChangedError {
                throw missing(target)
            } catch let error as RecollectError where error.code == .notFound {
                throw missing(target)
            }
        }
        throw busy(target)
    }

    func rename(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        let (old, new) = (try input.path("old_path"), try input.path("new_path"))
        guard !old.isRoot else { throw MemoryFailure("Cannot rename the /memories directory itself") }
        let exists = MemoryFailure("The destination \(new.text) already exists")
        guard !new.isRoot, try await item(at: new.path) == nil else { throw exists }
        guard let item = try await item(at: old.path) else { throw missing(old) }
        var note = ""
        if item.isFolder {
            guard !new.path.names.starts(with: old.path.names) else {
                throw MemoryFailure("Cannot rename \(old.text) to a path inside itself: \(new.text)")
            }
            let isGone = try await workspace.writing { [workspace, author] in
                try workspace.writer.moveFolder(old.path, to: new.path, by: author)
            }
            note = isGone ? "" : remains(old)
        } else {
            try await move(old, to: new, exists)
        }
        viewed.move(old.path, to: new.path, in: session)
        return "Successfully renamed \(old.text) to \(new.text)\(note)"
    }

    /// Moves the current content of a file.
    private func move(_ old: MemoryPath, to new: MemoryPath, _ exists: MemoryFailure) async throws {
        for _ in 0..<Self.maxAttempts {
            do {
                return try await workspace.move(old.path, to: new.path, by: author)
            } catch let error as FileChangedError {
                if try await item(at: new.path) != nil || error.path == new.path { throw exists }
            } catch let error as RecollectError where error.code == .notFound {
                throw missing(old)
            }
        }
        throw busy(old)
    }

    private func busy(_ target: MemoryPath) -> MemoryFailure {
        MemoryFailure("Other programs keep changing \(target.text). Try again when they are done.")
    }

    private func remains(_ target: MemoryPath) -> String {
        "\nThe directory \(target.text) remains: other files are in it, which this tool does not see."
    }

    private static let maxAttempts = 10
}
