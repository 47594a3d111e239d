import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectSearch

@Suite("Search terms")
struct TokenizerTests {
    @Test(
        "A text is split into words, parts, pairs and characters",
        arguments: [
            // Separators, case, digits.
            ("", ""), (" \n\t ", ""), ("Hello, World!", "hello world"), ("a\0b", "a b"), ("don't", "don t"),
            ("1,234.56", "1 234 56"), ("__init__.py", "init py"), ("\u{1B}[31mred", "31mred"),
            // Identifiers.
            ("save_messages", "save messages"), ("WebSocketTask", "websockettask (web socket task)"),
            ("HTTPServer2", "httpserver2 (http server2)"), ("fetchAllURLs", "fetchallurls (fetch all urls)"),
            ("URLs", "urls"), ("macOS", "macos (mac os)"), ("utf8String", "utf8string (utf8 string)"),
            ("sha256", "sha256"), ("MAX_VALUE", "max value"), ("kebab-caseWord", "kebab caseword (case word)"),
            ("Sources/App/main.swift", "sources app main swift"), ("aBcDe", "abcde"), ("Über", "uber"),
            ("größteGröße", "grosstegrosse (grosste grosse)"), ("8463C716-A2EA", "8463c716 a2ea"),
            // Accents, width, ligatures, special letters.
            ("Café", "cafe"), ("Cafe\u{301}", "cafe"), ("ﬁnal ﬀ", "final ff"), ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
            ("straße STRASSE", "strasse strasse"), ("İstanbul ISTANBUL ıstanbul", "istanbul istanbul istanbul"),
            ("Łódź Søren Þór Æsir œuvre", "lodz soren thor aesir oeuvre"), ("Ὀδυσσεύς", "οδυσσευσ"),
            ("Ёлка Йод", "елка иод"), ("co\u{AD}operate", "cooperate"), ("K ſ", "k s"), ("m² ①", "m2 1"),
            ("Foo™", "foo tm"), ("½", "1 2"), ("٣٤", "34"),
            // Arabic, Hebrew, Indic.
            ("مُحَمَّد", "محمد"), ("أحمد إلى آخر", "احمد الى اخر"), ("ســلام", "سلام"), ("שָׁלוֹם", "שלום"),
            ("हिन्दी", "हिन्दी"),
            // Scripts without spaces.
            ("你好世界", "你好 好世 世界 [你 好 世 界]"), ("好", "[好!]"), ("你好，世界", "你好 世界 [你 好 世 界]"),
            ("用Swift写", "swift [用! 写!]"), ("カタカナ", "カタ タカ カナ [カ タ カ ナ]"),
            ("ｶﾞｷﾞ", "ガギ [ガ ギ]"), ("か\u{3099}き", "がき [が き]"), ("ヴ", "[ヴ!]"), ("ウ\u{3099}", "[ヴ!]"),
            ("ไทย", "ไท ทย [ไ ท ย]"), ("㍿", "株式 式会 会社 [株 式 会 社]"), ("𠮷野", "𠮷野 [𠮷 野]"),
            // Hangul.
            ("안녕 세계", "안녕 세계"), ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}", "한국"),
            // Emoji.
            ("ok 🎉!", "ok 🎉"), ("👍🏽", "👍"), ("👩‍👧", "👩 👧"), ("❤️", "❤"), ("a🎉b", "a 🎉 b"), ("1️⃣", "1"),
        ])
    func terms(text: String, expected: String) {
        #expect(Terms.described(text) == expected)
    }

    @Test("The source range of a term is exact to the byte")
    func sources() {
        let text = "Été: WebSocketTask が ﬁn 你好"
        let sources = Terms.of(text).map { (term: $0.text, source: $0.source(in: text)) }
        #expect(
            sources.map(\.term) == [
                "ete", "websockettask", "web", "socket", "task", "が", "fin", "你", "你好", "好",
            ])
        #expect(
            sources.map(\.source) == [
                "Été", "WebSocketTask", "Web", "Socket", "Task", "が", "ﬁn", "你", "你好", "好",
            ])
    }

    @Test("A very long word is found by its prefix, and base64 text by its first bytes")
    func longWords() {
        let long = String(repeating: "a", count: 1000)
        #expect(Terms.of(long).isEmpty)
        #expect(Terms.described("\(long.prefix(100)) b") == "\(long.prefix(64)) b")
        let bytes = (0..<30_000).map { (index: Int) in UInt8(truncatingIfNeeded: index &* index / 7) }
        let base64 = Data(bytes).base64EncodedString()
        #expect(Terms.of(base64 + " after").map(\.text).filter { $0 == "after" }.count == 1)
        #expect(Terms.of(base64).count < 20)
        let syllables = String(repeating: "한", count: 100)
        #expect(Terms.of(syllables).map(\.text) == [String(repeating: "한", count: 21)])
    }

    @Test(
        "Bytes that are not UTF-8 separate words",
        arguments: [
            [0x61, 0xFF, 0x62], [0x61, 0xC3], [0xE4, 0xBD], [0x61, 0xED, 0xA0, 0x80, 0x62], [0xF8, 0x80],
        ] as [[UInt8]])
    func invalid(bytes: [UInt8]) {
        var collector = Terms()
        bytes.withUnsafeBufferPointer { Tokenizer.read($0, into: &collector) }
        #expect(collector.all.allSatisfy { ["a", "b"].contains($0.text) })
    }

    @Test("The only ASCII in terms are lowercase letters and digits, and tokenizing a term returns the term")
    func termsAreTerms() async {
        await Seeds.run(30) { seed in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<100 {
                let text = random.text(scalars: 12)
                for term in Terms.of(text) where !term.isPart {
                    let isClean = term.text.utf8.allSatisfy {
                        $0 >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    }
                    #expect(isClean, "\(term.text.debugDescription)")
                    #expect(
                        Terms.of(term.text).map(\.text).contains(term.text),
                        "\(term.text.debugDescription) of \(text.debugDescription)")
                }
            }
        }
    }
}
