import Foundation

/// A queue that does the file work of some sessions, one operation after the other, off the cooperative pool.
///
/// `@unchecked Sendable` because everything that changes is touched on `queue` alone.
final class FileLane: @unchecked Sendable {
    private struct Used {
        let files: SessionFiles
        var at: Int
    }

    private let queue = DispatchQueue(label: "recollect.files")
    private let base: String
    private let durability: Durability
    private let events: StoreEvents
    private var sessions: [ConversationID: Used] = [:]
    private var now = 0

    /// How many sessions a lane remembers: what it forgets is read again at its next touch.
    private static let capacity = 32

    init(base: String, durability: Durability, events: StoreEvents) {
        self.base = base
        self.durability = durability
        self.events = events
    }

    /// Runs work on the files of a session in its turn; not cancelled once it is queued.
    func run<Result: Sendable>(
        _ conversation: ConversationID, _ work: @escaping @Sendable (SessionFiles) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: Swift.Result { try work(self.files(of: conversation)) })
            }
        }
    }

    private func files(of conversation: ConversationID) -> SessionFiles {
        now += 1
        if let files = sessions[conversation]?.files {
            sessions[conversation]?.at = now
            return files
        }
        if sessions.count >= Self.capacity, let oldest = sessions.min(by: { $0.value.at < $1.value.at })?.key {
            sessions[oldest] = nil
        }
        let files = SessionFiles(conversation, base: base, durability: durability, events: events)
        sessions[conversation] = Used(files: files, at: now)
        return files
    }
}
