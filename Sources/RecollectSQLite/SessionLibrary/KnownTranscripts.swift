import Foundation
import RecollectCore

/// The entries shown or saved by a session storage, by session. The next save is compared with them.
///
/// Only an entry shown or saved before may be removed. Only an entry differing from its shown or saved content was
/// edited by the UI. The transcripts of the most recently used sessions are kept in full and share their texts with
/// the UI. For all other sessions, 60 bytes per entry hold an ID, hashes and a sequence number, and the same rules apply.
final class KnownTranscripts: Sendable {
    /// The maximum number of transcripts kept in full.
    static let limit = 16

    /// The entries of a session, and their messages.
    struct Known: Sendable {
        fileprivate(set) var entries = KnownChatMessages.whole([])
        /// The owners of entries not named by their IDs, or `nil` if they are unknown.
        fileprivate(set) var owners: [UUID: Transcript.Owner]?
        fileprivate(set) var messages = EntryMessages()
        /// The entries of streaming replies with new IDs after a merge.
        fileprivate(set) var renamed: Set<UUID> = []
        /// The entries of merged sessions, each without those of the others. A window may still have the transcript of one
        /// of them, and a save with no entry of another one removes none of its entries.
        fileprivate(set) var groups: [Set<UUID>] = []
        /// Whether the session was merged with another one. A merge may give messages new IDs.
        var isMerged: Bool { !groups.isEmpty }
        /// The entries moved into a branch. A later save without them does not remove them: another window may have
        /// restored the branch.
        fileprivate(set) var branched: Set<UUID> = []
        /// The number of the last deletion.
        fileprivate var lastDeletion = 0
        /// The number of the last save, so that a read begun before a save does not replace its result.
        fileprivate var version = 0

        /// Returns the entries to remove among those missing in a transcript.
        func removed(_ missing: [UUID], from transcript: [ChatMessage]) -> [UUID] {
            let removed = missing.filter { !branched.contains($0) }
            guard !groups.isEmpty, !removed.isEmpty else { return removed }
            let ids = Set(transcript.map(\.id))
            let hidden = groups.filter { $0.isDisjoint(with: ids) }
            return removed.filter { id in !hidden.contains { $0.contains(id) } }
        }
    }

    private struct State {
        var sessions: [ByteString: Known] = [:]
        /// The number of all saves, moves and deletions.
        var changes = 0
        /// The number of the last deletion of all sessions. A save begun before a deletion does not replace its result.
        var lastDeletion = 0
        /// The sessions with transcripts kept in full, the most recently used at the end.
        var whole: [ByteString] = []

        mutating func remove(_ session: ByteString) -> Known? {
            whole.removeAll { $0 == session }
            return sessions.removeValue(forKey: session)
        }

        /// Returns the entries of a session; none of an unknown one.
        func known(_ session: ByteString) -> Known {
            sessions[session] ?? Known(lastDeletion: lastDeletion, version: lastDeletion)
        }

        mutating func nextVersion() -> Int {
            changes += 1
            return changes
        }
    }

    private let state = Locked(State())

    struct Reading: Sendable {
        fileprivate let session: ByteString
        fileprivate let version: Int
    }

    struct Saving: Sendable {
        fileprivate let session: ByteString
        let difference: TranscriptDifference
        let known: Known
    }

    func entries(of id: String) -> Known {
        state.withLock { $0.known(ByteString(id)) }
    }

    /// Returns the entries of a session without a known message: those of streaming replies, which may have ended.
    func entriesWithoutMessage(in id: String) -> [UUID] {
        let known = entries(of: id)
        return known.entries.ids.filter { known.messages[$0] == nil }
    }

    func beginReading(_ id: String) -> Reading {
        let session = ByteString(id)
        return Reading(session: session, version: state.withLock { $0.known(session).version })
    }

    func finish(_ reading: Reading, with transcript: Transcript) {
        update(reading.session) { known, _ in
            guard known.version == reading.version else { return }
            known.entries = .whole(transcript.entries)
            known.owners = transcript.owners
            known.messages = EntryMessages(transcript.messages)
            known.renamed = []
            known.groups = []
            known.branched = []
        }
    }

    func beginSaving(_ id: String, _ transcript: [ChatMessage]) -> Saving {
        let known = entries(of: id)
        return Saving(
            session: ByteString(id), difference: TranscriptDifference(from: known.entries, to: transcript), known: known
        )
    }

