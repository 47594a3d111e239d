import Foundation
import RecollectCore

/// A content that a file was found to have.
struct FoundContent {
    let path: WorkspacePath
    let hash: ContentHash
    /// The content, if it is to be kept.
    let bytes: [UInt8]?
    /// Whether copies that contradict it lie beside it.
    let isContested: Bool

    /// The line that says that it came from elsewhere.
    func line(at now: Date) -> VersionLine {
        var version = WorkspaceVersion(
            hash: hash, date: now.wholeMilliseconds, author: nil, kind: isContested ? .contested : .seen)
        version.size = bytes?.count
        return VersionLine(mark: .done, path: path, version: version)
    }
}

/// What a look found and has not handed to the archive yet. Bounded, for it is in memory.
struct FoundBatch {
    private(set) var contents: [FoundContent] = []
    private var bytes = 0

    /// Whether it is to be handed over before more is added.
    var isFull: Bool { bytes >= 8_000_000 || contents.count >= 1_000 }

    mutating func add(_ content: FoundContent) {
        contents.append(content)
        bytes += content.bytes?.count ?? 0
    }
}
