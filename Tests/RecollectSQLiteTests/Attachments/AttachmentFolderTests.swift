import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Foreign files at the paths of attachment folders.
@Suite("Attachment folders") struct AttachmentFolderTests {
    private let folder: TemporaryFolder
    private let bytes = Data("a picture".utf8)

    init() throws {
        folder = try TemporaryFolder()
    }

    private var picture: ConversationMessage {
        let attachment = Attachment(mediaType: "image/png", content: .inline(bytes))
        return ConversationMessage(id: "picture", role: .user, parts: [.attachment(attachment)])
    }

    @Test(
        "A foreign file in place of an attachment folder is named in the error, stays, and does no other harm",
        arguments: [false, true])
    func fileInTheWay(isInner: Bool) async throws {
        let history = folder.history()
        try await history.append(messages(0..<2), to: scope)
        let hash = Attachment.sha256(of: bytes)
        let file = folder.file(isInner ? "attachments/\(hash.prefix(2))" : "attachments")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("notes".utf8).write(to: file)
        let uses: [() async throws -> Void] = [
            { _ = try await history.append([picture], to: scope) },
            { _ = try await history.check() },
            { try await history.repair() },
        ]
        for use in isInner ? Array(uses.prefix(1)) : uses {
            do {
                try await use()
                Issue.record("no error was thrown")
            } catch let error as RecollectError {
                #expect(error.code == .cannotOpen)
                #expect(error.message.contains("\(file.path) is not a folder"), "\(error)")
            }
        }
        #expect(try Data(contentsOf: file) == Data("notes".utf8))
        try await history.append(messages(2..<4), to: scope)
        #expect(try await history.window(of: scope, maxMessages: nil) == messages(0..<4))
        try FileManager.default.removeItem(at: file)
        try await history.append([picture], to: scope)
        #expect(try await history.attachment(sha256: hash, userId: "ann") == bytes)
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("A deletion completes without an attachment folder")
    func deleting() async throws {
        let history = folder.history()
        try await history.append([picture], to: scope)
        try FileManager.default.moveItem(at: folder.file("attachments"), to: folder.file("moved"))
        try Data("notes".utf8).write(to: folder.file("attachments"))
        try await history.deleteSession(scope.session)
        #expect(try await history.erasesAll())
        #expect(try Data(contentsOf: folder.file("attachments")) == Data("notes".utf8))
    }
}
