import Foundation
import RecollectCore

/// The entries shown or saved by a session storage, by session. The next save is compared with them.
///
/// Only an entry shown or saved before may be removed. Only an entry differing from its shown or saved content was
/// edited by the UI. The transcripts of the most recently used sessions are kept in full and share their texts with
/// the UI. For all other sessions, 60 bytes per entry hold an ID, hashes and a sequence number, and the same rules apply.
///
/// The operations on one session run one after another: see `SessionOperationQueue`.
final class KnownTranscripts: Sendable {
    /// The maximum number of transcripts kept in full.
    static let limit = 16

    /// A read returned during a save or a move. It counts as shown for later calls only.
    private struct Read {
        /// `nil` for a missing session.
        let transcript: Transcript?
        /// The number of the last call before it returned.
        let lastCall: Int
        /// The entries written by saves since.
        var saved: Set<UUID> = []
        /// The changes of branches since.
        var branches: [BranchChange] = []

        /// Whether a window may have shown it before it saved a transcript.
        func isShown(before saved: [ChatMessage]) -> Bool {
            guard let entries = transcript?.entries, !entries.isEmpty else { return true }
            let ids = Set(entries.map(\.id))
            return saved.contains { ids.contains($0.id) }
        }
    }

    private struct State {
        var sessions: [ByteString: KnownSession] = [:]
        /// The numbers of the running and waiting saves, moves and deletions, by session. `nil` is for all sessions.
        var calls: [ByteString?: Set<Int>] = [:]
        var callCount = 0
        /// The reads returned during these calls, in order.
        var reads: [ByteString: [Read]] = [:]
        /// The number of running reads.
        var readCount = 0
        /// The last move of each session during a running read.
        var moves: [ByteString: (newId: String, call: Int)] = [:]
        /// The last moves of each ID, in order. An ID may be used again, and moved again.
        var newIDs: [ByteString: [(newId: ByteString, call: Int)]] = [:]
        /// The maximum number of moves noted for an ID.
        static let maxMoves = 64
        /// The sessions with transcripts kept in full, the most recently used at the end.
        var whole: [ByteString] = []

        mutating func remove(_ session: ByteString) -> KnownSession? {
            whole.removeAll { $0 == session }
            return sessions.removeValue(forKey: session)
        }

        /// Sets the entries of a session with its transcript in full, and compacts the least recently used one.
        mutating func set(_ known: KnownSession, of session: ByteString) {
            sessions[session] = known
            whole.removeAll { $0 == session }
            whole.append(session)
            guard whole.count > KnownTranscripts.limit else { return }
            let oldest = whole.removeFirst()
            guard let entries = sessions[oldest]?.entries else { return }
            sessions[oldest]?.entries = entries.compact
            sessions[oldest]?.owners = nil
            sessions[oldest]?.messages.compact()
        }

        /// Notes the reads of a session returned before a call, or all of them.
        /// - Parameter saved: The transcript of the call. A read without an entry in it was not shown by the caller's window,
        ///   but requested by another task.
        mutating func applyReads(of session: ByteString, before call: Int = .max, saving saved: [ChatMessage]? = nil) {
            guard let reads = reads[session] else { return }
            let earlier = reads.last { $0.lastCall < call }
            if let earlier, saved.map(earlier.isShown) ?? true { apply(earlier, to: session) }
            let later = reads.filter { $0.lastCall >= call }
            self.reads[session] = later.isEmpty ? nil : later
        }

        /// Notes a read as shown.
        mutating func apply(_ transcript: Transcript?, to session: ByteString) {
            guard let transcript else {
                guard var known = sessions.removeValue(forKey: session) else { return }
                known.absent = Set(known.entries.ids).union(known.ended.keys)
                // Other messages may have the IDs of the entries by now.
                known.messages = EntryMessages()
                known.owners = nil
                sessions[session] = known
                return
            }
            var known = KnownSession(hasTranscript: true)
            known.entries = .whole(transcript.entries)
            known.owners = transcript.owners
            known.messages = EntryMessages(transcript.messages)
            let streaming = Set(transcript.entries.lazy.filter { !$0.isComplete }.map(\.id))
            let before = self.known(session)
            known.ended = before.ended.filter { streaming.contains($0.key) }
            known.removed = before.removed.subtracting(transcript.entries.lazy.map(\.id))
            set(known, of: session)
        }

