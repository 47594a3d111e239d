import Foundation

/// The ID of an entry and hashes of its other fields, in 36 bytes.
///
/// The fields are hashed in groups: a save changes only the groups changed by the transcript.
package struct ChatMessageHash: Hashable, Identifiable, Sendable {
    package let id: UUID
    /// The text, with the role, the type and the tool.
    private let content: (UInt32, UInt32)
    package let attachments: UInt32
    /// The timestamp, the flags and the task.
    package var details: UInt32 { state >> 1 }
    package let metadata: UInt32
    private let state: UInt32

    /// Creates the hashes of an entry. Equal fields have equal hashes.
    package init(_ entry: ChatMessage) {
        id = entry.id
        var checksum = MessageChecksum()
        checksum.add(entry.role.rawValue)
        checksum.add(entry.messageType.rawValue)
        checksum.add(entry.content)
        checksum.add(optional: entry.toolName)
        checksum.add(optional: entry.toolInputData?.parameters.json)
        checksum.add(optional: entry.toolInputData?.rawParameters?.json)
        let value = UInt64(bitPattern: checksum.value)
        content = (UInt32(truncatingIfNeeded: value >> 32), UInt32(truncatingIfNeeded: value))
        checksum = MessageChecksum()
        for attachment in entry.attachments { checksum.add(attachment) }
        attachments = checksum.short
        checksum = MessageChecksum()
        checksum.add(optional: entry.metadata.isEmpty ? nil : JSONValue.write(object: entry.metadata))
        metadata = checksum.short
        checksum = MessageChecksum()
        checksum.add(entry.timestamp.millisecondsSince1970)
        let flags = [entry.isError, entry.wasCancelled, entry.isTaskContainer]
        checksum.add(flags.reduce(Int64(0)) { $0 << 1 | ($1 ? 1 : 0) })
        checksum.add(optional: entry.taskGroupId?.uuidString)
        state = checksum.short & ~1 | (entry.isComplete ? 1 : 0)
    }

    /// Whether the text, the role, the type and the tool are equal.
    package func hasSameContent(as other: ChatMessageHash) -> Bool { content == other.content }

    package var isComplete: Bool { state & 1 == 1 }

    package static func == (left: ChatMessageHash, right: ChatMessageHash) -> Bool {
        left.id == right.id && left.content == right.content && left.attachments == right.attachments
            && left.metadata == right.metadata && left.state == right.state
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ChatMessage {
    /// The ID of the tool call, if it is not the ID of the entry.
    package var callId: String? { metadata["toolCallId"]?.stringValue }

    /// Whether the text, the role, the type and the tool are equal.
    package func hasSameContent(as other: ChatMessage) -> Bool {
        ChatMessageHash(self).hasSameContent(as: ChatMessageHash(other))
    }
}

extension MessageChecksum {
    /// The value in 32 bits.
    fileprivate var short: UInt32 {
        let value = UInt64(bitPattern: self.value)
        return UInt32(truncatingIfNeeded: value ^ value >> 32)
    }

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
