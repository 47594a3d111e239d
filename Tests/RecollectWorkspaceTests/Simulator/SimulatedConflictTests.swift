import Foundation
import RecollectCore
import RecollectTestSupport
import RecollectTesting
import Testing

@testable import RecollectWorkspace

@Suite("Conflicts in a simulated cloud") struct SimulatedConflictTests {
    private let chat = WorkspacePath(checked: ["Chats", "moby.json"])

    @Test("chat-projection: writing by two devices ends with every message and without a conflict copy")
    func projection() async throws {
        await Seeds.run(70) { seed in
            let fleet = try SimulatedFleet(seed: seed)
            var histories: [[ChatProjection.Entry]] = [[], []]
            var published: Set<String> = []
            for _ in 0..<6 {
                for index in 0..<2 {
                    if fleet.ledger.isOneIn(2) { histories[index].append(message(fleet.ledger.word())) }
                    if fleet.ledger.isOneIn(3) { _ = try await fleet[index].resolveConflicts() }
                    if try await project(&histories[index], fleet, index) {
                        published.formUnion(histories[index].map(\.message.id))
                    }
                    for _ in 0..<fleet.ledger.random(below: 4) { fleet.cloud.step() }
                }
            }
            // Resolving alone merges the written files, without another publication of a history.
            #expect(try await fleet.faults() == [])
            #expect(try ids(fleet).isSuperset(of: published), "\(fleet.name)")
            var isWritten = true
            for _ in 0..<3 {
                isWritten = false
                for index in 0..<2 where try await project(&histories[index], fleet, index) { isWritten = true }
                #expect(try await fleet.faults() == [])
            }
            #expect(!isWritten, "\(fleet.name): the devices do not stop writing")
            let names = fleet.cloud.files().keys.filter { $0.hasPrefix("Chats") }
            #expect(names.allSatisfy { $0 == "Chats/moby.json" }, "\(fleet.name): \(names)")
            #expect(try ids(fleet) == Set(histories.joined().map(\.message.id)), "\(fleet.name)")
        }
    }

    @Test(
        "conflict-copies: another device's version of a moved or trashed file stays as a file",
        arguments: [true, false])
    func versionOfMovedFile(isMoved: Bool) async throws {
        let fleet = try SimulatedFleet(seed: 1, behavior: CloudBehavior(conflicts: .fileVersions))
        let (path, newPath) = (WorkspacePath(checked: ["notes", "plan.md"]), WorkspacePath(checked: ["trip.md"]))
        try await fleet[0].write("Plan\n", to: path, replacing: nil)
        try fleet.cloud.syncCompletely()
        for index in 0..<2 { try await fleet[index].append("by \(index)\n", to: path) }
        try fleet.cloud.syncCompletely()
        #expect(try await fleet[0].status().conflicted == [path])
        let won = try await fleet[0].read(path)
        if isMoved {
            try await fleet[0].move(path, to: newPath)
        } else {
            try await fleet[0].trash(path, replacing: won.version)
        }
        try fleet.cloud.syncCompletely()
        for index in 0..<2 {
            _ = try await fleet[index].resolveConflicts()
            try fleet.cloud.syncCompletely()
        }
        let lost = won.text.contains("by 0") ? "by 1" : "by 0"
        for index in 0..<2 {
            let files = fleet.devices[index].device.files().mapValues { String(decoding: $0, as: UTF8.self) }
            #expect(files["trip.md"] == (isMoved ? won.text : nil))
            #expect(files.contains { $0.key.contains("kept") && $0.value == "Plan\n\(lost)\n" }, "\(files)")
        }
    }

    /// The ids of the messages in the file.
    private func ids(_ fleet: SimulatedFleet) throws -> Set<String> {
        guard let bytes = fleet.cloud.files()["Chats/moby.json"] else { return [] }
        return try Set(ChatProjection(bytes: bytes).entries.map(\.message.id))
    }

