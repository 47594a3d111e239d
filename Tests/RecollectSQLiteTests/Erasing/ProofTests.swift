import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Proof of absence") struct ProofTests {
    @Test("A word is found wherever it is stored, together with its session")
    func positions() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        let attachment = Attachment(mediaType: "a/b", content: .inline(Data("a Quetzalcoatl picture".utf8)))
        try await history.append(
            messages(0..<50) + [
                ConversationMessage(id: "1", role: .user, text: "the QuetzalCoatl"),
                ConversationMessage(id: "2", role: .user, parts: [.thinking("quetzalcoatl\"s", signature: nil)]),
                ConversationMessage(id: "3", role: .user, parts: [.attachment(attachment)]),
            ], to: scope)
        try await history.update(scope.session, with: SessionDetails(title: "quetzalcoatl"))
        try await history.indexEverything()
        try Data("xquetzalcoatl".utf8).write(to: folder.file("history.damaged-1.sqlite"))
        let traces = try await history.traces(of: "quetzalcoatl")
        let messages = traces.filter { $0.kind == .message }
        #expect(messages.map(\.messageId) == ["1", "2"])
        #expect(messages.allSatisfy { $0.sessionId == "s" && $0.userId == "ann" && $0.isLive })
        #expect(traces.filter { $0.kind == .session }.map(\.sessionId) == ["s"])
        #expect(traces.contains { $0.kind == .index && $0.isLive })
        let setAside = try #require(traces.first { $0.file == "history.damaged-1.sqlite" })
        #expect(setAside.offset == 1 && !setAside.isLive)
        #expect(traces.contains { $0.file.hasPrefix("attachments/") && $0.isLive })
        #expect(traces.contains { $0.kind == .bytes && $0.file == "history.sqlite-wal" && $0.isLive })
        await history.close()
        _ = try await history.open()
        #expect(
            try await history.traces(of: "quetzalcoatl").contains {
                $0.kind == .bytes && $0.file == "history.sqlite"
            })
        #expect(try await history.traces(of: "xolotl") == [])
        await expectError(.invalidArgument) { _ = try await history.traces(of: "xo") }
    }

    @Test("A term left in the index by a deletion is found, even if it shares a prefix with another term")
    func remainsInIndex() async throws {
        let history = memory()
        let secret = ConversationMessage(id: "secret", role: .user, text: "quetzalcoatl quetzal quetzalcoatlus Größe")
        try await history.append(messages(0..<50) + [secret], to: scope)
        try await history.indexEverything()
        try await history.write { _ = try MessageDeletion.delete(["secret"], in: scope.session, $0) }
        for word in ["quetzal", "quetzalcoatl", "quetzalcoatlus", "größe"] {
            let traces = try await history.traces(of: word)
            #expect(!traces.isEmpty && traces.allSatisfy { $0.kind == .index && !$0.isLive }, "\(word): \(traces)")
        }
        #expect(try await history.erasesAll())
        for word in ["quetzal", "quetzalcoatl", "größe"] { #expect(try await history.traces(of: word) == []) }
        #expect(try await history.traces(of: "text").contains { $0.kind == .index && $0.isLive })
    }

    @Test("A named pipe among the attachments is skipped")
    func pipe() async throws {
        let folder = try TemporaryFolder()
        let history = folder.history()
        try await history.append([ConversationMessage(id: "1", role: .user, text: "quetzal")], to: scope)
        try FileManager.default.createDirectory(
            at: folder.file("attachments/aa"), withIntermediateDirectories: true)
        #expect(mkfifo(folder.file("attachments/aa/pipe").path, 0o600) == 0)
        #expect(try await history.traces(of: "xolotl").isEmpty)
    }

    @Test("A word is found across the boundary of two chunks of a file")
    func border() throws {
        let folder = try TemporaryFolder()
        let pattern = try WordPattern("xolotl")
        for offset in [0, (1 << 20) - 6, (1 << 20) - 5, (1 << 20) - 3, (1 << 20), (2 << 20) - 9, (2 << 20) - 5] {
            var bytes = Data(count: 3 << 20)
            bytes.replaceSubrange(offset..<offset + 6, with: Data("Xolotl".utf8))
            try bytes.write(to: folder.file("file"))
            let positions = try RawBytes(pattern: pattern).positions(inFile: folder.file("file").path)
            #expect(positions.first == offset && positions.count == 1, "\(offset): \(positions)")
        }
    }
}
