import Foundation
import RecollectCore

/// The database that ClaudeCodeUI and apps made of it keep their sessions in, `claude_code_sessions.sqlite`: a kind of history that
/// an import reads. All versions of its schema are read; columns that later ones added survive in metadata.
///
/// The database is copied to a folder of this user's own and read there: nothing is written to it, an app that has it open
/// is not held up, and what it had written by then is all there, in its log too.
///
/// Its sessions have the ids that Claude Code gave them: where Claude Code's own transcripts are imported as well, a session
/// holds both, that of the app under the agent with the empty id.
public struct ClaudeCodeUIKind: TranscriptKind {
    /// The file's name in its app's folder.
    public static let fileName = "claude_code_sessions.sqlite"

    /// Makes the kind.
    public init() {}

    /// What errors call it.
    public var name: String { "a ClaudeCodeUI database (\(Self.fileName))" }

    /// The database at the path, or in the folder there under its usual name.
    /// - Throws: `foreignStore` for a SQLite database of something else, `damaged` for one that cannot be read, and what keeps it
    ///   from being copied: `permissionDenied`, `busy`, `diskFull`, `cannotOpen`.
    public func transcripts(at path: String) throws -> [FoundTranscript] {
        let file = isFolder(path) ? path + "/" + Self.fileName : path
        guard DatabaseCopy.isDatabase(file) else { return [] }
        let copy = try DatabaseCopy(of: file)
        try ClaudeCodeUIReader.check(copy.open(), path: file)
        return [
            FoundTranscript(path: file, byteCount: copy.byteCount) {
                try ClaudeCodeUIReader(path: file, copy: copy)
            }
        ]
    }

    private func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