    /// Imports the file's messages, and writes all known messages if the file differs from them.
    /// - Returns: Whether the file was written.
    private func project(_ history: inout [ChatProjection.Entry], _ fleet: SimulatedFleet, _ index: Int) async throws
        -> Bool
    {
        let file: WorkspaceFile?
        do {
            file = try await fleet[index].read(chat, download: .request)
        } catch is FileNotYetAvailableError {
            return false
        } catch let error as RecollectError where error.code == .notFound {
            file = nil
        }
        // A file that arrives in place is incomplete at first.
        guard let there = try? file.map({ try ChatProjection(bytes: $0.bytes).entries }) ?? [] else { return false }
        let known = Set(history.map(\.message.id))
        history += there.filter { !known.contains($0.message.id) }
        let bytes = ChatProjection(session: "moby", entries: history).bytes
        guard !history.isEmpty, bytes != file?.bytes else { return false }
        try await fleet[index].write(bytes, to: chat, replacing: file?.version, by: .agent("ahab"))
        return true
    }

    private func message(_ word: String) -> ChatProjection.Entry {
        let message = ConversationMessage(
            id: word, role: .user, text: word, timestamp: Date(timeIntervalSince1970: 1_768_500_000))
        return ChatProjection.Entry(agents: ["ahab"], message: message)
    }

