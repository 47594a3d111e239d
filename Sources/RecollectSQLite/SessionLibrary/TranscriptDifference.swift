import Foundation
import RecollectCore

/// The entries of a transcript to examine for a save, given the transcript saved or read before.
struct TranscriptDifference: Sendable {
    /// The whole transcript.
    let transcript: [ChatMessage]
    /// The range of entries possibly new, edited or moved. All entries before and after it are unchanged.
    let changed: Range<Int>
    /// The IDs of unchanged entries in this range.
    let unchanged: Set<UUID>
    /// The IDs of removed entries.
    let removed: [UUID]

    /// Creates the difference from the known entries. Unchanged entries of a full transcript share their storage,
    /// so comparing them costs one pointer comparison each. If only hashes are known, the given entries are hashed.
    init(from known: KnownChatMessages, to transcript: [ChatMessage]) {
        switch known {
        case .whole(let entries):
            let start = entries.sharedPrefixCount(with: transcript)
            let end = entries.sharedSuffixCount(with: transcript)
            self.init(from: known, entries, to: transcript, as: transcript, sharedAtStart: start, sharedAtEnd: end)
        case .hashes(let hashes, inOrder: true):
            self.init(from: known, hashes, to: transcript, as: transcript.map(ChatMessageHash.init))
        case .hashes(let hashes, inOrder: false):
            self.init(inAnyOrder: hashes, to: transcript)
        }
    }

    /// Creates the difference of `old` and `new`, a part of the transcript, entry by entry. The given numbers of
    /// entries at both ends are known to be equal.
    private init<Entry: Identifiable & Equatable>(
        from known: KnownChatMessages, _ old: [Entry], to transcript: [ChatMessage], as new: [Entry],
        sharedAtStart: Int = 0,
        sharedAtEnd: Int = 0
    ) where Entry.ID == UUID {
        let shorter = min(old.count, new.count)
        var start = sharedAtStart
        while start < shorter, old[start] == new[start] { start += 1 }
        var same = min(sharedAtEnd, shorter - start)
        while same < shorter - start, old[old.count - 1 - same] == new[new.count - 1 - same] { same += 1 }
        let changed = start..<(new.count - same)
        let ids = Set(new[changed].map(\.id))
        guard ids.count == changed.count else {
            self.init(inAnyOrder: known.hashes, to: transcript)
            return
        }
        let before = Dictionary(old[start..<(old.count - same)].map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let unchanged = Set(new[changed].lazy.filter { before[$0.id] == $0 }.map(\.id))
        self.init(
            transcript: transcript, changed: changed, unchanged: unchanged,
            removed: before.keys.filter { !ids.contains($0) }.sorted { $0.uuidString < $1.uuidString })
    }

    /// Creates the difference from unordered entries, or of a transcript with duplicate IDs. Looks up every entry.
    private init(inAnyOrder known: [ChatMessageHash], to transcript: [ChatMessage]) {
        let transcript = transcript.eachIdOnce()
        let contents = Set(known)
        let hashes = transcript.map(ChatMessageHash.init)
        let unchanged = Set(hashes.lazy.filter(contents.contains).map(\.id))
        let removed = Set(known.map(\.id)).subtracting(hashes.map(\.id)).sorted { $0.uuidString < $1.uuidString }
        self.init(transcript: transcript, changed: 0..<transcript.count, unchanged: unchanged, removed: removed)
    }

    private init(transcript: [ChatMessage], changed: Range<Int>, unchanged: Set<UUID>, removed: [UUID]) {
        self.transcript = transcript
        self.changed = changed
        self.unchanged = unchanged
        self.removed = removed
    }

    /// Whether the examined range reaches the end of the transcript.
    var isAtEnd: Bool { changed.upperBound == transcript.count }

    /// Returns the ID of the call answered by a tool result without a call ID: among the surrounding calls and
    /// results in the transcript, the first unanswered call of the same tool.
    func callId(answeredBy index: Int) -> String? {
        guard transcript[index].messageType.belongsToToolExchange, transcript[index].messageType != .toolUse else {
            return nil
        }
        var start = index
        while start > 0, transcript[start - 1].messageType.belongsToToolExchange { start -= 1 }
        var open: [(id: String, tool: String?)] = []
        for entry in transcript[start...index] {
            if entry.messageType == .toolUse {
                open.append((entry.callId ?? entry.id.uuidString, entry.toolName))
                continue
            }
            let answered =
                entry.callId.flatMap { id in open.firstIndex { $0.id == id } }
                ?? open.firstIndex { entry.toolName == nil || $0.tool == nil || $0.tool == entry.toolName }
            guard let answered else { continue }
            let call = open.remove(at: answered)
            if entry.id == transcript[index].id { return call.id }
        }
        return nil
    }
}

extension MessageType {
    /// Whether this is a tool call or a tool result.
    fileprivate var belongsToToolExchange: Bool {
        [.toolUse, .toolResult, .toolError, .toolDenied].contains(self)
    }
}
