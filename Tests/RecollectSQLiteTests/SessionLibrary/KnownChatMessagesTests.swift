import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Hashes of transcripts not kept in full") struct KnownChatMessagesTests {
    private static let entry = ChatMessage(
        role: .user, content: "text", timestamp: Date(millisecondsSince1970: 1_700_000_000_000))

    /// A change of each field of an entry except its ID.
    private static let changes: [String: @Sendable (inout ChatMessage) -> Void] = [
        "role": { $0.role = .assistant },
        "content": { $0.content = "texts" },
        "timestamp": { $0.timestamp += 1 },
        "isComplete": { $0.isComplete = false },
        "messageType": { $0.messageType = .thinking },
        "toolName": { $0.toolName = "" },
        "toolInputData": { $0.toolInputData = ToolInputData(parameters: [:]) },
        "isError": { $0.isError = true },
        "attachments": { $0.attachments = [Attachment(mediaType: "a/b", content: .inline(Data()))] },
        "wasCancelled": { $0.wasCancelled = true },
        "taskGroupId": { $0.taskGroupId = UUID() },
        "isTaskContainer": { $0.isTaskContainer = true },
        "metadata": { $0.metadata = ["a": .null] },
    ]

    @Test("An entry takes 36 bytes")
    func size() {
        #expect(MemoryLayout<ChatMessageHash>.stride == 36)
        let known = KnownChatMessages.whole((0..<1000).map { ChatMessage(role: .user, content: "\($0)") })
        guard case .hashes(let hashes, inOrder: true) = known.compact else {
            Issue.record("the transcript is kept in full")
            return
        }
        #expect(hashes.capacity * MemoryLayout<ChatMessageHash>.stride <= 37 * 1000)
    }

    @Test("A change of any field changes the hash")
    func fields() throws {
        let storage = try #require(Mirror(reflecting: Self.entry).children.first?.value)
        let fields = try #require(Mirror(reflecting: storage).children.first?.value)
        let names = Mirror(reflecting: fields).children.compactMap(\.label)
        #expect(Set(names) == Set(Self.changes.keys).union(["id"]), "each field has a change here")
        var hashes: Set<ChatMessageHash> = [ChatMessageHash(Self.entry)]
        for (name, change) in Self.changes {
            var changed = Self.entry
            change(&changed)
            #expect(hashes.insert(ChatMessageHash(changed)).inserted, "\(name)")
        }
        let contents: [RecollectCore.Attachment.Content] = [
            .inline(Data([1])), .inline(Data([2])), .stored(sha256: "a", byteCount: 1),
            .stored(sha256: "a", byteCount: 2), .remote(url: "a"), .remote(url: "b"),
        ]
        for attachment in contents.map({ Attachment(mediaType: "a/b", content: $0) })
            + [Attachment(mediaType: "a/c", content: contents[0])]
            + [Attachment(mediaType: "a/b", name: "n", content: contents[0])]
        {
            var changed = Self.entry
            changed.attachments = [attachment]
            #expect(hashes.insert(ChatMessageHash(changed)).inserted)
        }
    }

    @Test("Equal entries have equal hashes, regardless of the order in which their fields were filled")
    func equalEntries() {
        let keys = (0..<50).map { "key \($0)" }
        var (one, other) = (Self.entry, Self.entry)
        for key in keys { one.metadata[key] = ["a": 1, "b": [true]] }
        for key in keys.reversed() { other.metadata[key] = ["b": [true], "a": 1] }
        one.toolInputData = ToolInputData(parameters: Dictionary(uniqueKeysWithValues: keys.map { ($0, "v") }))
        other.toolInputData = ToolInputData(
            parameters: Dictionary(uniqueKeysWithValues: keys.reversed().map { ($0, "v") }))
        #expect(one == other)
        #expect(ChatMessageHash(one) == ChatMessageHash(other))
    }

    @Test("Comparing a transcript with hashes finds the same difference as comparing it with the full transcript")
    func sameDifference() async {
        await Seeds.run(300) { seed in
            var random = SeededGenerator(seed: seed)
            let entries = (0..<Int.random(in: 0..<12, using: &random)).map {
                ChatMessage(role: .user, content: "\($0)")
            }
            var transcript = entries
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                let position = transcript.isEmpty ? 0 : Int.random(in: 0..<transcript.count, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: transcript.insert(ChatMessage(role: .user, content: "new"), at: position)
                case 1 where !transcript.isEmpty: transcript.remove(at: position)
                case 2 where !transcript.isEmpty: transcript[position].content += "!"
                case 3 where !transcript.isEmpty: transcript.append(transcript.remove(at: position))
                case 4 where !transcript.isEmpty: transcript.append(transcript[position])
                default: transcript.shuffle(using: &random)
                }
            }
            let known = KnownChatMessages.whole(entries)
            let expected = TranscriptDifference(from: known, to: transcript)
            let difference = TranscriptDifference(from: known.compact, to: transcript)
            #expect(difference.transcript == expected.transcript)
            #expect(difference.changed == expected.changed)
            #expect(difference.unchanged == expected.unchanged)
            #expect(difference.removed == expected.removed)
        }
    }
}
