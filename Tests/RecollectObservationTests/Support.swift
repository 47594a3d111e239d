import Foundation
import Observation
import RecollectCore
import RecollectSQLite

@testable import RecollectObservation

/// The moment at which the tests' lists are looked at.
let noon = Date(timeIntervalSince1970: 1_750_000_000)

let utc: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
}()

func key(_ name: String, of userId: String = "ann") -> SessionKey {
    SessionKey(userId: userId, sessionId: name)
}

/// A history in memory.
func memory() -> SQLiteHistoryStore { SQLiteHistoryStore.inMemory() }

/// A folder that goes with the test, in memory where the system has such a place.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let base =
            FileManager.default.isWritableFile(atPath: memory.path) ? memory : FileManager.default.temporaryDirectory
        url = base.appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(url.path)") }
    }

    func history() -> SQLiteHistoryStore {
        SQLiteHistoryStore(directory: url, configuration: HistoryConfiguration(durability: .relaxed))
    }
}

extension HistoryStore {
    /// Says something in a session, so many hours before noon.
    func say(_ text: String, in name: String, hoursAgo hours: Double = 0, by agentId: String = "a") async throws {
        let message = ConversationMessage(role: .user, text: text, timestamp: noon.addingTimeInterval(-3600 * hours))
        try await append([message], to: key(name).scope(agentId: agentId))
    }

    /// Makes sessions `s000`, `s001`, … of one message each, each an hour older than the one before.
    func fill(_ count: Int) async throws {
        for number in 0..<count {
            try await say("talk \(number)", in: name(number), hoursAgo: Double(number))
        }
    }
}

func name(_ number: Int) -> String {
    let digits = String(number)
    return "s" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
}

/// Waits until something holds that is made of what a list shows, or the test's time is up. No clock: it looks again when one of
/// those values changes.
@MainActor
func until(_ condition: () -> Bool) async {
    while !Task.isCancelled {
        let (changes, continuation) = AsyncStream<Void>.makeStream()
        let holds = withObservationTracking(condition) { continuation.yield() }
        if holds { return }
        for await _ in changes { break }
    }
}

extension SessionList {
    /// A list at noon that waits for nothing between updates, if the test does not say otherwise.
    convenience init(
        _ history: any HistoryStore, pageSize: Int = 50, spacing: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock(), calendar: Calendar = utc
    ) {
        self.init(
            history: history, userId: "ann", pageSize: pageSize, searchDelay: .milliseconds(200), spacing: spacing,
            calendar: calendar, clock: clock, now: { noon })
    }

    /// Starts the list and waits until it was read.
    func started() async -> SessionList {
        start()
        await until { !isLoading }
        return self
    }

    /// Waits until all that was written before this call is shown.
    func settle() async throws {
        // A change of somebody else's: the last number of the feed may be one that the feed does not show.
        try await history.update(key("mark", of: "nobody"), with: SessionDetails(title: "x"))
        let cursor = try await history.latestChange()
        await until { followed >= cursor }
    }

    var names: [String] { sessions.map(\.id.sessionId) }
}
