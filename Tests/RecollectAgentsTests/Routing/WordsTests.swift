import Testing

@testable import RecollectAgents

@Suite("Words of a text")
struct WordsTests {
    @Test(
        "Words are runs of folded letters and digits, or pairs of characters",
        arguments: [
            ("Über Café-Straße!", ["uber", "cafe", "straße"]), ("it's 3 o'clock", ["it", "s", "3", "o", "clock"]),
            ("ＡＢＣ", ["abc"]), ("几何题", ["几何", "何题"]), ("x 数", ["x", "数"]), ("iOS和Linux", ["ios", "和", "linux"]),
            ("환불을", ["환불", "불을"]), ("हिन्दी में", ["हिन्दी", "में"]), ("…👍?", []), ("", []),
        ])
    func words(text: String, words: [String]) {
        #expect(Words(text).words == words.flatMap { Words($0).words })
        #expect(Words(text).words.count == words.count)
    }

    @Test(
        "Inflected forms of a word have the same stem",
        arguments: [
            ("invoice", "invoices"), ("code", "coding"), ("plan", "planned"), ("tax", "taxes"), ("fly", "flies"),
            ("bill", "billing"), ("recipe", "recipes"), ("story", "stories"), ("glass", "glasses"),
        ])
    func stems(word: String, form: String) throws {
        #expect(try #require(Keyword(word)).stem == (try #require(Keyword(form))).stem)
    }

    @Test(
        "Related words in other languages share a root",
        arguments: [("погода", "погоду"), ("rechnung", "rechnungsnummer")])
    func roots(word: String, form: String) throws {
        let keyword = try #require(Keyword(word))
        #expect(keyword.root != nil)
        #expect(keyword.root == Keyword(form)?.root)
    }

    @Test(
        "Function words and numbers are no keywords", arguments: ["the", "why", "2", "12", "x", "oui", "です", "什么"])
    func functionWords(word: String) {
        #expect(Keyword(word) == nil)
    }

    @Test("A text is cut between two scalars", arguments: 0...9)
    func cut(limit: Int) {
        let cut = "aé数👍".firstBytes(limit)
        #expect("aé数👍".hasPrefix(cut) || "aé数👍".unicodeScalars.starts(with: cut.unicodeScalars))
        #expect(cut.utf8.count <= limit && cut.utf8.count > limit - 4)
    }
}
