import Foundation
import RecollectCore

/// Checks of rule 9: unknown data is read back unchanged.
enum UnknownDataChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "unknownData.everyPart", rule: 9, "Every kind of part is preserved, alone and together with others."
        ) { store in
            let parts: [ContentPart] = [
                .text("words"), .toolCall(id: "1", name: "read", arguments: ["path": "a", "lines": [1, 2]]),
                .toolResult(id: "1", content: ["ok": true, "rows": [["a", .null]]]), .audioTranscript("heard"),
                .thinking("hm", signature: nil), .thinking("hm", signature: "sig"),
                .attachment(
                    Attachment(mediaType: "image/png", name: "é.png", content: .remote(url: "https://example.org/x"))),
            ]
            // The bytes are in another store, or in none.
            let hashes = [Attachment.sha256(of: Data("elsewhere".utf8)), "ABC", "../a", ""].map { hash in
                ContentPart.attachment(
                    Attachment(mediaType: "image/png", content: .stored(sha256: hash, byteCount: 1)))
            }
            try await expectPreserved(
                (parts + hashes).map { [$0] } + [parts, parts.reversed(), [.text("a"), .text("b")]], in: store)
        },
        ChatStorageCheck(
            "unknownData.inlineAttachments", rule: 9,
            "An attachment is preserved with its bytes, or with their SHA-256 and byte count instead."
        ) { store in
            let bytes = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let attachment = Attachment(mediaType: "image/png", name: "a.png", content: .inline(bytes))
            let message = ConversationMessage(id: "m", role: .user, parts: [.text("look"), .attachment(attachment)])
            try await store.add(message, to: .plain)
            let came = try await store.messages(in: .plain)
            try expectIDs(came, ["m"], "a message with an attachment")
            var stored = attachment
            stored.content = .stored(sha256: Attachment.sha256(of: bytes), byteCount: bytes.count)
            let acceptable = [
                [.text("look"), .attachment(attachment)], [.text("look"), ContentPart.attachment(stored)],
            ]
            try expect(
                acceptable.contains(came[0].parts),
                "an attachment with its bytes, or with their SHA-256 and byte count", actual: came[0].shown)
        },
        ChatStorageCheck(
            "unknownData.unknownParts", rule: 9, "Parts unknown to this version are preserved."
        ) { store in
            let parts: [ContentPart] = [
                .unknown(["hologram": ["_0": "x", "depth": 3]]), .unknown(["text": ["_0": "hi", "language": "en"]]),
                .unknown(["a": 1, "b": .null]), .unknown([]), .unknown("bare"), .unknown(.null), .unknown(12),
            ]
            try await expectPreserved(parts.map { [$0] } + [[.text("before")] + parts + [.text("after")]], in: store)
        },
        ChatStorageCheck(
            "unknownData.unknownRoles", rule: 9, "Roles unknown to this version are preserved."
        ) { store in
            let roles = ["developer", "User", "é", "critic/2", "e\u{301}", ""].map(Role.init(rawValue:))
            let messages = roles.enumerated().map { SampleData.message($1, "m\($0)") }
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages of unknown roles")
        },
        ChatStorageCheck(
            "unknownData.metadata", rule: 9, "The metadata of a message is preserved."
        ) { store in
            let metadata: [[String: JSONValue]] = [
                [
                    "model": "x-1", "usage": ["input": 10, "output": 20], "tags": ["a", "b"], "parent": .null,
                    "done": false,
                ],
                ["": "", "é": "e\u{301}", "a.b": ["c": [[]]]], [:],
            ]
            let messages = metadata.enumerated().map { index, metadata in
                ConversationMessage(
                    id: "m\(index)", role: index.isMultiple(of: 2) ? .user : .assistant, text: "text",
                    timestamp: Date(millisecondsSince1970: SampleData.start), metadata: metadata)
            }
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages with metadata")
        },
        ChatStorageCheck(
            "unknownData.unknownFields", rule: 9, "Message fields unknown to this version are preserved.",
            needs: .keepsUnknownFields
        ) { store in
            let messages = [
                ConversationMessage(
                    id: "m", role: .user, parts: [.text("hi")], unknownFields: ["reactions": ["👍": 2], "pinned": true]),
                ConversationMessage(
                    id: "n", role: .assistant, parts: [.thinking("hm", signature: nil)], metadata: ["model": "x"],
                    unknownFields: ["score": 0.1]),
            ]
            try await store.add(messages, to: .plain)
            try await expectMessages(store.messages(in: .plain), messages, "messages with unknown fields")
        },
        ChatStorageCheck(
            "unknownData.numbers", rule: 9, "64-bit integers and doubles are preserved exactly."
        ) { store in
            let integers: [Int64] = [0, 1, -1, 1 << 53, (1 << 53) + 1, .max, .min]
            let doubles = [
                0.1, -0.1, 1.5, 1e300, .leastNormalMagnitude, 1.0 / 3, 123_456_789.123_456_78, .greatestFiniteMagnitude,
            ]
            let values = integers.map { JSONValue.integer($0) } + doubles.map { JSONValue.number($0) }
            try await expectPreserved([[.toolResult(id: "1", content: .array(values))]], in: store)
        },
        ChatStorageCheck(
            "unknownData.deeplyNestedValues", rule: 9, "Values nested 64 levels deep are preserved."
        ) { store in
            let deep = (0..<64).reduce(JSONValue.string("bottom")) { value, level in
                level.isMultiple(of: 2) ? [value] : ["level \(level)": value]
            }
            try await expectPreserved(
                [[.toolCall(id: "1", name: "dig", arguments: deep)], [.unknown(deep)]], in: store)
        },
        ChatStorageCheck(
            "unknownData.valuesOfAnyDepth", rule: 9,
            "A value of any nesting depth is preserved, or its batch is rejected and nothing is saved."
        ) { store in
            var kept: [ConversationMessage] = []
            for levels in SampleData.depths {
                let deep = SampleData.nested(levels)
                let parts: [ContentPart] = [
                    .toolCall(id: "1", name: "dig", arguments: deep), .toolResult(id: "1", content: deep),
                    .unknown(deep),
                ]
                for (kind, part) in parts.enumerated() {
                    let id = "\(levels) \(kind)"
                    let batch = [
                        SampleData.message(.user, id + " before"),
                        ConversationMessage(
                            id: id, role: .assistant, parts: [part],
                            timestamp: Date(millisecondsSince1970: SampleData.start)),
                    ]
                    if try await isTaken({ try await store.add(batch, to: .plain) }) { kept += batch }
                }
                let batch = [
                    SampleData.message(.user, "\(levels) before"),
                    ConversationMessage(
                        id: "\(levels)", role: .assistant, text: "text",
                        timestamp: Date(millisecondsSince1970: SampleData.start), metadata: ["deep": deep]),
                ]
                if try await isTaken({ try await store.add(batch, to: .plain) }) { kept += batch }
                let came = try await store.messages(in: .plain)
                let what = "accepted values nested up to \(levels) levels deep"
                try expectIDs(came, kept.map(\.id), what)
                // Compare by value: Foundation's encoder limits the depth to that of its decoder.
                try expect(came == kept, what, actual: "other content")
            }
        },
    ]
}

/// Returns whether `work` succeeds; `false` for any error except cancellation.
func isTaken(_ work: () async throws -> Void) async throws -> Bool {
    do {
        try await work()
        return true
    } catch is CancellationError {
        throw CancellationError()
    } catch {
        return false
    }
}

/// Saves a message for each list of parts and expects all of them back, byte for byte.
func expectPreserved(_ lists: [[ContentPart]], in store: some ChatStorage) async throws {
    let messages = lists.enumerated().map { index, parts in
        ConversationMessage(
            id: "m\(index)", role: index.isMultiple(of: 2) ? .user : .assistant, parts: parts,
            timestamp: Date(millisecondsSince1970: SampleData.start))
    }
    try await store.add(messages, to: .plain)
    try await expectMessages(store.messages(in: .plain), messages, "messages")
}
