import Foundation
import RecollectCore

/// What of a transcript must be looked at to save it, given what was saved or read before.
struct TranscriptDifference: Sendable {
    /// The whole transcript.
    let transcript: [ChatMessage]
    /// The entries that may be new, edited or elsewhere than before; all before and behind them are as they were.
    let changed: Range<Int>
    /// The ids of those among them that are as they were known, though others before and behind them are not.
    let unchanged: Set<UUID>
    /// The ids of entries that are there no more.
    let removed: [UUID]

    /// Compares with the known entries. Untouched entries of a whole transcript share their storage and cost a look at
    /// a pointer; where only hashes are known, the entries given are hashed.
    init(from known: KnownEntries, to transcript: [ChatMessage]) {
        switch known {
        case .whole(let entries):
            let start = entries.sharedPrefixCount(with: transcript)
            let end = entries.sharedSuffixCount(with: transcript)
            self.init(from: known, entries, to: transcript, as: transcript, sharedAtStart: start, sharedAtEnd: end)
        case .hashes(let hashes, inOrder: true):
            self.init(from: known, hashes, to: transcript, as: transcript.map(EntryHash.init))
        case .hashes(let hashes, inOrder: false):
            self.init(inAnyOrder: hashes, to: transcript)
        }
    }

    /// Compares `old` with `new`, a part of the transcript, entry by entry. The given numbers of entries at both ends are known to be
    /// equal.
    private init<Entry: Identifiable & Equatable>(
        from known: KnownEntries, _ old: [Entry], to transcript: [ChatMessage], as new: [Entry], sharedAtStart: Int = 0,
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

    /// Compares with unordered entries, or with a transcript with duplicate ids: every entry is looked up.
    private init(inAnyOrder known: [EntryHash], to transcript: [ChatMessage]) {
        let transcript = transcript.eachIdOnce()
        let known = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let hashes = transcript.map(EntryHash.init)
        let unchanged = Set(hashes.lazy.filter { known[$0.id] == $0 }.map(\.id))
        let removed = Set(known.keys).subtracting(hashes.map(\.id)).sorted { $0.uuidString < $1.uuidString }
        self.init(transcript: transcript, changed: 0..<transcript.count, unchanged: unchanged, removed: removed)
    }

    private init(transcript: [ChatMessage], changed: Range<Int>, unchanged: Set<UUID>, removed: [UUID]) {
        self.transcript = transcript
        self.changed = changed
        self.unchanged = unchanged
        self.removed = removed
    }

    /// Whether the transcript goes on behind the entries to look at.
    var isAtEnd: Bool { changed.upperBound == transcript.count }

    /// The call that a tool's result answers, where the result does not name it: of the calls and results that stand around it in
    /// the transcript, the first call of the same tool that no earlier result has answered.
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
    /// Whether it is a tool's call or its answer.
    fileprivate var belongsToToolExchange: Bool {
        [.toolUse, .toolResult, .toolError, .toolDenied].contains(self)
    }
}

extension ChatMessage {
    fileprivate var callId: String? {
        metadata["toolCallId"]?.stringValue
    }
}
