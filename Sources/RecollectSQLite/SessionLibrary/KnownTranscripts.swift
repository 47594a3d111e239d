import Foundation
import RecollectCore

/// The entries shown or saved by a session storage, by session. The next save is compared with them.
///
/// Only an entry shown or saved before may be removed. Only an entry differing from its shown or saved content was
/// edited by the UI. The transcripts of the most recently used sessions are kept in full and share their texts with
/// the UI. For all other sessions, 24 bytes per entry hold an ID and a hash, and the same rules apply.
final class KnownTranscripts: Sendable {
    /// The maximum number of transcripts kept in full.
    static let limit = 16

    private struct Known {
        var entries = KnownChatMessages.whole([])
        /// `nil` if the messages of entries are unknown.
        var owners: [UUID: Transcript.Owner]?
        /// The number of saves, so that a read begun before a save does not replace its result.
        var version = 0
    }

    private struct State {
        var sessions: [ByteString: Known] = [:]
        /// The sessions with transcripts kept in full, the most recently used at the end.
        var whole: [ByteString] = []

        mutating func remove(_ session: ByteString) -> Known? {
            whole.removeAll { $0 == session }
            return sessions.removeValue(forKey: session)
        }
    }

    private let state = Locked(State())

    struct Reading: Sendable {
        fileprivate let session: ByteString
        fileprivate let version: Int
    }

    struct Saving: Sendable {
        fileprivate let session: ByteString
        fileprivate let version: Int
        let difference: TranscriptDifference
        let known: KnownChatMessages
        let owners: [UUID: Transcript.Owner]?
    }

    func beginReading(_ id: String) -> Reading {
        let session = ByteString(id)
        return Reading(session: session, version: state.withLock { $0.sessions[session]?.version ?? 0 })
    }

    func finish(_ reading: Reading, with transcript: Transcript) {
        update(reading.session) { known in
            guard known.version == reading.version else { return }
            known.entries = .whole(transcript.entries)
            known.owners = transcript.owners
        }
    }

    func beginSaving(_ id: String, _ transcript: [ChatMessage]) -> Saving {
        let session = ByteString(id)
        let known = state.withLock { $0.sessions[session] }
        let difference = TranscriptDifference(from: known?.entries ?? .whole([]), to: transcript)
        return Saving(
            session: session, version: known?.version ?? 0, difference: difference,
            known: known?.entries ?? .whole([]), owners: known?.owners)
    }

    func finish(_ saving: Saving, owners: [UUID: Transcript.Owner]?) {
        update(saving.session) { known in
            // Overlapping saves may end in another order than that of their commits.
            let isAlone = known.version == saving.version
            let transcript = saving.difference.transcript
            known.entries = isAlone ? .whole(transcript) : known.entries.overlapped(by: transcript)
            known.owners = isAlone ? owners : nil
            known.version += 1
        }
    }

    func move(_ id: String, to newId: String) {
        state.withLock { state in
            guard id != newId, let moved = state.remove(ByteString(id)) else { return }
            // After a merge of two sessions, messages of one may be between messages of the other. A window with
            // the transcript of one must not remove messages of the other.
            let other = state.sessions[ByteString(newId)]
            state.sessions[ByteString(newId)] = Known(
                entries: .hashes(moved.entries.hashes, inOrder: false),
                version: max(moved.version, other?.version ?? 0) + 1)
        }
    }

    func forget(_ id: String) {
        state.withLock { _ = $0.remove(ByteString(id)) }
    }

    func forgetAll() {
        state.withLock { $0 = State() }
    }

    private func update(_ session: ByteString, _ change: (inout Known) -> Void) {
        state.withLock { state in
            change(&state.sessions[session, default: Known()])
            state.whole.removeAll { $0 == session }
            state.whole.append(session)
            guard state.whole.count > Self.limit else { return }
            let oldest = state.whole.removeFirst()
            guard let entries = state.sessions[oldest]?.entries else { return }
            state.sessions[oldest]?.entries = entries.compact
            state.sessions[oldest]?.owners = nil
        }
    }
}
