import RecollectCore
import Testing

@testable import RecollectSQLite

@Suite("Words, signs and phrases of a query") struct QuerySyntaxTests {
    @Test("The parts of identifiers are no phrase with those of others, or with the end of the text")
    func phrasesOfParts() throws {
        let history = try SearchedHistory()
        try history.add("call barBaz and then later quxFoo is done", id: "one")
        for query in ["\"baz qux\"", "+\"baz qux\" call", "bazQux", "\"done bar\""] {
            #expect(try history.ids(query).isEmpty, "\(query)")
        }
        #expect(try history.ids("-\"baz qux\" call") == ["one"])
        #expect(try history.ids("\"bar baz\"") == ["one"])
        #expect(try history.hits("quxFoo").first?.matchedWords == ["quxFoo"])
    }

    @Test("Words behind many repetitions of another one are matched, too")
    func manyMatches() throws {
        let history = try SearchedHistory()
        try history.add(String(repeating: "foo ", count: 600) + "barrow", id: "one")
        #expect(try history.hits("foo barrow").first?.matchedWords == ["foo", "barrow"])
        #expect(try history.hits("foo barrow absent").first?.missingWords == ["absent"])
    }

    @Test("Required and excluded words count behind any number of others", arguments: [false, true])
    func manyWords(isRepeated: Bool) throws {
        let history = try SearchedHistory()
        try history.add("w0x w1x banana", id: "banana")
        try history.add("w0x w1x cherry", id: "cherry")
        let words = (0..<33).map { isRepeated ? "w0x" : "w\($0)x" }.joined(separator: " ")
        #expect(try history.ids(words + " -banana") == ["cherry"])
        #expect(try history.ids(words + " +banana") == ["banana"])
        #expect(try history.ids(words + " \"w1x banana\"") == ["banana"])
    }

    @Test("By date, two letters find all words that begin with them, over many years")
    func shortBeginningsByDate() throws {
        let history = try SearchedHistory()
        for index in 0..<300 {
            try history.add("ka\(index) zu\(index % 7)", id: "\(index)", at: Int64(index) * 8_640_000_000)
        }
        for order in [SearchOrder.newestFirst, .oldestFirst] {
            let query = SearchQuery(userId: "u", text: "ka zu", order: order, limit: 1000)
            let found = try history.search(query).elements.compactMap { Int($0.messageId) }
            #expect(found == (order == .oldestFirst ? Array(0..<300) : (0..<300).reversed()))
        }
    }

    @Test("Among some of the words, one in no message counts as the words that begin with it")
    func beginningsAmongSomeWords() throws {
        let history = try SearchedHistory()
        try history.add("the zkabel is long", id: "one", session: "one")
        try history.add("the заводской план", id: "two", session: "two")
        for order in [SearchOrder.relevance, .newestFirst] {
            let hits = try history.search(SearchQuery(userId: "u", text: "zkab unknown", order: order)).elements
            #expect(hits.map(\.messageId) == ["one"])
            #expect(hits.first?.matchedWords == ["zkab"])
            #expect(hits.first?.missingWords == ["unknown"])
        }
        #expect(try history.ids("завод unknown") == ["two"])
        #expect(try history.ids("+zkab unknown") == ["one"])
        // A word in a message is no beginning.
        try history.add("zkab", id: "three", session: "three")
        #expect(try history.ids("zkab unknown") == ["three"])
    }

    @Test(
        "A phrase matches behind a part of it",
        arguments: ["very very good", "a1 a1 b1 a1 a1 a1 b1 a1 a1 c1", "good very good"])
    func repeatedWords(phrase: String) throws {
        let history = try SearchedHistory()
        for text in [
            "it is very very very good", "a1 a1 b1 a1 a1 a1 b1 a1 a1 b1 a1 a1 a1 b1 a1 a1 c1",
            "good good very good very",
        ] {
            try history.add(text)
        }
        let hits = try history.hits("\"\(phrase)\"")
        #expect(hits.map(\.matchedWords) == [[phrase]])
    }

    @Test("Required words that are only beginnings do not hide messages with the other words")
    func requiredBeginnings() throws {
        let history = try SearchedHistory()
        try history.add("deploy kubernetes with docker today", id: "all", session: "all")
        try history.add("dockerfile of another thing", id: "longer", session: "longer")
        try history.add("kubernetes alone", id: "one", session: "one")
        for query in ["+kube +docker zzqqxx", "\"deploy\" +kube +docker zzqqxx"] {
            #expect(try history.ids(query) == ["all"], "\(query)")
        }
        #expect(try history.ids("+kube docker zzqqxx") == ["all", "one"])
    }

    @Test("A word in discarded sessions alone counts as the words that begin with it")
    func beginningsBesideDiscarded() async throws {
        let history = SQLiteHistoryStore.inMemory()
        for (session, text) in [("discarded", "zkab here"), ("other", "zkabcd foo")] {
            try await history.append(
                [ConversationMessage(role: .user, text: text)],
                to: Scope(userId: "u", sessionId: session, agentId: "a"))
        }
        try await history.discardSession(SessionKey(userId: "u", sessionId: "discarded"))
        let hits = try await history.search(SearchQuery(userId: "u", text: "zkab absent")).elements
        #expect(hits.map(\.session.sessionId) == ["other"])
        #expect(hits.first?.matchedWords == ["zkab"])
    }

    @Test("A part of an identifier behind many repetitions of another word is matched")
    func partBehindManyMatches() throws {
        let history = try SearchedHistory()
        try history.add(String(repeating: "foo ", count: 600) + "barBaz", id: "one")
        #expect(try history.hits("foo bar").first?.matchedWords == ["foo", "bar"])
        #expect(try history.hits("foo bar absent").first?.missingWords == ["absent"])
    }

