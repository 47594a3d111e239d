import Foundation
import RecollectCore

/// Changes the files of a workspace, each durably and recorded in the archive. Methods block.
final class WorkspaceWriter: Sendable {
    let scanner: WorkspaceScanner
    let provider: any WorkspaceProvider
    let archive: VersionArchive
    let configuration: WorkspaceConfiguration
    /// The queue for all changes of the instance.
    let queue = DispatchQueue(label: "recollect.workspace.writes")
    /// Signals the changes of the instance.
    let changes = Broadcast<Void>()
    private let events: StoreEvents
    private let counters = WriteCounters()
    private let failure = Locked<RecollectError?>(nil)

    init(_ scanner: WorkspaceScanner, events: StoreEvents) {
        self.scanner = scanner
        provider = scanner.provider
        archive = scanner.archive
        configuration = scanner.configuration
        self.events = events
    }

    /// The failure of the last write; `nil` unless the disk caused it.
    var lastFailure: RecollectError? { failure.withLock { $0 } }

    /// The number of writes of each file in the last minute.
    var writesInLastMinute: [WorkspacePath: Int] {
        counters.snapshot(at: configuration.now()).mapValues(\.lastMinute).filter { $0.value > 0 }
    }

    /// Reads a file, changes its content and writes it. Starts again if the file changed in between.
    ///
    /// - Parameter change: Returns the new content for the current file, or for `nil` if the file is missing. It
    ///   may be called several times.
    func update(
        _ path: WorkspacePath, by author: WorkspaceAuthor,
        _ change: (WorkspaceFile?) throws -> [UInt8]
    ) throws -> WorkspaceFile {
        var pause: useconds_t = 200
        for _ in 0..<Self.maxAttempts {
            let file = try scanner.fileIfPresent(at: path)
            do {
                if let file, try isUnconfirmed(change, of: file, by: author) {
                    return try put(file.bytes, to: path, replacing: file.version, by: author)
                }
                return try put(change(file), to: path, replacing: file?.version, by: author)
            } catch is FileChangedError {
                usleep(useconds_t.random(in: 0...pause))
                pause = min(pause * 2, 20_000)
            }
        }
        throw busy(path)
    }

    private static var maxAttempts: Int { 200 }

