import Foundation
import RecollectCore

/// The implementation of the tools.
extension WorkspaceTools {
    @Sendable func list(_ arguments: ToolArguments) async throws -> JSONValue {
        let folder = try arguments.text("folder").map { try WorkspacePath($0) } ?? .root
        let after = try arguments.text("after").map { try WorkspacePath($0) }
        let items = try await workspace.list(folder, recursively: try arguments.flag("recursive"))
        var files = BoundedList()
        for item in items where after.map({ $0 < item.path }) ?? true {
            guard files.add(entry(item)) else { break }
        }
        var result: [String: JSONValue] = ["files": .array(files.elements)]
        if files.isFull, let last = files.elements.last?["path"]?.stringValue {
            result["note"] = .string("There are more files. To continue, call list_files with after = \(last)")
        }
        return .object(result)
    }

    private func entry(_ item: WorkspaceItem) -> JSONValue {
        var entry: [String: JSONValue] = ["path": .string(item.path.description)]
        if item.isFolder {
            entry["folder"] = true
            if item.state == .unreadable { entry["state"] = .string(item.state.rawValue) }
        } else {
            entry["bytes"] = .integer(Int64(item.size))
            entry["modified"] = item.modified?.forModel(in: calendar)
            if item.state != .local { entry["state"] = .string(item.state.rawValue) }
        }
        return .object(entry)
    }

    @Sendable func read(_ arguments: ToolArguments) async throws -> JSONValue {
        let path = try path(arguments)
        let offset = try arguments.number("offset", in: 0...Int(Int32.max), default: 0)
        let file = try await workspace.read(path, download: download)
        guard file.bytes.isText else {
            throw ToolArguments.Failure(message: "\(path) is not a text file, so this tool cannot read it.")
        }
        guard let part = try arguments.text("part"), offset > 0 else {
            return .object(entry(file, from: offset, isWhole: offset == 0))
        }
        guard part == self.part(of: file.version, at: offset) else {
            throw ToolArguments.Failure(
                message:
                    "\(path) changed since the previous page, or the part is wrong: read it again from offset = 0."
            )
        }
        return .object(entry(file, from: offset))
    }

    /// Throws for a file other than text, such as an image, so that no text is appended to it.
    private func refuseBytes(at path: WorkspacePath) async throws {
        do {
            guard try await workspace.read(path, download: download).bytes.isText else {
                throw ToolArguments.Failure(message: "\(path) is not a text file, so no text can be appended.")
            }
        } catch let error as RecollectError where error.code == .notFound {}
    }

    @Sendable func write(_ arguments: ToolArguments) async throws -> JSONValue {
        let path = try path(arguments)
        let text = try text(arguments)
        let version = try arguments.requiredText("version")
        do {
            let replacing = version == Self.newFile ? nil : try await replaced(version, at: path)
            return receipt(of: try await workspace.write(text, to: path, replacing: replacing, by: .agent(agentId)))
        } catch let error as FileChangedError {
            throw failure(of: error)
        }
    }

    /// Returns the current version of a file, if a version from the model names it.
    private func replaced(_ version: String, at path: WorkspacePath) async throws -> ContentHash {
        let current: WorkspaceFile
        do {
            current = try await workspace.read(path, download: download)
        } catch let error as RecollectError where error.code == .notFound {
            throw FileChangedError(path: path, current: nil)
        }
        guard version.utf8.count >= Self.versionLength, current.version.rawValue.hasPrefix(version.lowercased()) else {
            throw FileChangedError(path: path, current: current)
        }
        return current.version
    }

    private func failure(of error: FileChangedError) -> ToolArguments.Failure {
        guard let current = error.current else {
            return ToolArguments.Failure(
                message: "\(error.path) does not exist or was deleted. To create it, use version = new.",
                details: ["version": .string(Self.newFile)])
        }
        var details: [String: JSONValue] = ["path": .string(error.path.description)]
        if current.bytes.isText { details = entry(current, from: 0) }
        return ToolArguments.Failure(
            message: """
                Nothing was written: the version of \(error.path) is not the one you gave. Merge your text with the current \
                text, and write it with the version returned here, or with the last page of the file.
                """,
            details: details)
    }

    @Sendable func append(_ arguments: ToolArguments) async throws -> JSONValue {
        let path = try path(arguments)
        let text = try text(arguments)
        try await refuseBytes(at: path)
        let lines = text.utf8.last == UInt8(ascii: "\n") ? text : text + "\n"
        return receipt(of: try await workspace.append(lines, to: path, by: .agent(agentId)))
    }

