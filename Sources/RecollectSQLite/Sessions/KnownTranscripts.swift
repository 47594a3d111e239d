import Foundation
import RecollectCore

/// What a session storage has shown or saved of each session: what the next save is compared with.
///
/// The transcripts of the sessions used last are kept whole, sharing their texts with the UI that shows them; of others the
/// ids alone, because only what was shown or saved may be removed.
final class KnownTranscripts: Sendable {
    /// How many transcripts are kept whole.
    static let limit = 16

    private struct Known {
        /// `nil` where only the ids are kept.
        var entries: [ChatMessage]?
        var ids: Set<UUID> = []
        /// `nil` where it is not known which messages entries belong to.
        var owners: [UUID: Transcript.Owner]?
        /// Counts saves, so that what was read before a save does not take its place.
        var version = 0

        var allIDs: Set<UUID> { entries.map { Set($0.map(\.id)) } ?? ids }
    }

    private struct State {
        var sessions: [ByteString: Known] = [:]
        /// Those whose transcripts are kept whole, the last used at the end.
        var whole: [ByteString] = []
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
            known.ids = []
            known.entries = transcript.entries
            known.owners = transcript.owners
        }
    }

    func beginSaving(_ id: String, _ transcript: [ChatMessage]) -> Saving {
        let session = ByteString(id)
        let known = state.withLock { $0.sessions[session] }
        let difference =
            if let entries = known?.entries {
                TranscriptDifference(from: entries, to: transcript)
            } else {
                TranscriptDifference(knownIDs: known?.ids ?? [], to: transcript)
            }
        return Saving(
            session: session, version: known?.version ?? 0, difference: difference, owners: known?.owners)
    }

    func finish(_ saving: Saving, owners: [UUID: Transcript.Owner]?) {
        update(saving.session) { known in
            // Saves that overlap may end in another order than they were committed in: no one knows what lies there.
            let isAlone = known.version == saving.version
            known.ids = isAlone ? [] : known.allIDs.union(saving.difference.transcript.map(\.id))
            known.entries = isAlone ? saving.difference.transcript : nil
            known.owners = isAlone ? owners : nil
            known.version += 1
        }
    }

    func move(_ id: String, to newId: String) {
        state.withLock { state in
            guard id != newId, let moved = state.sessions.removeValue(forKey: ByteString(id)) else { return }
            // Two that became one are read anew; what was shown of either may still be removed.
            let other = state.sessions[ByteString(newId)]
            let ids = moved.allIDs.union(other?.allIDs ?? [])
            state.sessions[ByteString(newId)] = Known(
                ids: ids, version: max(moved.version, other?.version ?? 0) + 1)
        }
    }

    func forget(_ id: String) {
        state.withLock { $0.sessions[ByteString(id)] = nil }
    }

    func forgetAll() {
        state.withLock { $0.sessions = [:] }
    }

    private func update(_ session: ByteString, _ change: (inout Known) -> Void) {
        state.withLock { state in
            change(&state.sessions[session, default: Known()])
            state.whole.removeAll { $0 == session }
            state.whole.append(session)
            guard state.whole.count > Self.limit else { return }
            let oldest = state.whole.removeFirst()
            guard let ids = state.sessions[oldest]?.allIDs else { return }
            state.sessions[oldest]?.ids = ids
            state.sessions[oldest]?.entries = nil
            state.sessions[oldest]?.owners = nil
        }
    }
}
