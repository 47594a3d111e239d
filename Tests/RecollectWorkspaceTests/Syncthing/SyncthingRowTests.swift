import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectWorkspace

extension SyncthingTests {
    @Suite("Faults on two devices with Syncthing")
    struct Rows {
        @Test("conflict-copies: each conflict copy made by Syncthing is resolved once, for any file name")
        func copies() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            let names = [
                "LICENSE", "Notes/archive.tar.gz", "Notes/caf\u{E9}.md", "Research/moby-dick/full_text.txt",
                "context.md", "note.md",
            ]
            try await devices.write("as it was\n", to: names, on: [0])
            try await devices.pair.sync()
            try await devices.pair.apart {
                try await devices.write("from the left\n", to: names, on: [0])
                try await devices.write("from the right\n", to: names, on: [1])
            }
            try await devices.pair.sync()
            for workspace in devices.workspaces {
                #expect(try await workspace.status().conflicted.map(\.description) == names)
            }
            let resolved = try await devices.workspaces[0].resolveConflicts()
            #expect(resolved.map(\.path.description) == names)
            #expect(resolved.allSatisfy { $0.copies.count == 1 && $0.outcome.isResolved })
            #expect(try await devices.workspaces[0].resolveConflicts().isEmpty)
            try await devices.pair.sync()
            for workspace in devices.workspaces { #expect(try await workspace.resolveConflicts().isEmpty) }
            let files = try devices.expectNoConflicts()
            for name in names {
                let kept = resolved.first { $0.path.description == name }?.kept.map(\.description) ?? []
                let texts = ([name] + kept).compactMap { files[$0] }.joined()
                for text in ["from the left\n", "from the right\n"] {
                    #expect(texts.components(separatedBy: text).count == 2, "\(name): \(texts)")
                }
            }
            let kept = resolved.flatMap(\.kept).map(\.description)
            #expect(Set(files.keys) == Set(names + kept))
        }

        @Test("chat-projection: after both devices write the projection, no conflict copies stay, and writing ends")
        func projection() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            let histories = [0, 1].map { _ in SQLiteHistoryStore.inMemory() }
            let id = SessionKey(userId: "ann", sessionId: "Moby Dick")
            let path = devices.workspaces[0].chats.path(of: id.sessionId)
            func say(_ text: String, on device: Int, at second: Double) async throws {
                let message = ConversationMessage(
                    id: text, role: .user, text: text, timestamp: Date(timeIntervalSince1970: second))
                try await histories[device].append(
                    [message], to: Scope(userId: id.userId, sessionId: id.sessionId, agentId: "a"))
            }
            func publish() async throws {
                for (workspace, history) in zip(devices.workspaces, histories) {
                    try await workspace.chats.synchronize(id, with: history)
                }
            }
            try await say("first", on: 0, at: 1)
            try await publish()
            var said = ["first"]
            for round in 1...2 {
                try await devices.pair.apart {
                    for device in 0...1 {
                        let text = "round \(round) on \(device)"
                        said.append(text)
                        try await say(text, on: device, at: Double(10 * round + device))
                    }
                    try await publish()
                }
                #expect(try await devices.syncCompletely() <= 2)
                try await publish()
                #expect(try await devices.syncCompletely() <= 2)
            }
            // Both devices have all messages, and nothing is left to write.
            let resolved = try devices.expectNoConflicts()
            let versions = try await devices.versionCounts(of: path)
            try await publish()
            try await devices.pair.sync()
            #expect(try devices.expectNoConflicts() == resolved && Set(resolved.keys) == [path.description])
            #expect(try await devices.versionCounts(of: path) == versions)
            for history in histories {
                let held = try await history.messages(of: id, agentId: nil, page: PageRequest(limit: .max)).elements
                #expect(held.map(\.message.id).sorted() == said.sorted())
            }
            let chat = try #require(try await devices.workspaces[0].chats.read(id.sessionId))
            #expect(chat.isIntact && chat.entries.map(\.message.id).sorted() == said.sorted())
        }

        @Test("journal: the same day created on both devices becomes one file with each entry once")
        func journal() async throws {
            let devices = try await TwoDevices()
            defer { devices.end() }
            let journals = devices.workspaces.map { WorkspaceJournal(workspace: $0, timeZone: .gmt) }
            let authors: [WorkspaceAuthor] = [.user, .agent("scribe")]
            var written: [WorkspaceAuthor: [JournalEntry]] = [:]
            try await devices.pair.apart {
                for (index, journal) in journals.enumerated() {
                    for number in 0..<3 {
                        for author in authors {
                            let moment = morning.addingTimeInterval(Double(600 * number + 60 * index))
                            let entry = try await journal.write("\(number) on \(index)", by: author, at: moment)
                            written[author, default: []].append(entry)
                        }
                    }
                }
            }
            #expect(try await devices.syncCompletely() <= 2)
            // Again with an existing file, while one device strikes out an entry.
            let struck = try #require(written[.user]?.first)
            written[.user]?.removeFirst()
            try await devices.pair.apart {
                try await journals[0].strike(struck, at: morning, in: JournalID(userId: "ann", agentId: "ann"))
                let moment = morning.addingTimeInterval(7200)
                written[.user]?.append(try await journals[1].write("later", at: moment))
            }
            #expect(try await devices.syncCompletely() <= 2)
            let files = try devices.expectNoConflicts()
            #expect(Set(files.keys) == ["Journal/user/2026-11-21.md", "Journal/agent/2026-11-21.md"])
            for author in authors {
                let expected = (written[author] ?? []).sorted { $0.date < $1.date }
                for journal in journals { #expect(try await journal.entries(by: author, on: morning) == expected) }
            }
            for text in files.values {
                #expect(
                    text.components(separatedBy: "0 on 0").count == 2
                        && text.components(separatedBy: "2 on 1").count == 2)
            }
        }
    }
}
