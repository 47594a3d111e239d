import Foundation
import RecollectCore

/// Checks of rule 9: every field of a message is read back unchanged.
enum ChatMessageChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "content.everyKind", rule: 9, "Every role with every type is preserved, including unknown ones."
        ) { store in
            let roles: [MessageRole] = [
                .user, .assistant, .system, .toolUse, .toolResult, .toolError, .toolDenied, .thinking,
                MessageRole(rawValue: "critic"), MessageRole(rawValue: "User"), MessageRole(rawValue: ""),
            ]
            let types: [MessageType] = [
                .text, .toolUse, .toolResult, .toolError, .toolDenied, .thinking, .webSearch, .codeExecution,
                MessageType(rawValue: "hologram"), MessageType(rawValue: ""),
            ]
            var messages: [ChatMessage] = []
            for (number, role) in roles.enumerated() {
                for type in types {
                    var message = SampleData.entry("\(number) \(type.rawValue)", role)
                    message.messageType = type
                    messages.append(message)
                }
            }
            try await expectPreserved(messages, in: store)
        },
        SessionStorageCheck(
            "content.everyField", rule: 9, "Every field is preserved, alone and together with others."
        ) { store in
            let changes: [(inout ChatMessage) -> Void] = [
                { $0.isComplete = false }, { $0.isError = true }, { $0.wasCancelled = true },
                { $0.isTaskContainer = true },
                { $0.taskGroupId = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)) },
                { $0.toolName = "mcp__files__read" },
                { $0.toolInputData = ToolInputData(parameters: ["path": "/a b"], rawParameters: ["path": "\"/a b\""]) },
            ]
            let kinds: [(MessageRole, MessageType)] = [
                (.user, .text), (.assistant, .text), (.thinking, .thinking), (.toolUse, .toolUse),
                (.toolResult, .toolResult), (.toolError, .toolError), (.toolDenied, .toolDenied),
                (.assistant, .webSearch), (.assistant, .codeExecution),
            ]
            var messages: [ChatMessage] = []
            for (role, type) in kinds {
                var every = SampleData.entry("\(role.rawValue) \(type.rawValue), all", role)
                every.messageType = type
                for (number, change) in changes.enumerated() {
                    var one = SampleData.entry("\(role.rawValue) \(type.rawValue), \(number)", role)
                    one.messageType = type
                    change(&one)
                    change(&every)
                    messages.append(one)
                }
                messages.append(every)
            }
            try await expectPreserved(messages, in: store)
        },
        SessionStorageCheck(
            "content.milliseconds", rule: 5, "Timestamps keep their milliseconds, including dates before 1970."
        ) { store in
            let dates: [Int64] = [
                SampleData.start + 1, SampleData.start + 999, 0, -1, -1001, 1, 253_402_300_799_999, -62_135_596_800_000,
            ]
            try await expectPreserved(
                dates.enumerated().map {
                    SampleData.entry("m\($0)", $0.isMultiple(of: 2) ? .user : .toolUse, at: $1 - SampleData.start)
                }, in: store)
        },
        SessionStorageCheck(
            "content.everyCharacter", rule: 9,
            "Text is preserved byte for byte: emoji, Chinese, combining marks, whitespace, the empty string."
        ) { store in
            let texts = [
                "", " ", "\n", "\r\n", "\t x \t", "  both ends  ", "👩‍👩‍👧‍👦 🏳️‍🌈", "日本語と中文", "e\u{301}", "\u{E9}", "\u{FEFF}x",
                "\u{FFFD}", "\u{202E}abc", "\u{1}\u{1B}[31m", "\u{2028}", "\u{10FFFF}", "'; DROP TABLE messages; --",
                "\"\\/{}[]", "null", "%00",
            ]
            var messages = texts.enumerated().map { SampleData.entry("u\($0)", .user, $1) }
            messages += texts.enumerated().map { number, text in
                var message = SampleData.entry("t\(number)", .toolUse, text)
                (message.messageType, message.toolName) = (.toolUse, text)
                message.toolInputData = ToolInputData(parameters: [text: text], rawParameters: ["key": text])
                return message
            }
            try await expectPreserved(messages, in: store)
        },
        SessionStorageCheck(
            "content.keepsNUL", rule: 1, "U+0000 in text, tools and metadata is preserved and does not terminate it.",
            needs: .keepsNUL
        ) { store in
            var tool = SampleData.entry("tool", .toolUse, "\u{0}a\u{0}")
            (tool.messageType, tool.toolName) = (.toolUse, "na\u{0}me")
            tool.toolInputData = ToolInputData(parameters: ["k\u{0}ey": "val\u{0}ue"])
            tool.metadata = ["k\u{0}ey": "val\u{0}ue"]
            let texts = ["\u{0}", "a\u{0}", "\u{0}b", "a\u{0}b\u{0}\u{0}c"]
            try await expectPreserved(texts.map { SampleData.entry($0, .user, $0) } + [tool], in: store)
        },
        SessionStorageCheck(
            "content.longText", rule: 9, "A text of one megabyte is preserved."
        ) { store in
            let long = String(repeating: "0123456789abcdef 日本語 e\u{301} ", count: 34_000)
            try await expectPreserved([SampleData.entry("m", .toolResult, long)], in: store)
        },
        SessionStorageCheck(
            "content.toolInput", rule: 9,
            "Tool input is preserved; no input, empty input and input without raw values stay different."
        ) { store in
            let inputs: [ToolInputData?] = [
                nil, ToolInputData(parameters: [:]), ToolInputData(parameters: [:], rawParameters: [:]),
                ToolInputData(parameters: ["a": "1", "": "", "b": "{\"c\":[1,2.0,null]}", "n": "9007199254740993"]),
                ToolInputData(parameters: ["old": "a", "new": "b"], rawParameters: ["old": "a\n", "new": "b\n"]),
                ToolInputData(parameters: ["e\u{301}": "\u{E9}"]),
            ]
            try await expectPreserved(
                inputs.enumerated().map { number, input in
                    var message = SampleData.entry("m\(number)", .toolUse)
                    (message.messageType, message.toolName, message.toolInputData) = (.toolUse, "edit", input)
                    return message
                }, in: store)
        },
        SessionStorageCheck(
            "content.metadata", rule: 9, "The metadata of a message is preserved, with all digits of its numbers."
        ) { store in
            let metadata: [[String: JSONValue]] = [
                ["model": "x-1", "usage": ["input_tokens": 10, "output_tokens": 20], "parent": .null, "done": false],
                ["": "", "e\u{301}": "\u{E9}", "a.b": ["c": [[]]]],
                ["integers": [0, -1, .integer(.max), .integer(.min), .integer(1 << 53 + 1)]],
                ["numbers": [0.1, 1.5, 1e300, .number(1.0 / 3), -0.0, 1e17, 1e19, 0x1p53]],
                ["kind": "text", "role": "user", "id": "x", "content": "y", "messageType": 1, "toolUse": [:]],
            ]
            let roles: [MessageRole] = [.user, .assistant, .toolUse, .toolResult, .thinking]
            try await expectPreserved(
                zip(roles, metadata).map { role, metadata in
                    var message = SampleData.entry(role.rawValue, role)
                    message.metadata = metadata
                    return message
                }, in: store)
        },
        SessionStorageCheck(
            "content.metadataOfAnyDepth", rule: 9,
            "Metadata of any nesting depth is preserved, or the save is rejected and the previous one is kept."
        ) { store in
            var kept: [ChatMessage] = []
            for levels in SampleData.depths {
                for role in [MessageRole.user, .toolUse] {
                    var message = SampleData.entry("\(levels) \(role.rawValue)", role)
                    message.metadata = ["deep": SampleData.nested(levels)]
                    let transcript = kept + [SampleData.entry("before \(message.content)", .assistant), message]
                    if try await isTaken({ try await store.updateSessionMessages(id: "s", messages: transcript) }) {
                        kept = transcript
                    }
                    let came = try await store.getSession(id: "s")?.messages ?? []
                    let what = "a transcript with metadata nested up to \(levels) levels deep"
                    try expectEqual(came.map(\.content), kept.map(\.content), what)
                    // Compare by value: Foundation's encoder limits the depth to that of its decoder.
                    try expect(came == kept, what, actual: "other content")
                }
            }
        },
        SessionStorageCheck(
            "content.attachments", rule: 9,
            "Attachments keep their order, and their bytes or SHA-256 and byte count, even when saved again."
        ) { store in
            let bytes = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let attachments = [
                Attachment(mediaType: "image/png", name: "é.png", content: .inline(bytes)),
                Attachment(mediaType: "text/plain", content: .inline(Data())),
                Attachment(
                    mediaType: "image/png", name: "e\u{301}.png", content: .remote(url: "https://example.org/é")),
                Attachment(mediaType: "image/png", name: "again", content: .inline(bytes)),
            ]
            let named = attachments.map { attachment in
                guard case .inline(let bytes) = attachment.content else { return attachment }
                var attachment = attachment
                attachment.content = .stored(sha256: Attachment.sha256(of: bytes), byteCount: bytes.count)
                return attachment
            }
            var message = SampleData.entry("m", .user, "look")
            message.attachments = attachments
            var kept = message
            kept.attachments = named
            let transcript = [message, SampleData.entry("n", .assistant)]
            try await store.updateSessionMessages(id: "s", messages: transcript)
            let came = try await store.transcript(of: "s")
            try expectEqual(came.map(\.id), transcript.map(\.id), "the message IDs")
            let isKept = try came[0].isExactly(message) || came[0].isExactly(kept)
            try expect(
                isKept, "attachments with bytes, or with SHA-256 and byte count: \(kept.shown)", actual: came[0].shown)
            try await store.updateSessionMessages(id: "s", messages: came)
            try await expectTranscript(store.transcript(of: "s"), came, "the transcript read and saved back")
            message.attachments.remove(at: 0)
            try await store.updateSessionMessages(id: "s", messages: [message])
            try await expectEqual(
                store.transcript(of: "s")[0].attachments.count, 3, "the number of attachments after the removal of one")
        },
    ]

    /// Saves a transcript and expects all of it back, byte for byte; then saves the messages read and expects them
    /// again.
    private static func expectPreserved(
        _ messages: [ChatMessage], in store: any SessionStorageProtocol & Sendable
    ) async throws {
        try await store.updateSessionMessages(id: "s", messages: messages)
        try await expectTranscript(store.transcript(of: "s"), messages, "messages")
        try await store.updateSessionMessages(id: "s", messages: store.transcript(of: "s"))
        try await expectTranscript(store.transcript(of: "s"), messages, "messages read and saved back")
    }
}
