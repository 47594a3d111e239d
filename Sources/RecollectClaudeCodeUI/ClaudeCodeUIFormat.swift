import Foundation
import RecollectCore
import RecollectTranscripts

/// The session database of ClaudeCodeUI and of apps based on it, `claude_code_sessions.sqlite`, as a format for
/// imports. All versions of its schema can be read. Columns added by later versions are kept in
/// metadata.
///
/// The database is copied to a private folder of this user and read there. The original is not written, and an app
/// using it is not blocked. The copy includes all committed data, also from its write-ahead log.
///
/// The sessions have Claude Code's own IDs. If Claude Code's transcripts are imported as well, a session holds
/// both, with the app's messages under the empty agent ID.
public struct ClaudeCodeUIFormat: TranscriptFormat {
    /// The file's name in its app's folder.
    public static let fileName = "claude_code_sessions.sqlite"

    /// Creates the format.
    public init() {}

    /// The name of this format in errors.
    public var name: String { "a ClaudeCodeUI database (\(Self.fileName))" }

    /// Returns the database at a path, or in the folder there under its usual name.
    /// - Throws: `foreignStore` for another SQLite database, `damaged` for an unreadable one, and
    ///   `permissionDenied`, `busy`, `diskFull` or `cannotOpen` if it cannot be copied.
    public func transcripts(at path: String) throws -> [TranscriptFile] {
        let file = isFolder(path) ? path + "/" + Self.fileName : path
        guard DatabaseCopy.isDatabase(file) else { return [] }
        let copy = try DatabaseCopy(of: file)
        try ClaudeCodeUIReader.check(copy.open(), path: file)
        return [
            TranscriptFile(path: file, byteCount: copy.byteCount) {
                try ClaudeCodeUIReader(path: file, copy: copy)
            }
        ]
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
