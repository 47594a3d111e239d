import Foundation
import RecollectCore
import RecollectSQLite

/// `descriptors FOLDER COUNT`: saves a message in a history, uses all file descriptors of the process, saves COUNT
/// messages with new IDs, and prints `saved ID` for each.
func descriptors(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(
        directory: URL(fileURLWithPath: arguments[0]), configuration: HistoryConfiguration(indexesInBackground: false))
    let scope = Scope(userId: "u", sessionId: "s", agentId: "a")
    func save() async throws {
        let message = ConversationMessage(role: .user, text: "text")
        try await history.append([message], to: scope)
        say("saved \(message.id)")
    }
    try await save()
    var limit = rlimit(rlim_cur: 256, rlim_max: 256)
    #if os(Linux)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
        setrlimit(RLIMIT_NOFILE, &limit)
    #endif
    while open("/dev/null", O_RDONLY) >= 0 {}
    for _ in 0..<(Int(arguments[1]) ?? 0) { try await save() }
}
