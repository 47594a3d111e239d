import Foundation
import RecollectCore

extension KnownTranscripts {
    /// The entries of a session, and their messages.
    struct KnownSession: Sendable {
        /// Whether the storage has read or saved a transcript of the session.
        var hasTranscript = false
        var entries = KnownChatMessages.whole([])
        /// The owners of entries not named by their IDs, or `nil` if they are unknown.
        var owners: [UUID: Transcript.Owner]?
        var messages = EntryMessages()
        /// The entries of streaming replies with new IDs after a merge.
        var renamed: Set<UUID> = []
        /// Whether the session was merged with another one. A merge may give messages new IDs.
        var isMerged = false
        /// The entries of merged sessions, each without those of the others, until a transcript has entries of all of them.
        /// Windows may still have the transcripts of single sessions, and a save with no entry of another one removes none
        /// of its entries.
        var groups: [Set<UUID>] = []
        /// The entries moved into a branch, until a transcript has them and the session, too. A later save without them does
        /// not remove them: another window may have restored the branch.
        var branched: Set<UUID> = []
        /// The entries removed by a save, until a transcript has them. Saved again, they replace no part of a message.
        var removed: Set<UUID> = []
        /// The entries of replies ended by the storage, until a transcript has them as complete. They count as neither shown
        /// nor saved.
        var ended: [UUID: EndedReply] = [:]
        /// The maximum number of entries of ended replies in a session without a transcript, not counting those of its last
        /// reply.
        private static let endedLimit = 4_096
        /// The entries known before a read of the session as missing. A save writes them, and removes none.
        var absent: Set<UUID> = []

        /// The entries compared with the next transcript.
        var base: KnownChatMessages {
            if absent.isEmpty { return entries }
            let present = entries.hashes.filter { !absent.contains($0.id) }
            return present.isEmpty ? .whole([]) : .hashes(present, inOrder: false)
        }

        /// Whether an entry has the content of a reply ended by the storage, and no transcript had it as complete since.
        /// Without a transcript, the session may have been deleted before the end was noted: a save writes the entry.
        func isEnd(_ entry: ChatMessage) -> Bool {
            guard hasTranscript, !absent.contains(entry.id), let reply = ended[entry.id] else { return false }
            return reply.hashes.contains { $0.hasSameContent(as: ChatMessageHash(entry)) }
        }

        /// Notes the entries of ended replies, except those that a transcript had as complete or removed before.
        mutating func note(_ new: [UUID: EndedReply]) {
            // A session without a transcript may never have one: its storage may only write.
            if !hasTranscript, ended.count >= Self.endedLimit { ended = [:] }
            for (id, reply) in new where entries[id]?.hash.isComplete != true && !removed.contains(id) {
                ended[id] = EndedReply(hashes: (ended[id]?.hashes ?? []) + reply.hashes, reply: reply.reply)
            }
        }

        /// Forgets the ended replies found as complete in a transcript.
        mutating func forgetEnded(in transcript: [ChatMessage]) {
            for entry in transcript.reversed() {
                if ended.isEmpty { return }
                guard entry.isComplete, let reply = ended[entry.id]?.reply else { continue }
                ended = ended.filter { $0.value.reply != reply }
            }
        }

        /// Returns the shown or saved entries of an entry's message, or `nil` if the message is unknown. Examines all entries.
        func parts(ofMessageWith id: UUID) -> [KnownChatMessage]? {
            messages[id].map { messages.ids(of: $0.sequence).compactMap { entries[$0] } }
        }

        /// Returns the entries to remove among those missing in a transcript.
        func removals(_ missing: [UUID], from transcript: [ChatMessage]) -> [UUID] {
            let hidden = Set(hidden(by: transcript).map(\.id))
            return missing.filter { !branched.contains($0) && !hidden.contains($0) }
        }

        /// Notes the moves of messages into a branch, and back.
        mutating func note(_ change: BranchChange) {
            let ids = entries.ids
            func isOne(_ id: UUID, of sequences: Set<SequenceNumber>) -> Bool {
                messages[id].map { sequences.contains($0.sequence) } ?? false
            }
            branched.formUnion(ids.filter { isOne($0, of: change.moved) })
            branched.subtract(ids.filter { isOne($0, of: change.restored) })
            if var first = change.entry.flatMap(ids.firstIndex) {
                let message = messages[ids[first]]?.sequence
                while first > 0, let message, messages[ids[first - 1]]?.sequence == message { first -= 1 }
                branched.formUnion(ids[first...])
            }
            // An ended reply in a branch is not in the session: a save writes it.
            ended = ended.filter { !branched.contains($0.key) }
        }

        /// Returns the entries of merged sessions without an entry in a transcript.
        func hidden(by transcript: [ChatMessage]) -> [ChatMessageHash] {
            guard !groups.isEmpty else { return [] }
            let ids = Set(transcript.map(\.id))
            let hidden = groups.filter { $0.isDisjoint(with: ids) }
            guard !hidden.isEmpty else { return [] }
            return entries.hashes.filter { hash in hidden.contains { $0.contains(hash.id) } }
        }
    }

    /// An entry of an ended reply.
    struct EndedReply {
        /// As saved, and as given by the writer.
        var hashes: [ChatMessageHash]
        /// The ID of the reply's first entry.
        let reply: UUID
    }
}
