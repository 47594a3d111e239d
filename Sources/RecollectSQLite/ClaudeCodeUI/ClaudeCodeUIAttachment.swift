import Foundation
import RecollectCore

/// A row of ClaudeCodeUI's table `attachments`: a file that lies where its user had it.
struct ClaudeCodeUIAttachment {
    /// The largest file that is read, in bytes.
    static let maxBytes = 20 << 20

    let attachment: Attachment

    /// Reads a row, and the file that it names if that is a regular file, not too large, and no link; else the name stays.
    init(_ row: ForeignRow) {
        var row = row
        let path = row.text("file_path") ?? ""
        let name = row.text("file_name").flatMap { $0.isEmpty ? nil : $0 }
        let bytes = path.hasPrefix("/") ? Self.bytes(of: path) : nil
        let reference = path.contains("://") ? path : URL(fileURLWithPath: path).absoluteString
        attachment = Attachment(
            mediaType: Self.mediaType(of: name ?? path, told: row.text("file_type") ?? ""), name: name,
            content: bytes.map { .inline($0) } ?? .remote(url: reference))
    }

    /// The bytes of a regular file, or `nil`: it may be gone or not ours to read, and then the reference is all there is.
    private static func bytes(of path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= maxBytes else {
            return nil
        }
        guard let bytes = try? file.read(upToCount: maxBytes + 1) ?? Data(), bytes.count <= maxBytes else { return nil }
        return bytes
    }

    /// The media type: what the app says if that is one, else what the name's end tells.
    private static func mediaType(of name: String, told: String) -> String {
        if told.contains("/") { return told }
        let end = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return types[end] ?? types[told.lowercased()] ?? "application/octet-stream"
    }

    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "svg": "image/svg+xml", "pdf": "application/pdf", "txt": "text/plain",
        "md": "text/markdown", "markdown": "text/markdown", "csv": "text/csv", "json": "application/json",
        "html": "text/html", "xml": "application/xml", "zip": "application/zip", "text": "text/plain",
        "swift": "text/x-swift", "code": "text/plain",
    ]
}
