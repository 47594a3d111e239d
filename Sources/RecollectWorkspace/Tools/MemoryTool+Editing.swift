import RecollectCore

extension MemoryTool {
    func create(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        let target = try input.path("path")
        let text = try input.text("file_text")
        let exists = MemoryFailure("File \(target.text) already exists")
        guard !target.isRoot else { throw exists }
        if let item = try await item(at: target.path) {
            // A repetition of a creation that may not be durable is no error.
            guard !item.isFolder, try await isInDoubt(target.path) else { throw exists }
        }
        do {
            let file = try await workspace.write(text, to: target.path, replacing: nil, by: author)
            viewed.note(file.version, of: target.path, in: session)
        } catch let error as UnconfirmedChangeError {
            viewed.note(error.version, of: target.path, in: session)
            throw error
        } catch is FileChangedError {
            // Another process created it since.
            throw exists
        }
        return "File created successfully at: \(target.text)"
    }

    private func isInDoubt(_ path: WorkspacePath) async throws -> Bool {
        try await workspace.reading { [workspace] in try workspace.archive.unconfirmedChange(at: path) != nil }
    }

    func replace(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        let target = try input.path("path")
        let (old, new) = (try input.text("old_str"), try input.text("new_str"))
        let oldBytes = Array(old.utf8)
        let newBytes = Array(new.utf8)
        let replaced = try await edit(target, session) { _, text in
            guard let position = text.position(of: oldBytes) else {
                throw MemoryFailure(
                    "No replacement was performed, old_str `\(old)` did not appear verbatim in \(target.text).")
            }
            guard !text.isRepeated(oldBytes) else {
                let lines = text.lineNumbers(of: oldBytes, limit: Self.maxOccurrences).map { String($0) }
                throw MemoryFailure(
                    "No replacement was performed. Multiple occurrences of old_str `\(old)` in lines: "
                        + "\(lines.joined(separator: ", ")). Please ensure it is unique")
            }
            return (text.replacing(oldBytes, at: position, with: newBytes), text.lineEnds(before: position))
        }
        let lines = MemoryText(replaced.bytes).lines
        return numbered(
            lines, in: max(0, replaced.line - 2)..<min(lines.count, replaced.line + 3),
            after: "The memory file has been edited. Here is the snippet showing the change (with line numbers):")
    }

    func insert(_ input: MemoryInput, _ session: SessionKey?) async throws -> String {
        let target = try input.path("path")
        let (line, inserted) = (try input.number("insert_line"), try input.text("insert_text"))
        _ = try await edit(target, session) { [viewed] file, text in
            guard 0...text.lineCount ~= line else {
                throw MemoryFailure(
                    "Invalid `insert_line` parameter: \(line). It should be within the range [0, \(text.lineCount)].")
            }
            let known = viewed.version(of: target.path, in: session)
            guard known == file.version else {
                let reason = known == nil ? "has not been viewed in this session" : "has changed since you viewed it"
                throw MemoryFailure(
                    "No text was inserted: \(target.text) \(reason), so its line numbers may be different. View it, and insert again."
                )
            }
            return (text.inserting(Array(inserted.utf8), after: line), line)
        }
        return "The file \(target.text) has been edited."
    }

    /// Edits the current text of a file. Starts again if the file changed in between.
    /// - Parameter change: Returns the new content, and the number of a line for the result. It may be called several
    ///   times.
    private func edit(
        _ target: MemoryPath, _ session: SessionKey?,
        _ change: @escaping @Sendable (WorkspaceFile, MemoryText) throws -> (bytes: [UInt8], line: Int)
    ) async throws -> (bytes: [UInt8], line: Int) {
        guard
            let item = try await item(at: target.path)
                ?? (target.isRoot ? WorkspaceItem(path: folder, isFolder: true) : nil)
        else { throw missing(target, advice: " Please provide a valid path.") }
        guard !item.isFolder else { throw MemoryFailure("The path \(target.text) is not a file.") }
        if item.state == .notLocal { _ = try await workspace.read(target.path, download: download) }
        let made = Locked<(base: ContentHash, line: Int)?>(nil)
        let file = try await workspace.update(target.path, by: author) { file in
            guard let file else {
                throw MemoryFailure(
                    "The file \(target.text) no longer exists (may have been deleted or renamed concurrently).")
            }
            let result = try change(file, text(of: file, target))
            made.withLock { $0 = (file.version, result.line) }
            return result.bytes
        }
        guard let made = made.withLock({ $0 }) else { return (file.bytes, 0) }
        viewed.note(file.version, replacing: made.base, of: target.path, in: session)
        return (file.bytes, made.line)
    }

    /// The maximum number of line numbers in the message about a string that is not unique.
    private static let maxOccurrences = 1_000
}