    private func busy(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.busy, "other programs keep changing \(path); try again when they are done")
    }

    /// Writes a file. All writes use this method.
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
        let path = try provider.canonicalPath(of: path)
        try checkSize(bytes, at: path)
        let file = WorkspaceFile(path: path, bytes: bytes)
        if try confirm(file, replacing: replacing, as: kind) { return file }
        let replaced = try replacing.map { try current(path, holding: $0) }
        if file.version == replacing {
            // Scans archive only texts.
            if !bytes.isText { try archive.save(bytes) }
            return file
        }
        if kind == .written { try refuseCredential(in: bytes, replacing: replaced ?? [], at: path) }
        if replaced == nil, try provider.item(at: path) == nil { try scanner.refuseDuringMassDeletion(path) }
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
        confirmPending(at: path)
        if replacing == nil {
            if kind == .restored {
                applyMetadata(of: path, to: path, holding: file.version, setsModificationDate: false)
            }
            forgetDetails(of: path)
        }
        warn(of: file)
        changes.signal()
        return file
    }

    /// Records changes as done. A failure is only logged: the changes are made, and the next scan recognizes them
    /// by their `begun` lines.
    func finish(_ changes: [VersionLine]) {
        do {
            try archive.finish(changes, now: configuration.now())
        } catch {
            configuration.logger.warning("a change was made but could not be recorded: \(error)")
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
        } catch let mismatch as ContentMismatchError {
            // A remaining `begun` line is harmless. The current content matters more to the caller than a failed
            // withdrawal.
            try? archive.withdraw(changes)
            if mismatch.current == nil { try scanner.refuseDuringMassDeletion(path) }
            throw FileChangedError(path: path, current: mismatch.current.map { WorkspaceFile(path: path, bytes: $0) })
        } catch {
            // A change may fail after it is made, for example in the last sync. The next scan then finds it.
            switch Result(catching: { try scanner.fileIfPresent(at: path)?.version }) {
            case .success(old):
                // A remaining `begun` line is harmless.
                try? archive.withdraw(changes)
                throw error
            case .success(new):
                // If this record fails, a repeated change is made twice.
                if new != nil, let line = changes.first(where: { $0.path == path }) {
                    try? archive.setUnconfirmedChange(line, at: path)
                }
                throw UnconfirmedChangeError(path: path, version: new, cause: error)
            default: throw error
            }
        }
    }

    /// Returns the content of a file with an expected version. Content changed elsewhere since the last scan is
    /// archived and recorded, and so are the file's conflict copies.
    /// - Throws: `FileChangedError` if the file has another version or is missing; `notLocal`; `busy`.
    func current(_ path: WorkspacePath, holding expected: ContentHash) throws -> [UInt8] {
        for _ in 0..<Self.maxAttempts {
            let (index, position) = try archive.snapshot()
            let isKnown = index.files[path]?.content == expected
            let item = isKnown ? nil : try provider.item(at: path)
            let file = try scanner.fileIfPresent(at: path)
            guard let file, file.version == expected else { throw FileChangedError(path: path, current: file) }
            if isKnown { return file.bytes }
            let copies = try scanner.conflictCopies(of: path)
            let found = ObservedContent(
                path: path, hash: expected, bytes: file.bytes, isConflicted: copies.isConflicted,
                isEdited: try item.map { try scanner.isEdited($0, index) } ?? false)
            // A service may replace a copy with the copy of the next conflict before a scan.
            let others = try copies.items.compactMap { try scanner.observed($0, index) }
            try archive.found([found] + others, since: position, now: configuration.now())
            if try archive.index().files[path]?.content == expected { return file.bytes }
            // Another writer recorded something since the snapshot, so this content was not recorded.
        }
        throw busy(path)
    }

    /// Records a failure of the disk for `status()`, until a write succeeds.
    private func rememberingFailure(_ write: () throws -> Void) throws {
        do {
            try write()
            failure.withLock { $0 = nil }
        } catch {
            let cause = (error as? UnconfirmedChangeError)?.cause ?? error
            if let cause = cause as? RecollectError, cause.code.isDisks { failure.withLock { $0 = cause } }
            throw error
        }
    }

    private func checkSize(_ bytes: [UInt8], at path: WorkspacePath) throws {
        guard path != .root else { throw RecollectError(.invalidArgument, "the root is not a file: specify a file") }
        guard bytes.count <= configuration.maxFileSize else {
            throw RecollectError(
                .tooLarge, "\(path) would be \(bytes.count) bytes; the maximum is \(configuration.maxFileSize) bytes")
        }
        // The provider would have to read the existing file to compare its version.
        if let item = try provider.item(at: path), !item.isFolder, item.size > configuration.maxFileSize {
            throw RecollectError(
                .tooLarge, "\(path) is \(item.size) bytes, too large to be read: it was not overwritten")
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
        if file.bytes.count > configuration.largeFileSize {
            events.post(StoreEvent(kind: .largeFile, path: file.path.description))
        }
        // At most once a minute: only the first write above the limit posts the event.
        if counters.count(file.path, at: configuration.now()) == configuration.frequentWriteCount + 1 {
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

/// Confirmation of changes made but possibly not synced to the disk. A repetition of such a change syncs
/// it again, and does not make it twice.
extension WorkspaceWriter {
    /// Whether a change repeats the file's last change while that one is unconfirmed.
    /// - Parameter change: Returns the new content for an old one.
    private func isUnconfirmed(
        _ change: (WorkspaceFile?) throws -> [UInt8], of file: WorkspaceFile?, by author: WorkspaceAuthor
    ) throws -> Bool {
        guard let file,
            let doubtful = try archive.unconfirmedChange(at: provider.canonicalPath(of: file.path))?.version,
            doubtful.hash == file.version, doubtful.author == author, doubtful.parents.count <= 1
        else { return false }
        // A change refused for the earlier content is not the one made to it. If it is refused for the current content, too,
        // the caller gets that error.
        guard let parent = doubtful.parents.first else { return (try? change(nil)) == file.bytes }
        guard let bytes = try archive.wholeBytes(of: parent) else { return false }
        return (try? change(WorkspaceFile(path: file.path, bytes: bytes))) == file.bytes
    }

    /// Makes the unconfirmed content of a file durable, if the requested write repeats the unconfirmed one.
    /// - Parameters:
    ///   - file: The content to write.
    ///   - replacing: The expected version of the requested write.
    /// - Returns: `true` if the content is in place and durable.
    private func confirm(_ file: WorkspaceFile, replacing: ContentHash?, as kind: WorkspaceVersion.Kind) throws -> Bool
    {
        guard let doubtful = try archive.unconfirmedChange(at: file.path), doubtful.version.hash == file.version,
            replacing == file.version
                || doubtful.version.kind == kind && doubtful.version.parents == (replacing.map { [$0] } ?? []),
            try scanner.fileIfPresent(at: file.path)?.version == file.version
        else { return false }
        do {
            // After a failed sync, a later success proves nothing, so the bytes are written again.
            try provider.write(file.bytes, to: file.path, replacing: file.version)
        } catch is ContentMismatchError {
            return false
        } catch {
            throw UnconfirmedChangeError(path: file.path, version: file.version, cause: error)
        }
        finish([doubtful])
        confirmPending(at: file.path)
        return true
    }

    /// Removes the record of a file's unconfirmed change.
    func confirmPending(at path: WorkspacePath) {
        do {
            try archive.setUnconfirmedChange(nil, at: path)
        } catch {
            configuration.logger.debug("cannot record a change as confirmed: \(error)")
        }
    }
}