        /// Notes an earlier read as shown. Entries saved since are known, but not removed: it may be without them.
        private mutating func apply(_ read: Read, to session: ByteString) {
            let before = known(session)
            apply(read.transcript, to: session)
            guard read.transcript != nil, var known = sessions[session] else { return }
            if !read.saved.isEmpty {
                let saved = before.entries.hashes.filter { read.saved.contains($0.id) }
                let shown = Set(known.entries.ids)
                // The window may have the content read or the content saved.
                let others = known.entries.hashes.filter { !saved.contains($0) }
                known.entries = .hashes(others + saved, inOrder: false)
                known.owners = nil
                known.messages = known.messages.merged(with: before.messages)
                known.branched.formUnion(saved.lazy.map(\.id).filter { !shown.contains($0) })
            }
            for change in read.branches { known.note(change) }
            set(known, of: session)
        }

        /// Notes all reads of a session before its merge. Waiting saves do not remove entries known only from reads returned
        /// after the call of the merge.
        mutating func applyReads(of session: ByteString, beforeMerge call: Int) {
            applyReads(of: session, before: call)
            let shown = Set(known(session).entries.ids)
            applyReads(of: session)
            guard let later = sessions[session]?.entries.ids.filter({ !shown.contains($0) }) else { return }
            sessions[session]?.branched.formUnion(later)
        }

        /// Notes a move, for the running reads. Reads returned after its call stay for later calls under the new ID.
        mutating func move(_ session: ByteString, to newId: String, call: Int) {
            if readCount > 0 { moves[session] = (newId, call) }
            newIDs[session] = newIDs[session, default: []].suffix(Self.maxMoves - 1) + [(ByteString(newId), call)]
            if let later = reads.removeValue(forKey: session) { reads[ByteString(newId), default: []] += later }
        }

        /// Returns the ID of a session after its moves since a call.
        func currentID(of session: ByteString, after call: Int) -> ByteString {
            var (session, call) = (session, call)
            while let move = newIDs[session]?.first(where: { $0.call > call }) { (session, call) = move }
            return session
        }

        /// Returns the entries of a session; none of an unknown one.
        func known(_ session: ByteString) -> KnownSession { sessions[session] ?? KnownSession() }
    }

    private let state = Locked(State())

    func entries(of id: String) -> KnownSession {
        state.withLock { $0.known(ByteString(id)) }
    }

    /// Returns the entries of a session without a known message: those of streaming replies, ended or not.
    func entriesWithoutMessage(in id: String) -> [UUID] {
        let known = entries(of: id)
        return known.entries.ids.filter { known.messages[$0] == nil }
    }

    /// Notes the call of a save, a move or a deletion, before its turn. Returns its number.
    /// - Parameter ids: The IDs of the sessions; `nil` for all sessions.
    func beginCall(on ids: [String]?) -> Int {
        state.withLock { state in
            state.callCount += 1
            for session in Self.sessions(ids) { state.calls[session, default: []].insert(state.callCount) }
            return state.callCount
        }
    }

    private static func sessions(_ ids: [String]?) -> [ByteString?] { ids?.map { ByteString($0) } ?? [nil] }

    func endCall(_ number: Int, on ids: [String]?) {
        state.withLock { state in
            for session in Self.sessions(ids) {
                state.calls[session]?.remove(number)
                guard state.calls[session]?.isEmpty == true else { continue }
                state.calls[session] = nil
                guard let session else { continue }
                if let last = state.reads[session]?.last { state.reads[session] = [last] }
            }
        }
    }

    /// Returns the entries known to a window at its call of a save, at the beginning of its turn.
    /// - Parameter saved: The transcript to save.
    func entries(of id: String, beforeCall call: Int, saving saved: [ChatMessage]) -> KnownSession {
        state.withLock { state in
            state.applyReads(of: ByteString(id), before: call, saving: saved)
            return state.known(ByteString(id))
        }
    }

