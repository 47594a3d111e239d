#if CommandLine
    import Dispatch
    import Foundation
    import Recollect
    import RecollectTranscripts

    /// A new file for the export of a session. Its extension names the format.
    struct ExportFile {
        let path: String

        /// Writes the session, and returns its attachments exported without their content. A failed export removes the file; a
        /// failed `close` leaves it.
        /// - Throws: `invalidArgument` for an unknown extension, `notFound` for a session without messages,
        ///   `conflict` if the file exists, and errors of the export.
        func write(
            _ session: SessionKey, of history: any HistoryStore
        ) async throws -> [SessionExporter.MissingAttachment] {
            let endings: [(String, SessionExporter.Format)] = [
                (".md", .markdown), (".markdown", .markdown), (".jsonl", .jsonl), (".json", .json),
            ]
            guard let format = endings.first(where: { path.lowercased().hasSuffix($0.0) })?.1 else {
                throw RecollectError(
                    .invalidArgument,
                    "\(path.visible) has no known format: use a name that ends in .md, .jsonl or .json")
            }
            guard try await history.session(session) != nil else {
                throw RecollectError(.notFound, "the session has no messages yet")
            }
            let queue = DispatchQueue(label: "recall.export")
            let descriptor = try await queue.run { [path] in
                let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                if descriptor < 0, errno == EEXIST {
                    throw RecollectError(.conflict, "\(path.visible) already exists; it was not changed")
                }
                guard descriptor >= 0 else { throw RecollectError(.last, doing: "create", path: path) }
                return descriptor
            }
            let missing: [SessionExporter.MissingAttachment]
            do {
                missing = try await SessionExporter(history: history).export(session, as: format) { bytes in
                    try await queue.run { try Output.writeAll(bytes, to: descriptor) }
                }
            } catch {
                await queue.run { [path] in
                    close(descriptor)
                    unlink(path)
                }
                throw error
            }
            try await queue.run { [path] in
                guard close(descriptor) == 0 else { throw RecollectError(.last, doing: "write", path: path) }
            }
            return missing
        }
    }

    extension SessionExporter.MissingAttachment {
        /// The report of the export.
        var report: String {
            "attachment \(sha256.oneLine) of message \(messageId.oneLine) is missing or damaged; the message was exported without it"
        }
    }

    /// A word of a shell command, quoted for copying if necessary.
    struct ShellWord: CustomStringConvertible {
        let text: String

        init(_ text: String) {
            self.text = text
        }

        var description: String {
            let plain = text.unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || "0123456789-_./".unicodeScalars.contains($0)
            }
            return plain && !text.isEmpty ? text : "'\(text.visible.replacingOccurrences(of: "'", with: "'\\''"))'"
        }
    }
#endif
