import Foundation
import RecollectCore
import RecollectFileSystem

extension VersionArchive {
    /// Erases content for good, and marks all versions with it as redacted, in all files. The versions stay in the log.
    ///
    /// The marks are durable before the content is erased. If the process is killed in between, the next change of the
    /// archive erases the content. A change of a file to this content whose writer was killed is withdrawn.
    /// - Parameters:
    ///   - hash: The content.
    ///   - path: A file with a version of this content.
    ///   - author: The user or the agent requesting the redaction.
    ///   - now: The date of the redaction.
    /// - Returns: The files with redacted versions, in order.
    /// - Throws: `notFound` if the file has no such version; `conflict` if a file has the content now.
    func redact(
        _ hash: ContentHash, of path: WorkspacePath, by author: WorkspaceAuthor, now: Date
    ) throws -> [WorkspacePath] {
        try locked { folder, log in
            let files = log.index.files.filter { $0.value.has(hash) }
            guard files[path] != nil else {
                throw RecollectError(
                    .notFound, "the archive on this device does not have version \(hash.rawValue) of \(path)")
            }
            let current = log.index.contents.filter { $0.value == hash }.keys.sorted()
            guard current.isEmpty else {
                throw RecollectError(
                    .conflict,
                    """
                    nothing was redacted: version \(hash.rawValue) is the current content of \
                    \(current.map(\.description).joined(separator: ", ")); change or delete the text there first
                    """)
            }
            let redaction = WorkspaceVersion(
                hash: hash, date: now.wholeMilliseconds, author: author, kind: .redacted)
            let marks = files.keys.sorted().map { VersionLine(mark: .redacting, path: $0, version: redaction) }
            let begun = files.values.flatMap(\.begun).filter { $0.version.hash == hash }
            try log.append(begun.map { $0.marked(.withdrawn) } + marks, in: folder, durably: true)
            try finishRedactions(&log, in: folder)
            for (path, file) in files where file.content == nil && file.versions.last?.hash == hash {
                try removeDetails(of: path)
            }
            return files.keys.sorted()
        }
    }

    /// Erases the contents of unfinished redactions, and records their ends. Requires the lock.
    func finishRedactions(_ log: inout VersionLog, in folder: OpenFolder) throws {
        let unfinished = log.index.unfinishedRedactions
        guard !unfinished.isEmpty else { return }
        let contents = ContentStore(in: folder)
        for hash in unfinished { try contents.erase(hash) }
        let ends = log.index.files.sorted { $0.key < $1.key }.flatMap { path, file in
            unfinished.compactMap { file.redactions[$0]?.version }.map {
                VersionLine(mark: .redacted, path: path, version: $0)
            }
        }
        // Without these lines, the next change of the archive erases the contents again.
        try log.append(ends, in: folder, durably: true)
    }
}

extension VersionIndex.File {
    /// Whether a version, or a begun change, has this content.
    fileprivate func has(_ hash: ContentHash) -> Bool {
        versions.contains { $0.hash == hash } || begun.contains { $0.version.hash == hash }
    }
}

extension WorkspaceVersion {
    /// The redaction recorded in a line of the log.
    var asRedaction: Redaction { Redaction(date: date, author: author ?? .user) }
}

extension WorkspaceVersion.Kind {
    /// The kind of the lines of redactions. No version has it.
    fileprivate static let redacted = WorkspaceVersion.Kind(rawValue: "redacted")
}
