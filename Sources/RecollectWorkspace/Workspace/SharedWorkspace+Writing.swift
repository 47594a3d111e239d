import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Replaces the text of a file, atomically and durably, if the file has the expected version.
    ///
    /// The replaced content is archived first. Missing parent folders are created. Writing the current content
    /// again changes nothing.
    /// - Parameters:
    ///   - text: The complete new content.
    ///   - path: The path of the file.
    ///   - replacing: The expected version; `nil` if the file must not exist.
    ///   - author: The author of the new version.
    /// - Throws: `FileChangedError` with the current content if the file has another version or is missing;
    ///   `credential` for a line resembling a credential and missing in the replaced content; `tooLarge`;
    ///   `notLocal`; `unavailable` during a mass deletion; `UnconfirmedChangeError` if the file was written and a
    ///   later step failed.
    @discardableResult
    public func write(
        _ text: String, to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await write(Array(text.utf8), to: path, replacing: replacing, by: author)
    }

    /// Replaces the bytes of a file, under the conditions of the text variant. The bytes may be text.
    @discardableResult
    public func write(
        _ bytes: [UInt8], to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await writing { try self.put(bytes, to: path, replacing: replacing, by: author) }
    }

    /// Appends text to a file, and creates the file if it is missing. Concurrent appends of other writers are kept.
    ///
    /// If the last line has no line end, one is added first. If other writers interfere, the append is repeated for
    /// some seconds. After an `UnconfirmedChangeError`, the same append adds nothing more.
    /// - Throws: As `write(_:to:replacing:by:)`, except `FileChangedError`; `busy` if other writers interfered
    ///   every time; `unreadable` if the file is not UTF-8 text.
    @discardableResult
    public func append(
        _ text: String, to path: WorkspacePath, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await update(path, by: author) { file in
            guard let file, let last = file.bytes.last else { return Array(text.utf8) }
            guard file.bytes.isText else {
                throw RecollectError(
                    .unreadable,
                    "\(path) is no UTF-8 text, so no text can be added to it: convert it first, or write all of its bytes"
                )
            }
            return file.bytes + (last == UInt8(ascii: "\n") ? [] : [UInt8(ascii: "\n")]) + Array(text.utf8)
        }
    }

    /// Reads a file, changes its content and writes it. Starts again if the file changed in between.
    ///
    /// - Parameter change: Returns the new content for the current file, or for `nil` if the file is missing. It
    ///   may be called several times.
    @discardableResult
    func update(
        _ path: WorkspacePath, by author: WorkspaceAuthor,
        _ change: @escaping @Sendable (WorkspaceFile?) throws -> [UInt8]
    ) async throws -> WorkspaceFile {
        try await writing {
            var pause: useconds_t = 200
            for _ in 0..<Self.mostAttempts {
                let file = try self.fileIfThere(at: path)
                do {
                    if let file, try self.isInDoubt(change, of: file, by: author) {
                        return try self.put(file.bytes, to: path, replacing: file.version, by: author)
                    }
                    return try self.put(change(file), to: path, replacing: file?.version, by: author)
                } catch is FileChangedError {
                    usleep(useconds_t.random(in: 0...pause))
                    pause = min(pause * 2, 20_000)
                }
            }
            throw RecollectError(.busy, "\(path) is written again and again by others; try again when they are done")
        }
    }

    private static var mostAttempts: Int { 200 }

    /// Returns the current file; `nil` if it is missing. Blocks.
    /// - Throws: `notLocal`.
    func fileIfThere(at path: WorkspacePath) throws -> WorkspaceFile? {
        do {
            guard let file = try file(at: path) else { throw notLocal(path) }
            return file
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    private func notLocal(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notLocal, "the content of \(path) is not on this device yet: read it first")
    }

    // MARK: Writing one file

    /// Writes a file. All writes use this method. Blocks.
    ///
    /// The order makes a kill harmless. Before the file changes, the replaced and the new content are durable, and
    /// so is a log line with the author of the planned write. If the completing log line is missing afterwards, the
    /// next scan finds the planned content in the file and adds the line.
    /// - Parameter others: Source contents of a merge, to be archived with the new content.
    func put(
        _ bytes: [UInt8], to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor,
        as kind: WorkspaceVersion.Kind = .written, parents: [ContentHash]? = nil, keeping others: [[UInt8]] = []
    ) throws -> WorkspaceFile {
        // The archive uses the spelling of the existing name. Under another spelling, the versions could not be
        // found.
        let path = try provider.spelling(of: path)
        try checkSize(bytes, at: path)
        let file = WorkspaceFile(path: path, bytes: bytes)
        if try confirm(file, replacing: replacing, as: kind) { return file }
        let replaced = try replacing.map { try current(path, holding: $0) }
        if file.version == replacing { return file }
        if kind == .written { try refuseCredential(in: bytes, replacing: replaced ?? [], at: path) }
        if replaced == nil, try provider.item(at: path) == nil { try refuseDuringMassDeletion(path) }
        let change = VersionLine(
            mark: .begun, path: path,
            version: WorkspaceVersion(
                hash: file.version, date: configuration.now().wholeMilliseconds, author: author, kind: kind,
                parents: parents ?? [replacing].compactMap { $0 }))
        try rememberingFailure {
            let begun = try archive.begin([change], keeping: others + [bytes] + [replaced].compactMap { $0 })
            try changing(path, from: replacing, to: file.version, begun) {
                try provider.write(bytes, to: path, replacing: replacing)
            }
            finish(begun)
        }
        confirmDoubtful(at: path)
        if replacing == nil {
            if kind == .restored { applyDetails(of: path, to: path, holding: file.version, isDated: false) }
            forgetDetails(of: path)
        }
        warn(of: file)
        ownChanges.signal()
        return file
    }

    /// Records changes as done. A failure is only logged: the changes are made, and the next scan recognizes them
    /// by their `begun` lines.
    func finish(_ changes: [VersionLine]) {
        do {
            try archive.finish(changes)
        } catch {
            configuration.logger.warning("a change was made and could not be written down: \(error)")
        }
    }

    /// Makes a change already recorded as begun, and withdraws the record if the file or the disk prevents the
    /// change.
    /// - Parameters:
    ///   - old: The version before the change; `nil` for a missing file.
    ///   - new: The version after the change; `nil` for a removed file.
    /// - Throws: `UnconfirmedChangeError` if the change was made and a later step failed; `FileChangedError` if the
    ///   file does not have the version `old`; `unavailable` during a mass deletion; errors of the change.
    func changing(
        _ path: WorkspacePath, from old: ContentHash?, to new: ContentHash?, _ changes: [VersionLine],
        _ change: () throws -> Void
    ) throws {
        do {
            try change()
        } catch let mismatch as ContentMismatch {
            // A remaining `begun` line is harmless. The current content matters more to the caller than a failed
            // withdrawal.
            try? archive.withdraw(changes)
            if mismatch.current == nil { try refuseDuringMassDeletion(path) }
            throw FileChangedError(path: path, current: mismatch.current.map { WorkspaceFile(path: path, bytes: $0) })
        } catch {
            // A change may fail after it is made, for example in the last sync. The next scan then finds it.
            switch Result(catching: { try fileIfThere(at: path)?.version }) {
            case .success(old):
                // A remaining `begun` line is harmless.
                try? archive.withdraw(changes)
                throw error
            case .success(new):
                // If this record fails, a repeated change is made twice.
                if new != nil, let line = changes.first(where: { $0.path == path }) {
                    try? archive.setInDoubt(line, at: path)
                }
                throw UnconfirmedChangeError(path: path, version: new, cause: error)
            default: throw error
            }
        }
    }

    /// Returns the content of a file with an expected version. A content changed elsewhere since the last scan is
    /// archived.
    /// - Throws: `FileChangedError` if the file has another version or is missing; `notLocal`.
    func current(_ path: WorkspacePath, holding expected: ContentHash) throws -> [UInt8] {
        let (index, moment) = try archive.snapshot()
        let isKnown = index.files[path]?.content == expected
        let item = isKnown ? nil : try provider.item(at: path)
        let file = try fileIfThere(at: path)
        guard let file, file.version == expected else { throw FileChangedError(path: path, current: file) }
        if !isKnown {
            let found = ObservedContent(
                path: path, hash: expected, bytes: file.bytes, isContested: try isConflicted(path),
                isEdited: try item.map { try isEdited($0, index) } ?? false)
            try archive.found([found], since: moment, now: configuration.now())
        }
        return file.bytes
    }

    /// Records a failure of the disk for `status()`, until a write succeeds.
    private func rememberingFailure(_ write: () throws -> Void) throws {
        do {
            try write()
            lastFailure.withLock { $0 = nil }
        } catch {
            let failure = (error as? UnconfirmedChangeError)?.cause ?? error
            if let failure = failure as? RecollectError, failure.code.isDisks { lastFailure.withLock { $0 = failure } }
            throw error
        }
    }

    private func checkSize(_ bytes: [UInt8], at path: WorkspacePath) throws {
        guard path != .root else { throw RecollectError(.invalidArgument, "the root is no file: name a file in it") }
        guard bytes.count <= configuration.largestFile else {
            throw RecollectError(
                .tooLarge, "\(path) would have \(bytes.count) bytes; the most is \(configuration.largestFile)")
        }
        // The provider would have to read the existing file to compare its version.
        if let item = try provider.item(at: path), !item.isFolder, item.size > configuration.largestFile {
            throw RecollectError(
                .tooLarge, "\(path) has \(item.size) bytes, more than can be read: it was not overwritten")
        }
    }

    /// - Throws: `credential` for a line resembling a credential and missing in `old`, unless the configuration
    ///   allows it.
    func refuseCredential(in bytes: [UInt8], replacing old: [UInt8], at path: WorkspacePath) throws {
        guard case .refuse = configuration.credentials, bytes.isText else { return }
        try CredentialShape.refuse(
            String(decoding: bytes, as: UTF8.self), replacing: String(decoding: old, as: UTF8.self), at: path)
    }

    private func warn(of file: WorkspaceFile) {
        if file.bytes.count > configuration.largeFile {
            events.post(StoreEvent(kind: .largeFile, path: file.path.description))
        }
        // At most once a minute: only the first write above the limit posts the event.
        if counters.count(file.path, at: configuration.now()) == configuration.frequentWrites + 1 {
            events.post(StoreEvent(kind: .frequentWrites, path: file.path.description))
        }
    }
}

extension RecollectError.Code {
    /// Whether the cause is the disk, and not the new content or the existing file.
    fileprivate var isDisks: Bool {
        [.diskFull, .readOnly, .permissionDenied, .tooManyOpenFiles, .inputOutput].contains(self)
    }
}
