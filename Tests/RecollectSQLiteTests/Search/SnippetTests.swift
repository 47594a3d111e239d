import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectSearch

@Suite("Snippets")
struct SnippetTests {
    private func snippet(_ text: String, _ query: String) -> Snippet {
        var text = text
        return text.withUTF8 { SnippetMaker(words: ParsedQuery(query)).snippet(of: $0) }
    }

    @Test(
        "A snippet marks exactly the matches",
        arguments: [
            ("Use a WebSocketTask here", "socket", "Use a Web«Socket»Task here"),
            ("Use a WebSocketTask here", "websock", "Use a «WebSocketTask» here"),
            ("Use a WebSocketTask here", "web", "Use a «Web»SocketTask here"),
            ("call save_messages()", "save_mess", "call «save_messages»()"),
            ("call saveMessages()", "save_messages", "call «saveMessages»()"),
            ("save the messages", "save_messages", "save the messages"),
            ("Ein Café, cafe\u{301}s", "cafe", "Ein «Café», «cafe\u{301}s»"),
            ("eﬁne ﬁnal", "final", "eﬁne «ﬁnal»"), ("你好世界", "好世", "你«好世»界"), ("你好世界", "好", "你«好»世界"),
            ("東京タワー", "京タワ", "東«京タワ»ー"), ("two\n\n  lines\there", "lines", "two «lines» here"),
            ("a\u{0}b\u{1B}[1m", "b", "a «b» [1m"), ("say 👩‍👧 now", "👩", "say «👩‍👧» now"),
            ("quick brown, brown quick", "\"brown quick\"", "quick brown, «brown quick»"),
            ("nothing here", "absent", "nothing here"), ("", "absent", ""), ("in it", "it in", "«in» «it»"),
            ("Straße", "strasse", "«Straße»"), ("x y z", "x y", "«x» «y» z"),
        ])
    func marks(text: String, query: String, expected: String) {
        #expect(snippet(text, query).marked() == expected)
    }

    @Test("A snippet of a long text shows the part with the words close together, cut at spaces")
    func cluster() {
        let filler = String(repeating: "lorem ipsum ", count: 50)
        let found = snippet("alpha " + filler + "then alpha and beta stand " + filler + "beta", "alpha beta")
        #expect(found.marked().contains("then «alpha» and «beta» stand"))
        #expect(found.text.hasPrefix("…") && found.text.hasSuffix("…"))
        #expect((130...165).contains(found.text.count))
        #expect(!found.text.hasPrefix("…orem") && !found.text.hasSuffix("ips…"))
        let end = snippet(filler + "omega", "omega")
        #expect(end.text.hasSuffix("lorem ipsum omega"))
        #expect((140...165).contains(end.text.count))
    }

    @Test("A snippet contains whole characters and only text of the message")
    func wholeCharacters() async {
        await Seeds.run(8) { seed in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<50 {
                let text = (0..<40).map { _ in random.text(scalars: 12) }.joined(separator: " ")
                let terms = Terms.of(text)
                let query = terms.randomElement(using: &random)?.source(in: text) ?? "absent"
                let found = snippet(text, query)
                #expect(found.text.count <= SnippetMaker.length + 2)
                let words = Set(Self.words(of: text))
                // A line break shown as a space may split the first or last word of a cut text.
                let inner = Self.words(of: found.text).dropFirst().dropLast()
                #expect(inner.allSatisfy { words.contains($0) }, "\(text.debugDescription)")
                #expect(
                    zip(found.runs, found.runs.dropFirst()).allSatisfy { $0.isMatch != $1.isMatch })
            }
        }
    }

    private static func words(of text: String) -> [String] {
        text.unicodeScalars.split {
            $0.value <= 0x20 || (0x7F...0xA0).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
        }.map { String($0) }
    }

    @Test("A snippet of invalid UTF-8 is readable")
    func invalid() {
        let bytes: [UInt8] = Array("word ".utf8) + [0xFF, 0xC3, 0x28] + Array(" word".utf8)
        let found = bytes.withUnsafeBufferPointer { SnippetMaker(words: ParsedQuery("word")).snippet(of: $0) }
        #expect(found.text.hasPrefix("word"))
    }
}
