import RecollectCore

/// Checks of rules 1 and 9: text is read back byte for byte.
enum TextChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "text.everyCharacter", rule: 9,
            "Line endings, quotes, emoji, rare code points and text resembling code are preserved."
        ) { store in
            let texts = [
                "a\r\nb\nc\rd", "\r\n", " leading and trailing \n", "👩‍👩‍👧‍👦 🇩🇪 🏳️‍🌈 \u{1F980}", "\u{10FFFF}\u{FFFE}\u{FEFF}",
                "\u{2028}\u{2029}\u{85}",
                "'; DROP TABLE message; --", "\"quoted\" \\ back\\slash \\u0041", "{\"text\":{\"_0\":\"hi\"}}",
                "%s %n %%", "\u{1}\u{1B}[31m\u{7F}",
                "日本語の文章", "مرحبا \u{202E}abc", "[agent] not a prefix", "null",
            ]
            try await expectPreserved(texts.map { [.text($0)] }, in: store)
            let others = texts.map { ContentPart.toolResult(id: $0, content: .object([$0: .string($0)])) }
            try await expectPreservedElsewhere(others, in: store)
        },
        ChatStorageCheck(
            "text.keepsNormalization", rule: 9,
            "Text is saved without Unicode normalization."
        ) { store in
            try await expectPreserved(
                [[.text("caf\u{E9}")], [.text("cafe\u{301}")], [.text("\u{1100}\u{1161}\u{AC00}")]], in: store)
        },
        ChatStorageCheck(
            "text.keepsNUL", rule: 1, "U+0000 in text and other content is preserved and does not terminate it.",
            needs: .keepsNUL
        ) { store in
            let text = "before\u{0}after\u{0}"
            try await expectPreserved(
                [
                    [.text(text)], [.text("\u{0}")], [.thinking(text, signature: text)],
                    [.toolCall(id: text, name: text, arguments: [text: .string(text)])], [.text("a"), .text(text)],
                ], in: store)
        },
        ChatStorageCheck(
            "text.keepsEmptyText", rule: 9, "Empty text and messages without parts are preserved."
        ) { store in
            try await expectPreserved(
                [[.text("")], [], [.text(""), .text("")], [.thinking("", signature: "")], [.text("")]], in: store)
        },
        ChatStorageCheck(
            "text.oneMegabyte", rule: 9, "A text of one megabyte is preserved."
        ) { store in
            let text = String(repeating: "0123456789é\r\n🦀", count: 1_048_576 / 18) + "end"
            try await expectPreserved([[.text(text)], [.toolResult(id: "1", content: .string(text))]], in: store)
        },
    ]

    /// Saves each part in a session of its own, and expects it back.
    private static func expectPreservedElsewhere(_ parts: [ContentPart], in store: some ChatStorage) async throws {
        for (number, part) in parts.enumerated() {
            let scope = Scope.plain.session("session \(number)")
            let message = ConversationMessage(id: "m", role: .tool, parts: [part])
            try await store.add(message, to: scope)
            try await expectMessages(store.messages(in: scope), [message], "a tool result")
        }
    }
}