    @Test("chat-edits: an edited chat file is imported, and a broken one is kept beside the chat")
    func externalEdit() async throws {
        await Seeds.run(70) { seed in
            let fleet = try SimulatedFleet(seed: seed)
            let first = ChatProjection(session: "moby", entries: [message("w1w")])
            try await fleet[0].write(first.bytes, to: chat, replacing: nil, by: .agent("ahab"))
            try fleet.cloud.syncCompletely()
            try fleet.devices[1].device.provider.requestDownload(of: chat)
            try fleet.cloud.syncCompletely()
            for device in fleet.devices { _ = try await device.workspace.status() }
            let broken = seed % 2 == 0
            let text =
                broken
                ? "{\"format\": \"recollect.chat/1\", oh"
                : String(decoding: first.bytes, as: UTF8.self)
                    .replacingOccurrences(of: "\"_0\":\"w1w\"", with: "\"_0\":\"by hand\"")
            fleet.devices[1].device.edit("Chats/moby.json", text)
            fleet.ledger.saved(Array(text.utf8), at: "Chats/moby.json", replacing: nil, isArchived: true)
            let second = ChatProjection(session: "moby", entries: first.entries + [message("w2w")])
            try await fleet[0].write(
                second.bytes, to: chat, replacing: ContentHash(of: first.bytes), by: .agent("ahab"))
            #expect(try await fleet.faults() == [])
            let read = try ChatProjection(bytes: try #require(fleet.cloud.files()["Chats/moby.json"]))
            let all = fleet.cloud.files().values.map { String(decoding: $0, as: UTF8.self) }
            #expect(read.isIntact && read.entries.count == 2, "\(fleet.name)")
            // The edit is in the chat, or in an archive if the message's other text won: `faults` has checked this.
            #expect(!broken || all.contains(text), "\(fleet.name): the broken file is not beside the chat")
        }
    }

    @Test("journal: a day created on both devices becomes one file with each entry once")
    func sameDay() async throws {
        await Seeds.run(70) { seed in
            let fleet = try SimulatedFleet(seed: seed)
            var words: [String] = []
            for number in 0..<6 {
                let word = fleet.ledger.word()
                words.append(word)
                let journal = WorkspaceJournal(workspace: fleet[number % 2], timeZone: .gmt)
                let date = Date(timeIntervalSince1970: 1_768_478_400 + TimeInterval(60 * number))
                try await journal.append(
                    JournalEntry(id: word, date: date, text: "It is \(word)."),
                    to: JournalID(userId: "u", agentId: ""))
            }
            #expect(try await fleet.faults() == [])
            #expect(fleet.cloud.files().count == 1, "\(fleet.name): \(fleet.cloud.files().keys)")
            for device in fleet.devices {
                let journal = WorkspaceJournal(workspace: device.workspace, timeZone: .gmt)
                let entries = try await journal.entries(by: .user, on: Date(timeIntervalSince1970: 1_768_478_400))
                #expect(entries.map(\.id) == words, "\(fleet.name)")
            }
        }
    }

    @Test("same-resolution: devices resolving one conflict at once write the same bytes in at most two rounds")
    func resolvedTwice() async throws {
        await Seeds.run(140) { seed in
            let fleet = try SimulatedFleet(seed: seed, count: seed % 3 == 0 ? 3 : 2)
            let path = ["context.md", "Journal/user/2026-01-15.md", "Chats/moby.json", "Research/moby/full_text.txt"][
                Int(seed / 7 % 4)]
            for _ in 0..<3 { people(fleet.ledger, edit: path, on: fleet.devices[0].device) }
            try fleet.cloud.syncCompletely()
            for device in fleet.devices {
                try device.device.provider.requestDownload(of: WorkspacePath(path))
                try fleet.cloud.syncCompletely()
                _ = try await device.workspace.status()
            }
            for _ in 0..<3 { for device in fleet.devices { people(fleet.ledger, edit: path, on: device.device) } }
            #expect(try await fleet.faults() == [])
        }
    }

    @Test("conflict-copies: a conflict copy that arrives before the winner stays until the winner arrives")
    func copyBeforeWinner() async throws {
        let fleet = try SimulatedFleet(seed: 1, behavior: .syncthing)
        let copy = "context.sync-conflict-20260115-120003-IAHOH7J.md"
        let device = fleet.devices[0].device
        device.edit("context.md", "- lost\n")
        _ = try await fleet[0].status()
        device.edit(copy, "- lost\n")
        #expect(try await fleet[0].resolveConflicts().map(\.outcome) == [.waiting])
        #expect(fleet[0].events.takeUndelivered().isEmpty)
        device.edit("context.md", "- won\n")
        #expect(try await fleet[0].resolveConflicts().map(\.outcome) == [.merged])
        #expect(fleet[0].events.takeUndelivered().map(\.kind) == [.resolvedConflict])
        #expect(fleet.text("context.md") == "- lost\n- won\n" && fleet.text(copy) == nil)
    }

    @Test("Conflict versions of a provider are archived before their file is trashed or moved")
    func versionsOfWhatGoes() async throws {
        await Seeds.run(6) { seed in
            let fleet = try SimulatedFleet(seed: seed, behavior: .inPlace)
            for (index, text) in ["- a\n", "- b\n"].enumerated() {
                fleet.devices[index].device.edit("notes/plan.md", text)
                fleet.ledger.saved(Array(text.utf8), at: "notes/plan.md", replacing: nil, isArchived: true)
            }
            try fleet.cloud.syncCompletely()
            let file = try await fleet[0].read(WorkspacePath("notes/plan.md"))
            if seed % 2 == 0 {
                try await fleet[0].trash(file.path, replacing: file.version)
            } else {
                try await fleet[0].move(file.path, to: WorkspacePath("notes/moved.md"))
            }
            #expect(try await fleet.faults() == [])
        }
    }

    @Test("Paths in a folder duplicated twice are mapped to the original folder")
    func copiesOfCopies() throws {
        let original = { try ConflictCopies.original(of: WorkspacePath($0))?.text }
        #expect(try original("Chats 2 2/moby.json") == "Chats/moby.json")
        #expect(try original("Journal/user 2/2026-01-15 2 2.md") == "Journal/user/2026-01-15.md")
        #expect(try original("notes 2 2/moby.md") == nil)
    }

    @Test("A version that cannot be merged gets another kept copy if an editor changed the first one")
    func keptTwice() async throws {
        let fleet = try SimulatedFleet(seed: 1, behavior: .syncthing)
        let device = fleet.devices[0].device
        let path = try WorkspacePath("Research/moby/full_text.txt")
        let copy = "Research/moby/full_text.sync-conflict-20260115-120003-IAHOH7J.txt"
        device.edit(path.text, "Call me Ishmael.")
        device.edit(copy, "Call me Ahab.")
        let kept = try #require(try await fleet[0].resolveConflicts().first?.kept.first)
        let bytes = try #require(device.files()[kept.text])
        device.edit(kept.text, "somebody's own words")
        device.edit(copy, bytes)
        let again = try await fleet[0].resolveConflicts()
        #expect(again.map(\.outcome) == [.keptBoth])
        #expect(device.files()[kept.text] == Array("somebody's own words".utf8))
        #expect(device.files()[try #require(again.first?.kept.first).text] == bytes)
    }
}