    func finish(_ saving: Saving, _ outcome: SaveTranscriptOperation.Outcome) {
        update(saving.session) { known, version in
            // Overlapping saves may end in another order than that of their commits.
            let isAlone = known.version == saving.known.version
            known.messages.update(with: outcome.messages)
            var transcript = saving.difference.transcript
            if !outcome.partlySaved.isEmpty { transcript = transcript.map { outcome.partlySaved[$0.id] ?? $0 } }
            known.entries =
                isAlone
                ? .whole(transcript)
                : known.entries.overlapped(
                    by: transcript, since: saving.known.version < known.lastDeletion ? nil : saving.known.entries)
            known.owners = isAlone ? outcome.owners : nil
            if !known.branched.isEmpty { known.branched.formIntersection(transcript.lazy.map(\.id)) }
            known.version = version
        }
    }

    /// Moves the entries of a session with another ID.
    func rename(_ id: String, to newId: String) {
        state.withLock { state in
            guard var moved = state.remove(ByteString(id)) else { return }
            moved.entries = .hashes(moved.entries.hashes, inOrder: false)
            moved.owners = nil
            moved.version = state.nextVersion()
            state.sessions[ByteString(newId)] = moved
        }
    }

    /// Moves the entries of a session merged into another one. Messages of one may be between messages of the other now.
    /// - Parameters:
    ///   - replies: The IDs of the streaming replies after the merge.
    ///   - found: The messages of entries without a known message, before the merge.
    func merge(
        _ id: String, into newId: String, replies: Set<ByteString>, found: [UUID: SequenceNumber]
    ) {
        state.withLock { state in
            let other = state.known(ByteString(newId))
            let moved = state.remove(ByteString(id)) ?? Known()
            moved.messages.update(with: found.mapValues { EntryMessages.Message($0, isAlone: true) })
            let (own, others) = (Set(moved.entries.ids), Set(other.entries.ids))
            var known = moved
            known.messages = moved.messages.merged(with: other.messages)
            known.branched.formUnion(other.branched)
            known.groups = moved.groups + other.groups + [own.subtracting(others), others.subtracting(own)]
            known.renamed.formUnion(
                own.filter { moved.messages[$0] == nil && !replies.contains(ByteString($0.uuidString)) })
            known.renamed.formUnion(other.renamed)
            // Which of two messages a later transcript means depends on its content.
            let shared = own.intersection(others).filter { moved.messages[$0] != other.messages[$0] }
            known.renamed.formUnion(shared)
            known.messages.update(with: Dictionary(uniqueKeysWithValues: shared.map { ($0, nil) }))
            known.entries = moved.entries.merged(with: other.entries)
            known.owners = nil
            known.version = state.nextVersion()
            state.sessions[ByteString(newId)] = known
        }
    }

    /// Notes the move of an entry and all entries after it into a branch, with the other entries of its message.
    func branch(_ id: String, from entry: UUID) {
        state.withLock { state in
            guard var known = state.sessions.removeValue(forKey: ByteString(id)) else { return }
            defer { state.sessions[ByteString(id)] = known }
            let ids = known.entries.ids
            guard var first = ids.firstIndex(of: entry) else { return }
            let message = known.messages[entry]?.sequence
            while first > 0, let message, known.messages[ids[first - 1]]?.sequence == message { first -= 1 }
            known.branched.formUnion(ids[first...])
        }
    }

    func forget(_ id: String) {
        state.withLock { state in
            _ = state.remove(ByteString(id))
            let version = state.nextVersion()
            state.sessions[ByteString(id)] = Known(lastDeletion: version, version: version)
        }
    }

    func forgetAll() {
        state.withLock { state in
            let last = state.nextVersion()
            state = State(changes: last, lastDeletion: last)
        }
    }

    /// - Parameter change: The change to the entries. It gets the version of a save.
    private func update(_ session: ByteString, _ change: (inout Known, _ version: Int) -> Void) {
        state.withLock { state in
            var known = state.known(session)
            change(&known, state.nextVersion())
            state.sessions[session] = known
            state.whole.removeAll { $0 == session }
            state.whole.append(session)
            guard state.whole.count > Self.limit else { return }
            let oldest = state.whole.removeFirst()
            guard let entries = state.sessions[oldest]?.entries else { return }
            state.sessions[oldest]?.entries = entries.compact
            state.sessions[oldest]?.owners = nil
            state.sessions[oldest]?.messages.compact()
        }
    }
}