    /// Begins a read. Returns the number of the last call.
    func beginRead() -> Int {
        state.withLock { state in
            state.readCount += 1
            return state.callCount
        }
    }

    func endRead() {
        state.withLock { state in
            state.readCount -= 1
            if state.readCount == 0 { state.moves = [:] }
        }
    }

    /// The number of the last call of a save, a move or a deletion.
    var lastCall: Int { state.withLock { $0.callCount } }

    /// Returns the new ID of a session moved after a call during a running read, and the number of the move.
    func move(of id: String, after call: Int) -> (newId: String, call: Int)? {
        state.withLock { $0.moves[ByteString(id)].flatMap { $0.call > call ? $0 : nil } }
    }

    /// Notes a session read from the history, right before it is returned. It counts as shown for later calls only.
    /// - Parameters:
    ///   - transcript: The transcript; `nil` for a missing session.
    ///   - call: The number of the last call before the read.
    ///   - lastMove: The number of a move. A missing session is not noted after a later move of it.
    ///   - isLast: Whether it is returned though a save, a move or a deletion of the session was called since.
    /// - Returns: Whether none of them was called since. Otherwise, the read may be repeated.
    func note(_ transcript: Transcript?, of id: String, since call: Int, lastMove: Int, isLast: Bool) -> Bool {
        state.withLock { state in
            let session = ByteString(id)
            if transcript == nil, let move = state.moves[session], move.call > lastMove { return false }
            if ![session, nil].contains(where: { state.calls[$0]?.contains { $0 > call } == true }) {
                // Of a missing session, the waiting read is what the window shows.
                if transcript == nil { state.applyReads(of: session) }
                state.reads[session] = nil
                state.apply(transcript, to: session)
                return true
            }
            if isLast {
                state.reads[session, default: []].append(Read(transcript: transcript, lastCall: state.callCount))
            }
            return false
        }
    }

    /// Notes a saved transcript.
    func note(_ saved: TranscriptDifference, _ outcome: SaveTranscriptOperation.Outcome, of id: String) {
        state.withLock { state in
            var known = state.known(ByteString(id))
            known.hasTranscript = true
            known.messages.update(with: outcome.messages)
            var transcript = saved.transcript
            if !outcome.partlySaved.isEmpty { transcript = transcript.map { outcome.partlySaved[$0.id] ?? $0 } }
            let hidden = known.hidden(by: transcript)
            // A removed entry saved again, and one that is now a message of its own, are no longer those of the ended reply.
            // Unchanged entries are known, and no known entry is among the removed ones.
            known.removed.formUnion(outcome.removed)
            known.removed.subtract(transcript[saved.changed].lazy.map(\.id))
            known.ended = known.ended.filter { !known.removed.contains($0.key) && !outcome.inserted.contains($0.key) }
            known.entries =
                hidden.isEmpty
                ? .whole(transcript) : .hashes(transcript.map(ChatMessageHash.init) + hidden, inOrder: false)
            known.owners = outcome.owners
            known.absent = []
            if hidden.isEmpty { known.groups = [] }
            known.forgetEnded(in: transcript)
            if !known.branched.isEmpty {
                known.branched.formIntersection(transcript.lazy.map(\.id))
                known.branched.subtract(outcome.noLongerBranched)
            }
            state.set(known, of: ByteString(id))
            let written = saved.transcript[saved.changed].lazy.map(\.id).filter { !saved.unchanged.contains($0) }
            for index in state.reads[ByteString(id)]?.indices ?? 0..<0 {
                state.reads[ByteString(id)]?[index].saved.formUnion(written)
            }
        }
    }

    /// Notes the end of a reply begun by the storage, as saved or as given.
    /// - Parameter call: The number of the last call before the reply was begun.
    func note(ended reply: ConversationMessage, in id: String, begunAfter call: Int = 0) {
        var entries = reply.chatMessages()
        let texts = entries.filter { $0.messageType == .text }
        if entries.count > 1, var one = texts.first, let own = UUID(uuidString: reply.id) {
            // A UI without tools shows the texts as one entry.
            one.id = own
            one.content = texts.map(\.content).joined()
            entries.append(one)
        }
        guard let first = entries.first?.id else { return }
        let ended = Dictionary(
            entries.map { ($0.id, EndedReply(hashes: [ChatMessageHash($0)], reply: first)) }, uniquingKeysWith: { $1 })
        state.withLock { state in
            state.sessions[state.currentID(of: ByteString(id), after: call), default: KnownSession()].note(ended)
        }
    }