    @Sendable func search(_ arguments: ToolArguments) async throws -> JSONValue {
        let limit = try arguments.number("limit", in: 1...50, default: 10)
        let folder = try arguments.text("folder").map { try WorkspacePath($0) } ?? .root
        let found = try await workspace.search(
            WorkspaceQuery(try arguments.requiredText("query"), in: folder, limit: limit))
        var files = BoundedList()
        for match in found.files {
            let lines = match.lines.map { line -> JSONValue in
                ["line": .integer(Int64(line.number)), "text": .string(line.text)]
            }
            guard files.add(["path": .string(match.path.description), "lines": .array(lines)]) else { break }
        }
        var notes: [String] = []
        if found.files.isEmpty { notes.append("No files were found: try fewer or different words.") }
        if found.isTruncated || files.isFull {
            notes.append("There may be more files: add words, or specify a folder.")
        }
        if found.filesNotLocal > 0 {
            notes.append("Files not searched because they are not on this device: \(found.filesNotLocal).")
        }
        if found.foldersNotSearched > 0 {
            notes.append("Folders not searched because they cannot be opened: \(found.foldersNotSearched).")
        }
        var result: [String: JSONValue] = ["files": .array(files.elements)]
        if !notes.isEmpty { result["note"] = .string(notes.joined(separator: " ")) }
        return .object(result)
    }

    // MARK: Arguments and results

    private func path(_ arguments: ToolArguments) throws -> WorkspacePath {
        try WorkspacePath(arguments.requiredText("path"))
    }

    private func text(_ arguments: ToolArguments) throws -> String {
        let text = try arguments.requiredString("text")
        guard text.utf8.count <= Self.maxBytesToWrite else {
            throw ToolArguments.Failure(
                message:
                    "The text is too long: the maximum is \(Self.maxBytesToWrite) bytes per call. Write several files."
            )
        }
        return text
    }

    private func receipt(of file: WorkspaceFile) -> JSONValue {
        [
            "path": .string(file.path.description), "version": .string(shown(file.version)),
            "bytes": .integer(Int64(file.bytes.count)),
        ]
    }

    /// Returns a page of a file: as many whole lines from an offset as fit, or the fitting characters of a longer
    /// line.
    /// - Parameter isWhole: Whether the model has read the file up to the offset. Only then does it get the version: a
    ///   model with a part of a file cannot replace it.
    private func entry(_ file: WorkspaceFile, from offset: Int, isWhole: Bool = true) -> [String: JSONValue] {
        let page = file.bytes.page(from: min(offset, file.bytes.count), costing: Self.maxTextBytes)
        var result: [String: JSONValue] = [
            "path": .string(file.path.description), "text": .string(String(decoding: file.bytes[page], as: UTF8.self)),
            "bytes": .integer(Int64(file.bytes.count)),
        ]
        let next = page.upperBound
        switch (isWhole, next < file.bytes.count) {
        case (true, false): result["version"] = .string(shown(file.version))
        case (true, true):
            result["note"] = .string(
                """
                There is more text, and the version is returned with the last page. To continue, use part = \
                \(part(of: file.version, at: next)) and offset = \(next)
                """)
        case (false, true): result["note"] = .string("There is more text. To continue, use offset = \(next)")
        case (false, false): break
        }
        return result
    }

    /// Returns the name of the page at an offset, different for each version: pages of two versions are not one file.
    private func part(of version: ContentHash, at offset: Int) -> String {
        String(ContentHash(of: "\(version.rawValue) \(offset)".utf8).rawValue.prefix(8))
    }

    /// Returns the part of a version shown to the model, long enough for a later write.
    private func shown(_ version: ContentHash) -> String { String(version.rawValue.prefix(Self.versionLength)) }

    private static let newFile = "new"
    private static let versionLength = 16
    private static let maxTextBytes = 14_000
    private static let maxBytesToWrite = 256_000
}

/// A list limited to the size of one result.
private struct BoundedList {
    private(set) var elements: [JSONValue] = []
    private(set) var isFull = false
    private var bytes = 0

    /// Appends an element, if it fits, and returns whether it did.
    mutating func add(_ element: JSONValue) -> Bool {
        bytes += element.jsonString.utf8.count + 1
        isFull = bytes > Self.maxBytes
        if !isFull { elements.append(element) }
        return !isFull
    }

    private static let maxBytes = 15_000
}

extension [UInt8] {
    /// Returns the range of a page from an offset on, within a budget of bytes as JSON. It begins at a character,
    /// and ends at the last line end if the page stays over half as long, or else at a character.
    func page(from offset: Int, costing budget: Int) -> Range<Int> {
        var start = offset
        while start > 0, start < count, isInsideCharacter(start) { start -= 1 }
        var end = start
        var cost = 0
        var lineEnd: Int?
        while end < count {
            let byte = self[end]
            cost += byte == 0x22 || byte == 0x5C || byte == 0x0A ? 2 : byte < 0x20 ? 6 : 1
            if cost > budget { break }
            end += 1
            if byte == 0x0A { lineEnd = end }
        }
        guard end < count else { return start..<end }
        if let lineEnd, lineEnd - start > (end - start) / 2 { return start..<lineEnd }
        while end > start, isInsideCharacter(end) { end -= 1 }
        return start..<end
    }

    private func isInsideCharacter(_ position: Int) -> Bool { self[position] & 0xC0 == 0x80 }
}
