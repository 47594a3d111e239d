import Foundation
import RecollectCore

/// The ID of an entry and a hash of its other fields, in 24 bytes.
struct ChatMessageHash: Hashable, Identifiable, Sendable {
    let id: UUID
    /// 0 for unknown content. No entry has this hash.
    private let content: UInt64

    /// Creates the hash of an entry. Equal entries have equal hashes.
    init(_ entry: ChatMessage) {
        var checksum = MessageChecksum()
        checksum.add(entry.role.rawValue)
        checksum.add(entry.messageType.rawValue)
        checksum.add(entry.content)
        checksum.add(entry.timestamp.millisecondsSince1970)
        let flags = [entry.isComplete, entry.isError, entry.wasCancelled, entry.isTaskContainer]
        checksum.add(flags.reduce(Int64(0)) { $0 << 1 | ($1 ? 1 : 0) })
        checksum.add(optional: entry.toolName)
        checksum.add(optional: entry.toolInputData?.parameters.json)
        checksum.add(optional: entry.toolInputData?.rawParameters?.json)
        checksum.add(optional: entry.taskGroupId?.uuidString)
        checksum.add(Int64(entry.attachments.count))
        for attachment in entry.attachments { checksum.add(attachment) }
        checksum.add(optional: entry.metadata.isEmpty ? nil : JSONValue.write(object: entry.metadata))
        id = entry.id
        content = max(UInt64(bitPattern: checksum.value), 1)
    }

    private init(id: UUID) {
        self.id = id
        content = 0
    }

    /// Whether the content is known and equal, regardless of the IDs.
    func hasSameContent(as other: ChatMessageHash) -> Bool { content != 0 && content == other.content }

    /// The same ID with unknown content. It differs from the hash of every entry.
    var withoutContent: ChatMessageHash { ChatMessageHash(id: id) }
}

extension MessageChecksum {
    fileprivate mutating func add(optional text: String?) {
        if let text { add(text) } else { addNull() }
    }

    fileprivate mutating func add(_ attachment: Attachment) {
        add(attachment.mediaType)
        add(optional: attachment.name)
        switch attachment.content {
        case .inline(let bytes):
            add(Int64(0))
            bytes.withUnsafeBytes { add($0) }
        case .stored(let sha256, let byteCount):
            add(Int64(1))
            add(sha256)
            add(Int64(byteCount))
        case .remote(let url):
            add(Int64(2))
            add(url)
        }
    }
}

extension [String: String] {
    /// The dictionary as JSON. Equal dictionaries give equal text.
    fileprivate var json: String { JSONValue.write(object: mapValues { .string($0) }) }
}
