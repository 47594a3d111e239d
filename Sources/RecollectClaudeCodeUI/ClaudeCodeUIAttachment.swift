import Foundation
import RecollectCore

/// A row of ClaudeCodeUI's table `attachments`: a reference to a file at its user's path.
struct ClaudeCodeUIAttachment {
    /// The maximum size of a file to read, in bytes.
    static let maxBytes = 20 << 20

    let attachment: Attachment

    /// Creates the attachment of a row, and reads its file if it is a regular file, not too large, and not a link.
    /// Otherwise only the reference is kept.
    init(_ row: ForeignRow) {
        var row = row
        let path = row.text("file_path") ?? ""
        let name = row.text("file_name").flatMap { $0.isEmpty ? nil : $0 }
        let bytes = path.hasPrefix("/") ? Self.bytes(of: path) : nil
        let reference = path.contains("://") ? path : URL(fileURLWithPath: path).absoluteString
        attachment = Attachment(
            mediaType: Self.mediaType(of: name ?? path, declared: row.text("file_type") ?? ""), name: name,
            content: bytes.map { .inline($0) } ?? .remote(url: reference))
    }

    /// Returns the bytes of a regular file, or `nil`: it may be missing or unreadable, and then only the reference
    /// remains.
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

    /// Returns the media type: the app's value if it is a media type, otherwise the type for the file name
    /// extension.
    private static func mediaType(of name: String, declared: String) -> String {
        if declared.contains("/") { return declared }
        let end = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return types[end] ?? types[declared.lowercased()] ?? "application/octet-stream"
    }

    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "svg": "image/svg+xml", "pdf": "application/pdf", "txt": "text/plain",
        "md": "text/markdown", "markdown": "text/markdown", "csv": "text/csv", "json": "application/json",
        "html": "text/html", "xml": "application/xml", "zip": "application/zip", "text": "text/plain",
        "swift": "text/x-swift", "code": "text/plain",
    ]
}