    /// Returns the ID of a session after its moves since a call.
    func currentID(of id: String, after call: Int) -> String {
        state.withLock { $0.currentID(of: ByteString(id), after: call).string }
    }

    /// Moves the entries of a session with another ID.
    func rename(_ id: String, to newId: String, call: Int) {
        state.withLock { state in
            state.applyReads(of: ByteString(id), before: call)
            state.move(ByteString(id), to: newId, call: call)
            guard var moved = state.remove(ByteString(id)) else { return }
            moved.entries = .hashes(moved.entries.hashes, inOrder: false)
            moved.owners = nil
            // A reply may have ended under the new ID before this.
            moved.note(state.known(ByteString(newId)).ended)
            state.sessions[ByteString(newId)] = moved
        }
    }

    /// Moves the entries of a session merged into another one. Messages of one may be between messages of the other now.
    /// - Parameters:
    ///   - replies: The IDs of the streaming replies after the merge.
    ///   - found: The messages of entries without a known message, before the merge.
    func merge(
        _ id: String, into newId: String, replies: Set<ByteString>, found: [UUID: SequenceNumber], call: Int
    ) {
        state.withLock { state in
            for session in [id, newId] { state.applyReads(of: ByteString(session), beforeMerge: call) }
            state.move(ByteString(id), to: newId, call: call)
            let other = state.known(ByteString(newId))
            let moved = state.remove(ByteString(id)) ?? KnownSession()
            let isOtherShown = !other.entries.ids.isEmpty
            moved.messages.update(with: found.mapValues { EntryMessages.Message($0, isAlone: true) })
            // After a read of a missing session, a save writes all its entries.
            let (own, others) = (
                Set(moved.entries.ids).subtracting(moved.absent), Set(other.entries.ids).subtracting(other.absent)
            )
            var known = moved
            known.messages = moved.messages.merged(with: other.messages)
            known.branched.formUnion(other.branched)
            known.removed = moved.removed.union(other.removed).subtracting(own).subtracting(others)
            known.ended.merge(other.ended) { own, _ in own }
            known.absent = moved.absent.union(other.absent).subtracting(own).subtracting(others)
            known.isMerged = true
            known.hasTranscript = known.hasTranscript || other.hasTranscript
            known.groups = moved.groups + other.groups
            // Without a known transcript of the other session, no window has it.
            if isOtherShown {
                known.groups += [own.subtracting(others), others.subtracting(own)].filter { !$0.isEmpty }
            }
            known.renamed.formUnion(
                own.filter { moved.messages[$0] == nil && !replies.contains(ByteString($0.uuidString)) })
            known.renamed.formUnion(other.renamed)
            // Which of two messages a later transcript means depends on its content.
            let shared = own.intersection(others).filter { moved.messages[$0] != other.messages[$0] }
            known.renamed.formUnion(shared)
            known.messages.update(with: Dictionary(uniqueKeysWithValues: shared.map { ($0, nil) }))
            known.entries = moved.entries.merged(with: other.entries)
            known.owners = nil
            state.sessions[ByteString(newId)] = known
        }
    }

    /// Notes the messages of a session moved into a branch, and back.
    func note(_ change: BranchChange, in id: String) {
        state.withLock { state in
            let session = ByteString(id)
            if var known = state.sessions.removeValue(forKey: session) {
                known.note(change)
                state.sessions[session] = known
            }
            for index in state.reads[session]?.indices ?? 0..<0 {
                state.reads[session]?[index].branches.append(change)
            }
        }
    }

    func forget(_ id: String) {
        state.withLock { state in
            let session = ByteString(id)
            _ = state.remove(session)
            state.reads[session] = nil
        }
    }

    func forgetAll() {
        state.withLock { state in
            state.sessions = [:]
            state.reads = [:]
            state.newIDs = [:]
            state.whole = []
        }
    }
}
