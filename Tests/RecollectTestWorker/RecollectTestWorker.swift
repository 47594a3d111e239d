// A separate process for tests, which is killed, traced, and run beside others. Each command prints its acknowledged
// operations to standard output, one on each line.
import Foundation
import RecollectCore
import RecollectSQLite

@main
enum RecollectTestWorker {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "append": try await append(Array(arguments.dropFirst()))
        case "insist": try await appendUntilSaved(Array(arguments.dropFirst()))
        case "compact": try await compact(Array(arguments.dropFirst()))
        case "measure": try await measure(Array(arguments.dropFirst()))
        case "stream": try await stream(Array(arguments.dropFirst()))
        case "reply": try await reply(Array(arguments.dropFirst()))
        case "recover": try await recover(Array(arguments.dropFirst()))
        case "sessions": try await sessions(Array(arguments.dropFirst()))
        case "branches": try await branches(Array(arguments.dropFirst()))
        case "turns": try await turns(Array(arguments.dropFirst()))
        case "repair": try await repair(Array(arguments.dropFirst()))
        case "journal": try await journal(Array(arguments.dropFirst()))
        case "entries": try await entries(Array(arguments.dropFirst()))
        case "hold": try await hold(Array(arguments.dropFirst()))
        case "lock": try lock(Array(arguments.dropFirst()))
        case "lock-index": try lockIndex(Array(arguments.dropFirst()))
        case "read": await read(Array(arguments.dropFirst()))
        case "delete": try await delete(Array(arguments.dropFirst()))
        case "close": try await close(Array(arguments.dropFirst()))
        case "lines": try lines(Array(arguments.dropFirst()))
        case "workspace": try await workspace(Array(arguments.dropFirst()))
        case "explored": await explored(Array(arguments.dropFirst()))
        case "descriptors": try await descriptors(Array(arguments.dropFirst()))
        case "faults": try await faults(Array(arguments.dropFirst()))
        #if Postgres
            case "postgres-turns": try await postgresTurns(Array(arguments.dropFirst()))
        #endif
        default:
            let usage =
                "usage: RecollectTestWorker append|insist|compact|measure|stream|reply|recover|sessions|branches|turns|repair|journal|entries|hold|lock|lock-index|read|delete|close|lines|workspace|explored|descriptors|faults|postgres-turns …\n"
            FileHandle.standardError.write(Data(usage.utf8))
            exit(64)
        }
    }
}

/// Prints a line without buffering, so that it is written before a kill.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

/// An input and its reply. Their IDs name the writer and the turn.
func turn(_ number: Int, of writer: String, padding: Int = 0) -> [ConversationMessage] {
    let text = "question \(number) " + String(repeating: "?", count: padding)
    return [
        ConversationMessage(id: "\(writer)-\(number)-q", role: .user, text: text),
        ConversationMessage(id: "\(writer)-\(number)-a", role: .assistant, text: "answer \(number)"),
    ]
}

/// Returns the store of an argument: `history:FOLDER` is a SQLite history, `relaxed:FOLDER` one of relaxed durability,
/// `defaults:SUITE` a suite of user defaults, and anything else a folder of files.
func store(at location: String, sameRole: SameRolePolicy) -> any ChatStorage {
    for (prefix, durability) in [("history:", Durability.full), ("relaxed:", .relaxed)] where location.hasPrefix(prefix)
    {
        let history = SQLiteHistoryStore(
            directory: URL(fileURLWithPath: String(location.dropFirst(prefix.count))),
            configuration: HistoryConfiguration(durability: durability))
        return DeviceChatStorage(history: history, userId: "u", sameRole: sameRole)
    }
    if location.hasPrefix("defaults:") {
        return UserDefaultsChatStorage(suiteName: String(location.dropFirst("defaults:".count)), sameRole: sameRole)
    }
    return FileChatStorage(baseURL: URL(fileURLWithPath: location), sameRole: sameRole)
}

/// `append STORE AGENT WRITER COUNT BUDGET PADDING`: saves turns to user `u`, session `s`, and prints `saved N` after
/// each. A budget of 0 is none.
func append(_ arguments: [String]) async throws {
    let store = store(at: arguments[0], sameRole: .keep)
    let budget = Int(arguments[4]) ?? 0
    for number in 0..<(Int(arguments[3]) ?? 0) {
        try await store.saveMessages(
            turn(number, of: arguments[2], padding: Int(arguments[5]) ?? 0), userId: "u", sessionId: "s",
            agentId: arguments[1],
            maxMessages: budget == 0 ? nil : budget)
        say("saved \(number)")
    }
}

/// `insist STORE AGENT COUNT`: saves turns of a writer named like the agent, retries each until it succeeds, and prints
/// `failed N CODE` or `saved N`.
func appendUntilSaved(_ arguments: [String]) async throws {
    let store = store(at: arguments[0], sameRole: .drop)
    for number in 0..<(Int(arguments[2]) ?? 0) {
        for attempt in 0... {
            do {
                try await store.saveMessages(
                    turn(number, of: arguments[1]), userId: "u", sessionId: "s", agentId: arguments[1], maxMessages: nil
                )
                say("saved \(number)")
                break
            } catch let error as RecollectError {
                say("failed \(number) \(error.code.rawValue)")
                if attempt == 100 { exit(1) }
            }
        }
    }
}

/// `measure FOLDER COUNT BUDGET`: saves turns and prints for each the bytes that this process read and wrote, as
/// counted by the kernel: `read N written N`. Linux only.
func measure(_ arguments: [String]) async throws {
    let store = FileChatStorage(baseURL: URL(fileURLWithPath: arguments[0]), durability: .relaxed)
    let budget = Int(arguments[2]) ?? 0
    var lines: [String] = []
    for number in 0..<(Int(arguments[1]) ?? 0) {
        let before = try traffic()
        try await store.saveMessages(
            turn(number, of: "w"), userId: "u", sessionId: "s", agentId: "a", maxMessages: budget == 0 ? nil : budget)
        let after = try traffic()
        lines.append("read \(after.read - before.read) written \(after.written - before.written)")
    }
    say(lines.joined(separator: "\n"))
}

/// The bytes that this process has read and written so far. Reading them adds a nearly constant number.
func traffic() throws -> (read: Int, written: Int) {
    var numbers: [String: Int] = [:]
    for line in try String(contentsOfFile: "/proc/self/io", encoding: .utf8).split(separator: "\n") {
        let fields = line.split(separator: ":")
        numbers[String(fields[0])] = Int(fields[1].dropFirst())
    }
    return (numbers["rchar", default: 0], numbers["wchar", default: 0])
}