    @Test("A single character between two words interrupts a phrase")
    func characterInPhrase() throws {
        let history = try SearchedHistory()
        try history.add("foo 中 bar", id: "one", session: "one")
        try history.add("foo bar", id: "two", session: "two")
        #expect(try history.ids("\"foo bar\"") == ["two"])
        #expect(try history.ids("foo -\"foo bar\"") == ["one"])
        for query in ["中", "foo 中", "\"中\""] {
            let hit = try history.hits(query).first
            #expect(hit?.messageId == "one" && hit?.matchedWords.contains { $0.contains("中") } == true, "\(query)")
        }
    }

    @Test("Signs count after any white space, and before identifiers that begin with one or two letters")
    func signs() throws {
        let history = try SearchedHistory()
        try history.add("apple banana io_error", id: "both", session: "both")
        try history.add("apple rf не", id: "one", session: "one")
        for space in ["\u{3000}", "\u{A0}", "\u{2003}", "\n"] {
            #expect(try history.ids("apple\(space)-banana") == ["one"])
            #expect(try history.ids("apple\(space)+banana") == ["both"])
            #expect(try history.ids("apple\(space)-\"banana\"") == ["one"])
        }
        #expect(try history.ids("apple -io_error") == ["one"])
        #expect(try history.ids("apple +io_error") == ["both"])
        #expect(try history.ids("apple -rf").first == "one")
        try history.add("gcc -I/usr/include main.c", id: "command", session: "command")
        #expect(try history.ids("gcc -I/usr/include main.c").first == "command")
    }

    @Test(
        "The options of a pasted command exclude nothing",
        arguments: [
            "gcc -I/usr/include/my_lib main.c", "cc -D_GNU_SOURCE x.c", "ls -l/home_dir here",
            "cc -L./my_libs -lz main.c",
            "make -j16 all", "tail -n100 app.log", "docker run -p8080:80 nginx", "a-b -c_d e", "git log -n 5",
        ])
    func options(command: String) throws {
        let history = try SearchedHistory()
        try history.add(command, id: "command", session: "command")
        try history.add("gcc main.c x.c here all app.log nginx e 5", id: "other", session: "other")
        #expect(try history.ids(command).first == "command")
    }

    @Test(
        "A sign applies to a whole word of several scripts or pieces",
        arguments: [
            "A股", "第3章", "iPhone手机", "회의", "책", "🎉", "не", "io-error", "io.error", "/usr/bin", "@alice", "__init__",
            "x86_64",
        ])
    func signsOfMixedWords(word: String) throws {
        let history = try SearchedHistory()
        try history.add("report \(word)", id: "with", session: "with")
        try history.add("report a 第 3 手机 iPhone error usr 64", id: "without", session: "without")
        #expect(try history.ids("report -\(word)") == ["without"])
        #expect(try history.ids("report +\(word)") == ["with"])
        #expect(try history.ids("\"report\"-\(word)").count == 2, "a sign directly after a phrase is none")
    }

    @Test(
        "A quoted phrase may have single characters",
        arguments: [
            ("A股", "a 里 股票"), ("5月", "2024年6月5日"), ("第3章", "第5章 又 3 次"), ("foo 中 bar", "bar 中 foo"),
            ("fooBar 中国", "fooBar 中 国 bar 中"),
        ])
    func phrasesWithCharacters(phrase: String, other: String) throws {
        let history = try SearchedHistory()
        try history.add("report \(phrase) x", id: "phrase", session: "phrase")
        try history.add("report \(other)", id: "other", session: "other")
        #expect(try history.ids("\"\(phrase)\"") == ["phrase"])
        #expect(try history.ids("report -\"\(phrase)\"") == ["other"])
        #expect(try history.hits("\"\(phrase)\"").first?.matchedWords == [phrase])
    }

    @Test("Words of other users and of many discarded messages do not keep beginnings from counting")
    func beginningsBesideOthers() async throws {
        let history = SQLiteHistoryStore.inMemory()
        func add(_ texts: [String], user: String, session: String) async throws {
            try await history.append(
                texts.map { ConversationMessage(role: .user, text: $0) },
                to: Scope(userId: user, sessionId: session, agentId: "a"))
        }
        try await add(["zkabcd foo"], user: "u", session: "s")
        try await add((0..<130).map { "zkab\($0)" }, user: "other", session: "s")
        try await add((0..<120).map { "zkab here \($0)" }, user: "u", session: "discarded")
        try await history.discardSession(SessionKey(userId: "u", sessionId: "discarded"))
        for order in [SearchOrder.relevance, .newestFirst] {
            for text in ["zkab absent", "+zkab absent"] {
                let hits = try await history.search(SearchQuery(userId: "u", text: text, order: order)).elements
                #expect(hits.map(\.session.sessionId) == ["s"], "\(text)")
            }
        }
    }

    @Test("A single letter is no beginning, in any alphabet")
    func singleLetters() throws {
        let history = try SearchedHistory()
        try history.add("яблоко αλφα apple 한국 აბგ कमल", id: "one")
        for query in ["я", "α", "a", "ა", "क"] { #expect(try history.ids(query).isEmpty, "\(query)") }
        for query in ["яб", "αλ", "ap", "한"] { #expect(try history.ids(query) == ["one"], "\(query)") }
    }

    @Test("Of a very long phrase, the beginning counts")
    func longPhrases() throws {
        let history = try SearchedHistory()
        let words = (0..<300).map { "w\($0)" }
        try history.add(words.joined(separator: " "), id: "one")
        #expect(try history.ids("\"\(words.joined(separator: " "))\"") == ["one"])
        #expect(try history.ids("\"\((["other"] + words).joined(separator: " "))\"").isEmpty)
    }
}
