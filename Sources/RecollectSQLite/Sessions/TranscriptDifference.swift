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

    /// Compares with what is known. Entries that were not touched since share their storage and cost a look at a pointer.
    init(from known: [ChatMessage], to transcript: [ChatMessage]) {
        let shorter = min(known.count, transcript.count)
        var start = known.sharedPrefixCount(with: transcript)
        while start < shorter, known[start] == transcript[start] { start += 1 }
        var same = min(known.sharedSuffixCount(with: transcript), shorter - start)
        while same < shorter - start, known[known.count - 1 - same] == transcript[transcript.count - 1 - same] {
            same += 1
        }
        let changed = start..<(transcript.count - same)
        let ids = Set(transcript[changed].map(\.id))
        guard ids.count == changed.count else {
            self.init(knownIDs: Set(known.map(\.id)), to: transcript)
            return
        }
        let old = Dictionary(known[start..<(known.count - same)].map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let unchanged = Set(transcript[changed].lazy.filter { old[$0.id] == $0 }.map(\.id))
        self.init(
            transcript: transcript, changed: changed, unchanged: unchanged,
            removed: old.keys.filter { !ids.contains($0) }.sorted { $0.uuidString < $1.uuidString })
    }

    /// Compares with nothing but ids: every entry must be looked at.
    init(knownIDs: Set<UUID>, to transcript: [ChatMessage]) {
        let transcript = transcript.eachIdOnce()
        let removed = knownIDs.subtracting(transcript.map(\.id)).sorted { $0.uuidString < $1.uuidString }
        self.init(transcript: transcript, changed: 0..<transcript.count, unchanged: [], removed: removed)
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
