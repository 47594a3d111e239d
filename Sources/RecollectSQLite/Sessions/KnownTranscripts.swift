import Foundation
import RecollectCore

/// What a session storage has shown or saved of each session: what the next save is compared with.
///
/// Only an entry shown or saved before may be removed. Only an entry differing from its shown or saved content was edited by the UI.
/// The transcripts of the sessions used last are kept whole and share their texts with the UI. Of all others an id and a hash are
/// kept for each entry, in 24 bytes, and the same rules hold.
final class KnownTranscripts: Sendable {
    /// How many transcripts are kept whole.
    static let limit = 16

    private struct Known {
        var entries = KnownEntries.whole([])
        /// `nil` where it is not known which messages entries belong to.
        var owners: [UUID: Transcript.Owner]?
        /// Counts saves, so that what was read before a save does not take its place.
        var version = 0
    }

    private struct State {
        var sessions: [ByteString: Known] = [:]
        /// Those whose transcripts are kept whole, the last used at the end.
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
            session: session, version: known?.version ?? 0, difference: difference, owners: known?.owners)
    }

    func finish(_ saving: Saving, owners: [UUID: Transcript.Owner]?) {
        update(saving.session) { known in
            // Saves that overlap may end in another order than they were committed in.
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
            // Where two became one, the messages of one may stand between those of the other. A window with the transcript of one
            // must not remove those of the other.
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
