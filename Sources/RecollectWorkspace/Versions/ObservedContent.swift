import Foundation
import RecollectCore

/// An observed content of a file.
struct ObservedContent {
    let path: WorkspacePath
    let hash: ContentHash
    /// The content, if it is to be archived.
    let bytes: [UInt8]?
    /// Whether the file has conflict copies.
    let isConflicted: Bool
    /// Whether another program on this device saved the content.
    var isEdited = false

    /// Returns the line to record for the content, without an author.
    func line(at now: Date) -> VersionLine {
        var version = WorkspaceVersion(
            hash: hash, date: now.wholeMilliseconds, author: nil,
            kind: isConflicted ? .conflicted : isEdited ? .edited : .observed)
        version.size = bytes?.count
        return VersionLine(mark: .done, path: path, version: version)
    }
}

/// The contents observed by a scan and not yet passed to the archive. Their number and size are limited, because
/// they are in memory.
struct ObservedBatch {
    private(set) var contents: [ObservedContent] = []
    private var bytes = 0

    /// Whether the batch must be passed on before other content is added: at 8 MB, or 1,000 contents.
    var isFull: Bool { bytes >= 8_000_000 || contents.count >= 1_000 }

    mutating func add(_ content: ObservedContent) {
        contents.append(content)
        bytes += content.bytes?.count ?? 0
    }
}
