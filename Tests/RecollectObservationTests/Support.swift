import Foundation
import Observation
import RecollectCore
import RecollectSQLite

@testable import RecollectObservation

/// The current date of all lists in these tests.
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

/// A folder that is removed after the test, in memory if the system has a folder there.
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
    /// Saves a user message in a session, dated the given number of hours before noon.
    func say(_ text: String, in name: String, hoursAgo hours: Double = 0, by agentId: String = "a") async throws {
        let message = ConversationMessage(role: .user, text: text, timestamp: noon.addingTimeInterval(-3600 * hours))
        try await append([message], to: key(name).scope(agentId: agentId))
    }

    /// Saves sessions `s000`, `s001`, … with one message each, each session an hour older than the previous one.
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

/// Waits until a condition on observable properties of a list is true, or the test's time limit is reached. Uses no clock:
/// the condition is evaluated again when one of those properties changes.
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
    /// A list with `noon` as the current date and, by default, no delay between updates.
    convenience init(
        _ history: any HistoryStore, pageSize: Int = 50, spacing: Duration = .zero,
        clock: any Clock<Duration> = ContinuousClock(), calendar: Calendar = utc
    ) {
        self.init(
            history: history, userId: "ann", pageSize: pageSize, searchDelay: .milliseconds(200), spacing: spacing,
            calendar: calendar, clock: clock, now: { noon })
    }

    /// Starts the list and waits until it is loaded.
    func started() async -> SessionList {
        start()
        await until { !isLoading }
        return self
    }

    /// Waits until the list shows all changes saved before this call.
    func waitForUpdates() async throws {
        // A change of another user: the last number of the feed may belong to a change that the feed omits.
        try await history.update(key("mark", of: "nobody"), with: SessionDetails(title: "x"))
        let cursor = try await history.latestChangeCursor()
        await until { followed >= cursor }
    }

    var names: [String] { sessions.map(\.id.sessionId) }
}
