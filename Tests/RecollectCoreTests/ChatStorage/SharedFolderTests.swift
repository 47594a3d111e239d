import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Two stores on one folder")
struct SharedFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func store() -> FileChatStorage {
        FileChatStorage(baseURL: folder.url, durability: .relaxed)
    }

    /// A turn with an input of the given length and a reply that ends like every other.
    private func turn(_ number: Int, _ length: Int, answer: Int = 100) -> [ConversationMessage] {
        let tail = String(repeating: "This assistant gives no legal advice. ", count: 10)
        let id = String(100_000 + number)
        let date = Date(millisecondsSince1970: 1_700_000_000_000)
        return [
            ConversationMessage(
                id: "u\(id)", role: .user, text: String(repeating: "q", count: length), timestamp: date),
            ConversationMessage(
                id: "a\(id)", role: .assistant, text: String(repeating: "r", count: answer) + tail, timestamp: date),
        ]
    }

    @Test("A trimmed message saved again by the other store is known, and a new message after it is saved")
    func savedAgain() async throws {
        let (one, other) = (store(), store())
        let turns = (0..<5).map { turn($0, 10) }
        try await one.saveMessages(
            turns[0] + turns[1], userId: "u", sessionId: "s", agentId: "a", maxMessages: 4)
        // The other store trims the first turn, and saves it again.
        try await other.saveMessages(turns[2], userId: "u", sessionId: "s", agentId: "a", maxMessages: 4)
        try await other.saveMessages(turns[0], userId: "u", sessionId: "s", agentId: "a", maxMessages: 6)
        try await one.saveMessages(
            [turns[0][0], turns[3][0]], userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        for store in [one, other] {
            let all = try await store.fetch(userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
            #expect(all == turns[1] + turns[2] + turns[0] + [turns[3][0]])
        }
    }

    @Test("Two stores that create a session concurrently use the same folder")
    func madeTogether() async throws {
        for round in 0..<60 {
            let sessionFolders = (0..<2).map { _ in
                SessionFolder(SessionKey(userId: "user \(round)", sessionId: "s"), base: folder.url.path)
            }
            let names = await withTaskGroup(of: String?.self) { group in
                for sessionFolder in sessionFolders {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            DispatchQueue.global().async {
                                var sessionFolder = sessionFolder
                                continuation.resume(returning: try? sessionFolder.make().path)
                            }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(names[0] != nil && names[0] == names[1])
        }
    }

    @Test("A file that another store moved to the same length and the same end is read again")
    func movedAlike() async throws {
        let (mine, other) = (store(), store())
        try await other.save((0..<3).flatMap { turn($0, 9000) }, budget: 6)
        try await other.save((3..<6).flatMap { turn($0, 1000) }, budget: 6)
        #expect(try await mine.load().count == 6)
        try await other.save((6..<9).flatMap { turn($0, 9000) }, budget: 6)
        try await other.save(turn(9, 500) + turn(10, 1500) + turn(11, 1000), budget: 6)
        let saved = turn(9, 500) + turn(10, 1500) + turn(11, 1000)
        // A retry of a message that the other store saved is recognized.
        try await mine.save(turn(11, 1000))
        #expect(try await store().load() == saved)
        try await mine.save(turn(12, 10), budget: 4)
        #expect(try await store().load() == turn(11, 1000) + turn(12, 10))
        #expect(try folder.names() == ["a.json"])
    }

    @Test("A file moved by a trim begins its first message on a line, as salvage expects")
    func movedBeginning() async throws {
        let store = store()
        try await store.save((0..<6).flatMap { turn($0, 9000) })
        try await store.save(turn(6, 10), budget: 2)
        let bytes = try Data(contentsOf: folder.file())
        #expect(bytes.starts(with: Data("[\n{".utf8)) && bytes.count < 2000)
        #expect(try await self.store().load() == turn(6, 10))
    }

    @Test("An older content of the same length, restored after a trim, is read", arguments: [true, false])
    func putBack(isInPlace: Bool) async throws {
        let mine = store()
        try await mine.save(turn(0, 10) + turn(1, 10) + turn(2, 10))
        let older = try Data(contentsOf: folder.file())
        try await mine.save([], budget: 2)
        #expect(try await mine.load() == turn(2, 10))
        try #require(try Data(contentsOf: folder.file()).count == older.count)
        // An instance that has never read the trimmed messages.
        let later = store()
        #expect(try await later.load() == turn(2, 10))
        if isInPlace {
            let file = try FileHandle(forWritingTo: folder.file())
            try file.write(contentsOf: older)
            try file.close()
        } else {
            try older.write(to: folder.file(), options: .atomic)
        }
        let all = turn(0, 10) + turn(1, 10) + turn(2, 10)
        #expect(try await mine.load() == all)
        // The restored messages count as saved.
        try await later.save(turn(0, 10))
        #expect(try await later.load() == all)
        #expect(try await store().load() == all)
        try await mine.save(turn(3, 10), budget: 2)
        #expect(try await store().load() == turn(3, 10))
        #expect(try folder.names() == ["a.json"])
    }

    @Test("A bracket in a message, where a trimmed array ended, hides no message")
    func bracketAtTheEnd() async throws {
        let (mine, other) = (store(), store())
        try await mine.save(turn(0, 5000), budget: 0)
        let closing = try Data(contentsOf: folder.file()).count - 1
        try await other.save(turn(1, 10_000, answer: 10_000))
        // The other store moves these messages to a new file. A bracket after spaces stands at the known offset.
        let beginning = EncodedMessage(turn(2, 0)[0]).bytes
        let text = try #require(Data(beginning).range(of: Data("\"_0\":\"".utf8))).upperBound
        var question = turn(2, 0)[0]
        question.parts = [.text(String(repeating: " ", count: closing - text - 2) + "] words")]
        let saved = [question, turn(2, 0)[1]]
        try await other.save(saved, budget: 2)
        #expect(try Data(contentsOf: folder.file())[closing] == Byte.closingBracket)
        #expect(try await mine.load() == saved)
        try await mine.save(turn(3, 10))
        #expect(try await store().load() == saved + turn(3, 10))
        #expect(try folder.names() == ["a.json"])
    }

    @Test("Random saves of few lengths through two stores have the same result as through one store")
    func randomSaves() async {
        await Seeds.run(3) { seed in
            var generator = SeededGenerator(seed: seed)
            let agent = "\(seed)"
            let stores = [store(), store()]
            var saved: [ConversationMessage] = []
            for number in 0..<160 {
                let store = stores[Int.random(in: 0...1, using: &generator)]
                let lengths = [9000, 500, 1000, 1500]
                let new = turn(number, lengths[Int.random(in: 0..<4, using: &generator)])
                let batch = Bool.random(using: &generator) ? new : Array(saved.suffix(2)) + new
                let budget = [2, 4, 6][Int.random(in: 0...2, using: &generator)]
                try await store.save(batch, agent: agent, budget: budget)
                saved = Array((saved + new).suffix(budget))
                if number.isMultiple(of: 3) {
                    let reader = stores[Int.random(in: 0...1, using: &generator)]
                    try #require(try await reader.load(agent: agent) == saved, "turn \(number)")
                }
            }
            #expect(try await self.store().load(agent: agent) == saved)
        }
    }
}
