import Foundation
import Logging
import RecollectCore
import RecollectTesting

/// Scenarios of `FileChatStorage`.
package enum FilesUse {
    /// Turns of two agents. A power loss during a save may leave the first messages of a batch, because nothing in the
    /// file marks the end of a batch.
    static let saves: CrashScenario = {
        var scenario = CrashScenario("files: saves") { run in
            let store = open(run.folder)
            for number in 0..<6 {
                let agent = number.isMultiple(of: 3) ? "b" : "a"
                let turn = HistoryUse.turn(number, of: agent, padding: number == 4 ? 6000 : 40)
                try await run.change(agent, adding: HistoryUse.entries(turn)) {
                    try await store.saveMessages(turn, userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil)
                }
            }
        } reopen: {
            try await read($0)
        }
        scenario.atomicity = .processEnd
        return scenario
    }()

    /// Turns with a message limit: each save after the third removes the oldest turn. A power loss may undo that.
    static let trims: CrashScenario = {
        var scenario = CrashScenario("files: trims") { run in
            let store = open(run.folder)
            let turns = (0..<8).map { HistoryUse.turn($0, of: "a", padding: 200) }
            for (number, turn) in turns.enumerated() {
                let gone = number >= 3 ? HistoryUse.entries(turns[number - 3]) : []
                try await run.change("a", adding: HistoryUse.entries(turn), removing: gone) {
                    try await store.saveMessages(
                        turn, userId: "ann", sessionId: "s", agentId: "a", maxMessages: 6)
                }
            }
        } reopen: {
            try await read($0)
        }
        scenario.removalDurability = .processEnd
        scenario.atomicity = .processEnd
        return scenario
    }()

    /// Damages each byte of a chat's file and of the small files beside it.
    package static let damage = DamageScenario("damage: files") { folder in
        let store = open(folder)
        for agent in ["a", "b"] {
            for number in 0..<2 {
                try await store.saveMessages(
                    HistoryUse.turn(number, of: agent), userId: "ann", sessionId: "s", agentId: agent,
                    maxMessages: nil)
            }
        }
    } regions: { folder in
        try damagedRegions(folder)
    } reopen: {
        try await read($0)
    }

    private static func damagedRegions(_ folder: URL) throws -> [DamagedRegion] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }.sorted() ?? []
        return names.flatMap { name -> [DamagedRegion] in
            // Folders cannot be read.
            guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(name)) else { return [] }
            let messages = objects(in: bytes)
            return bytes.indices.map { byte in
                let message = messages.first { $0.range.contains(byte) }
                return DamagedRegion(
                    file: name, offset: byte, count: 1, name: message == nil ? "between messages" : "a message",
                    allowedLosses: message.map { [$0.id + " "] } ?? [], mayChange: message != nil)
            }
        }
    }

    /// The ranges of the objects in a file's array, and their IDs.
    private static func objects(in bytes: Data) -> [(range: Range<Int>, id: String)] {
        var found: [(Range<Int>, String)] = []
        var (depth, start, isText, isEscaped) = (0, 0, false, false)
        for (index, byte) in bytes.enumerated() {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isText = true
            case UInt8(ascii: "{"):
                if depth == 0 { start = index }
                depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                guard depth == 0 else { break }
                let text = String(decoding: bytes[start...index], as: UTF8.self)
                let id = text.components(separatedBy: "\"id\":\"").dropFirst().first?.prefix { $0 != "\"" }
                found.append((start..<(index + 1), id.map(String.init) ?? ""))
            default: break
            }
        }
        return found
    }

    static let all = [saves, trims]

    private static func open(_ folder: URL) -> FileChatStorage {
        FileChatStorage(
            baseURL: folder.appendingPathComponent("chats"),
            logger: Logger(label: "faults") { _ in SwiftLogNoOpLogHandler() })
    }

    private static func read(_ image: CrashImage) async throws -> CrashedStore {
        let store = open(image.folder)
        var lists: [String: [String]] = [:]
        for agent in ["a", "b"] {
            let messages = try await store.fetch(userId: "ann", sessionId: "s", agentId: agent, maxMessages: nil)
            lists[agent] = HistoryUse.entries(messages)
        }
        let isReported = store.events.takeUndelivered().contains { $0.kind == .salvaged }
        return CrashedStore(lists: lists, reportsLoss: isReported)
    }
}
