import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Gives a file new text, atomically and durably, if it still has the content that its writer knows.
    ///
    /// What it replaces is kept in the archive first. Folders above are made. The same bytes again change nothing.
    /// - Parameters:
    ///   - text: The whole new content.
    ///   - path: Which file.
    ///   - replacing: The version that was read; `nil` where there is to be no file yet.
    ///   - author: Who writes.
    /// - Throws: `FileChangedError` with the current content where something else is there, or nothing any more; `credential` for
    ///   lines in the shape of one that the replaced content has not; `tooLarge`, `notLocal`; `unavailable` while most files are missing;
    ///   `UnconfirmedChangeError` where it was written, and something failed after that.
    @discardableResult
    public func write(
        _ text: String, to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await write(Array(text.utf8), to: path, replacing: replacing, by: author)
    }

    /// Gives a file new bytes: as for text, which these may be too.
    @discardableResult
    public func write(
        _ bytes: [UInt8], to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await writing { try self.put(bytes, to: path, replacing: replacing, by: author) }
    }

    /// Adds text at the end of a file, which is made if there is none; nothing that others add meanwhile is lost.
    ///
    /// A line that somebody left without its end gets one first. Where others write the same file again and again, this tries again
    /// too, for some seconds. After an `UnconfirmedChangeError` the same append adds nothing more.
    /// - Throws: as `write`, but for `FileChangedError`; `busy` where others were always quicker; `unreadable` where the file is no UTF-8 text.
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

    /// Reads a file, changes it and writes it, again from the beginning where somebody wrote it in between.
    ///
    /// - Parameter change: Gives the new content for the current one, `nil` where there is no file; called as often as it takes.
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

    /// A file as it is now, blocking; `nil` where there is none.
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

    // MARK: The one way into a file

    /// `write`, blocking. All writes go this way.
    ///
    /// The order is what makes a kill harmless: the replaced and the new content are on the disk, and a line that says who is about to
    /// write it, before the file changes. If the line that says that it was written is missing after that, the next look finds
    /// the content that was begun, and adds it.
    /// - Parameter others: Contents that went into this one, to be kept with it.
    func put(
        _ bytes: [UInt8], to path: WorkspacePath, replacing: ContentHash?, by author: WorkspaceAuthor,
        as kind: WorkspaceVersion.Kind = .written, parents: [ContentHash]? = nil, keeping others: [[UInt8]] = []
    ) throws -> WorkspaceFile {
        // The archive knows a file by the name that it has: by another one nobody would find it.
        let path = try provider.spelling(of: path)
        try checkSize(bytes, at: path)
        let file = WorkspaceFile(path: path, bytes: bytes)
        if try confirm(file, replacing: replacing, as: kind) { return file }
        let replaced = try replacing.map { try current(path, holding: $0) }
        if file.version == replacing { return file }
        if kind == .written { try refuseCredential(in: bytes, replacing: replaced ?? [], at: path) }
        if replaced == nil, try provider.item(at: path) == nil { try refuseWhileVanished(path) }
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
        settleDoubt(at: path)
        if replacing == nil {
            if kind == .restored { applyDetails(of: path, to: path, holding: file.version, isDated: false) }
            forgetDetails(of: path)
        }
        warn(of: file)
        ownChanges.wake()
        return file
    }

    /// Notes changes as done. A failure is logged only: the changes are made, and the next look recognizes them by their `begun` lines.
    func finish(_ changes: [VersionLine]) {
        do {
            try archive.finish(changes)
        } catch {
            configuration.logger.warning("a change was made and could not be written down: \(error)")
        }
    }

    /// Makes a change that was begun, and takes it back where it was not made: because of what is there, or because the disk refuses it.
    /// - Parameters:
    ///   - old: What the file has until then; `nil` where there is none.
    ///   - new: What it has after that; `nil` where there is none any more.
    /// - Throws: `UnconfirmedChangeError` where the change was made, and something failed after that.
    func changing(
        _ path: WorkspacePath, from old: ContentHash?, to new: ContentHash?, _ changes: [VersionLine],
        _ change: () throws -> Void
    ) throws {
        do {
            try change()
        } catch let mismatch as ContentMismatch {
            // A line that stays begun does no harm. What is there matters more to the caller than that it could not be written down.
            try? archive.withdraw(changes)
            if mismatch.current == nil { try refuseWhileVanished(path) }
            throw FileChangedError(path: path, current: mismatch.current.map { WorkspaceFile(path: path, bytes: $0) })
        } catch {
            // A change may fail when it is made already, in the last sync for instance: then the next look finds it.
            switch Result(catching: { try fileIfThere(at: path)?.version }) {
            case .success(old):
                // A line that stays begun does no harm.
                try? archive.withdraw(changes)
                throw error
            case .success(new):
                // Where this cannot be noted, the change is made twice if it is asked for twice.
                if new != nil, let line = changes.first(where: { $0.path == path }) {
                    try? archive.setInDoubt(line, at: path)
                }
                throw UnconfirmedChangeError(path: path, version: new, cause: error)
            default: throw error
            }
        }
    }

    /// The content of a file that is to have a certain one. What came from elsewhere since the last look is taken in.
    /// - Throws: `FileChangedError` where it has another one, or is not there.
    func current(_ path: WorkspacePath, holding expected: ContentHash) throws -> [UInt8] {
        let (index, moment) = try archive.snapshot()
        let file = try fileIfThere(at: path)
        guard let file, file.version == expected else { throw FileChangedError(path: path, current: file) }
        if index.files[path]?.content != expected {
            let found = FoundContent(
                path: path, hash: expected, bytes: file.bytes, isContested: try isConflicted(path))
            try archive.found([found], since: moment, now: configuration.now())
        }
        return file.bytes
    }

    /// Remembers a failure of the disk for `status()`, until a write succeeds.
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
        // A provider that found a huge file there would have to read it to say what it holds.
        if let item = try provider.item(at: path), !item.isFolder, item.size > configuration.largestFile {
            throw RecollectError(
                .tooLarge, "\(path) has \(item.size) bytes, so nobody here knows what it holds: it is not overwritten")
        }
    }

    /// - Throws: `credential` for a text in the shape of one that the old one has not, unless the configuration allows it.
    func refuseCredential(in bytes: [UInt8], replacing old: [UInt8], at path: WorkspacePath) throws {
        guard case .refuse = configuration.credentials, bytes.isText else { return }
        try CredentialShape.refuse(
            String(decoding: bytes, as: UTF8.self), replacing: String(decoding: old, as: UTF8.self), at: path)
    }

    private func warn(of file: WorkspaceFile) {
        if file.bytes.count > configuration.largeFile {
            events.post(StoreEvent(kind: .largeFile, path: file.path.description))
        }
        // Once a minute at most: at the write that is the first too many.
        if counters.count(file.path, at: configuration.now()) == configuration.frequentWrites + 1 {
            events.post(StoreEvent(kind: .frequentWrites, path: file.path.description))
        }
    }
}

extension RecollectError.Code {
    /// Whether the disk is the reason, and not what is written or what is there.
    fileprivate var isDisks: Bool {
        [.diskFull, .readOnly, .permissionDenied, .tooManyOpenFiles, .inputOutput].contains(self)
    }
}
