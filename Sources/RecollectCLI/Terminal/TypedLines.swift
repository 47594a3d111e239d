#if CommandLine
    import Foundation
    import Recollect

    /// The typed lines of a user, for ↑ in later chats: a file with one line of JSON for each, readable only by
    /// the owner.
    ///
    /// Calls block. Errors of reading and writing are ignored, so that a chat continues after them.
    struct TypedLines {
        private let file: URL
        /// The number of lines kept.
        static let limit = 500

        /// Creates the list for a user, in the folder of a history.
        init(in directory: URL, of user: String) {
            let suffix = user == "local" ? "" : "-" + Attachment.sha256(of: Data(user.utf8)).prefix(16)
            file = directory.appendingPathComponent("chat-history" + suffix)
        }

        /// The name of the file; `nil` if it does not exist.
        var name: String? {
            FileManager.default.fileExists(atPath: file.path) ? file.lastPathComponent : nil
        }

        /// Returns the newest lines, the oldest first. Shortens a file with more than twice `limit` lines.
        func load() -> [String] {
            guard let bytes = try? Data(contentsOf: file) else { return [] }
            let lines = bytes.split(separator: 0x0A).compactMap { line in
                try? JSONValue(parsing: String(decoding: line, as: UTF8.self)).stringValue
            }
            guard lines.count > 2 * Self.limit else { return lines.suffix(Self.limit) }
            let kept = Array(lines.suffix(Self.limit))
            let fresh = file.appendingPathExtension("new")
            try? FileManager.default.removeItem(at: fresh)
            if write(kept, to: fresh) { rename(fresh.path, file.path) }
            return kept
        }

        /// Adds a line.
        func append(_ line: String) {
            _ = write([line], to: file)
        }

        private func write(_ lines: [String], to file: URL) -> Bool {
            let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            let text = lines.map { JSONValue.string($0).jsonString + "\n" }.joined()
            return (try? Output.writeAll(Array(text.utf8), to: descriptor)) != nil
        }
    }
#endif
