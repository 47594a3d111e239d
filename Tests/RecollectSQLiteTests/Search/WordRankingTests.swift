import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectSQLite
@testable import RecollectSearch

@Suite("Search for some of the words")
struct WordRankingTests {
    private let history: SearchedHistory

    init() throws {
        history = try SearchedHistory()
    }

    /// Adds words as messages of one session, with the words as IDs.
    private func add(_ words: [String]) throws {
        for word in words { try history.add(word, id: word) }
    }

    /// Adds texts by their IDs, each in a session of its own.
    private func add(_ texts: KeyValuePairs<String, String>) throws {
        for (id, text) in texts { try history.add(text, id: id, session: id) }
    }

    @Test("A whole question finds the messages with its words, and function words do not count")
    func question() throws {
        try add([
            "noise": "what did we do when we were there with the others about it",
            "roof": "the roofers come on Tuesday to repair the old tiles", "other": "the cat sleeps",
        ])
        #expect(try history.ids("What did we say about repairing the roof?") == ["roof"])
        #expect(try history.ids("¿Cuándo vienen los roofers para reparar?") == ["roof"])
        #expect(try history.ids("what did we do").first == "noise", "a query of function words searches for them")
    }

    @Test("A word that is a function word in a single other language counts")
    func otherLanguages() throws {
        try add(["one": "a door", "two": "the garage door opens", "war": "the civil war"])
        #expect(try history.ids("garage door motor") == ["two", "one"])
        #expect(try history.ids("war memorial") == ["war"])
    }

    @Test(
        "Other forms of English words match, with a mark, and identifiers and other scripts only as they are",
        arguments: [
            ("we are running late", "run", true), ("run it", "running", true), ("save messages", "saves", true),
            ("he tried again", "tries", true), ("the city", "cities", true), ("several classes", "class", true),
            ("run1s", "run1", true), ("fetchAlls", "fetchAlling", false), ("universe", "verse", false),
            ("Straßen", "Straßing", false), ("数据库", "数据们", false),
        ])
    func forms(text: String, query: String, isFound: Bool) throws {
        try history.add(text, id: "wanted")
        let hits = try history.hits(query)
        #expect(hits.map(\.messageId) == (isFound ? ["wanted"] : []))
        #expect(hits.allSatisfy { $0.snippet.runs.contains(where: \.isMatch) && $0.missingWords.isEmpty })
        #expect(try history.ids("\"\(query)\"").isEmpty || query == "run1", "a quoted word matches only as it is")
    }

    @Test("A word finds all words with its stem, all words that begin with it, and no others")
    func stems() throws {
        var random = SeededGenerator(seed: 14)
        let beginnings = ["messag", "histor", "quer", "us", "valu", "fl", "p", "databas", "happ", "car", "see", "carr"]
        let endings = [
            "", "e", "y", "i", "ie", "s", "es", "ys", "ies", "ied", "ed", "ing", "ying", "ers", "ily", "iness", "ation",
        ]
        var words = beginnings.flatMap { beginning in endings.map { beginning + $0 } }
        for _ in 0..<100 {
            let letters = (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in
                "aeiouybcst".randomElement(using: &random)
            }
            words.append(String(letters) + (endings.randomElement(using: &random) ?? ""))
        }
        words = Set(words).filter { $0.count > 1 }.sorted()
        try add(words)
        let stems = try history.database.read { db in
            let stemmer = Stemmer()
            return Dictionary(
                uniqueKeysWithValues: words.map { word in
                    (word, WordForms(of: Array(word.utf8), stemmer).stems.map { String(decoding: $0, as: UTF8.self) })
                })
        }
        for word in words {
            let own = try #require(stems[word])
            let wanted = words.filter { $0.hasPrefix(word) || stems[$0]?.first == own.first }
            let irregular = own.count > 1
            let found = Set(try history.ids(word, limit: 1000))
            #expect(irregular ? found.isSuperset(of: wanted) : found == Set(wanted), "\(word)")
        }
    }

    @Test("The words of a beginning are listed if they are few, and match the same with the same scores")
    func listedBeginnings() throws {
        var random = SeededGenerator(seed: 15)
        var words =
            (0..<40).map { "few\($0)" } + (0..<90).map { "many\($0)" } + ["few", "fetchFew", "fewMany", "数据few"]
        words += ["fe", "mén", "fewé", "save_few", "save_fewer", "few's"]
        for index in 0..<400 {
            let text = (0...Int.random(in: 0..<6, using: &random)).compactMap { _ in words.randomElement(using: &random)
            }
            try history.add(text.joined(separator: " "), id: "\(index)", user: index % 3 == 0 ? "other" : "u")
        }
        try history.index()
        try history.database.read { db in
            let source = try SQLiteSearchSource(db, userId: "u")
            let filter = SearchFilter()
            let through = try SearchIndex.indexedThrough(db)
            func found(_ query: ParsedQuery) throws -> [[String]] {
                try query.tiers.map { tier in
                    try source.candidates(tier, filter, limit: 1000, through: through).filter {
                        try source.passes($0.sequence, filter)
                    }.map { "\($0.sequence) \($0.score)" }
                }
            }
            let texts = [
                "few": true, "few many": false, "fe": false, "many": false, "few few2": true, "save_few": true,
                "\"few\"": true,
                "fetchFew": true, "absent": true, "-few1 few": true, "数据few": true,
            ]
            for (text, isListed) in texts {
                let query = ParsedQuery(text, stemmer: Stemmer())
                let listed = try query.listingLongerWords(in: source)
                #expect(listed.units.allSatisfy { !$0.isPrefix } == isListed, "\(text)")
                #expect(try found(listed) == found(query), "\(text)")
                if text.hasPrefix("few") { #expect(try found(listed).joined().count > 10, "\(text)") }
            }
        }
    }

    @Test(
        "Irregular forms of English words match, with a mark",
        arguments: [
            ("we went home", "go"), ("gone with the wind", "going"), ("he goes home", "went"), ("she is going", "gone"),
            ("I bought it", "buying"), ("time to buy", "bought"), ("making it", "made"), ("they made it", "makes"),
            ("the children sleep", "child"), ("a child", "children"), ("both knives", "knife"),
        ])
    func irregularForms(text: String, query: String) throws {
        try history.add(text, id: "wanted")
        try history.add(text, id: "other user", user: "other")
        for query in [query, "\(query) unrelated", "What about \(query), unrelated and anything else?"] {
            let hits = try history.hits(query)
            #expect(hits.map(\.messageId) == ["wanted"])
            #expect(hits.allSatisfy { $0.snippet.runs.contains(where: \.isMatch) && $0.matchedWords.count == 1 })
        }
        #expect(try history.ids("\"\(query)\"").isEmpty, "a quoted word matches only as it is")
        #expect(try history.ids("+\(query)") == ["wanted"])
    }

    @Test("A message with the word as typed comes before one with an irregular form")
    func irregularFormsComeLater() throws {
        try add(["typed": "leave", "other": "left"])
        #expect(try history.ids("leave") == ["typed", "other"])
        #expect(try history.ids("left") == ["other", "typed"])
        #expect(try history.ids("leaf").isEmpty)
        // Other words with the letters of an ending have no irregular forms.
        try add(["sat": "sat", "speak": "speak", "find": "find", "see": "see"])
        for text in ["sites", "spokes", "founding", "sawing"] { #expect(try history.ids(text).isEmpty, "\(text)") }
    }

    @Test("Messages with all words come first, then those with more and rarer words, with their missing words")
    func order() throws {
        for index in 0..<20 {
            try history.add(index < 5 ? "the server \(index)" : "the client \(index)", session: "\(index)")
        }
        try add([
            "rare": "a certificate", "both": "certificate of a server",
            "all": "the server has an expired certificate" + String(repeating: " and so on", count: 200),
        ])
        let hits = try history.hits("expired certificate server", limit: 100)
        #expect(hits.prefix(3).map(\.messageId) == ["all", "both", "rare"])
        #expect(hits.prefix(3).map(\.missingWords) == [[], ["expired"], ["expired", "server"]])
        #expect(hits.count == 8)
        #expect(hits.map(\.score) == hits.map(\.score).sorted(by: >))
    }

    @Test("If no message has all words, the neighbors of a match are found after it, in its scope only")
    func neighbors() throws {
        for (id, text, agent) in [
            ("far", "something", "a"), ("question", "where did you buy the telescope", "a"),
            ("other", "unrelated", "b"),
            ("answer", "in a shop in Delft", "a"), ("end", "I see", "a"), ("beyond", "one more thing", "a"),
        ] {
            try history.add(text, id: id, agent: agent)
        }
        let ids = try history.ids("telescope purchase date")
        #expect(ids.first == "question")
        #expect(Set(ids) == ["question", "far", "answer", "end"])
        // A neighbor may lack a required word or have an excluded one.
        #expect(try history.ids("+telescope purchase") == ["question"])
        #expect(try history.ids("telescope purchase -shop") == ["question"])
        // With a complete match, neighbors without any of the words are not hits.
        #expect(try history.ids("telescope buy") == ["question"])
    }

    @Test("Required and excluded words and phrases hold in all groups of hits")
    func requirements() throws {
        try add([
            "1": "alpha beta gamma", "2": "alpha beta", "3": "beta alpha", "4": "gamma", "5": "alphas",
            "6": "rm -rf build",
        ])
        #expect(try history.ids("alpha -beta") == ["5"])
        #expect(Set(try history.ids("+alpha gamma")) == ["1", "2", "3", "5"])
        #expect(try history.ids("\"alpha beta\" gamma") == ["1", "2"])
        #expect(try history.ids("alpha gamma -\"alpha beta\"").sorted() == ["3", "4", "5"])
        #expect(try history.ids("rm -rf").first == "6", "one or two letters after a sign are an option of a command")
        #expect(try history.ids("build -42 +7").first == "6", "numbers have signs of their own")
        #expect(try history.ids("-alpha").isEmpty)
        #expect(try history.ids("well -- known +").isEmpty)
    }

    @Test("Messages of an author named in the metadata come first, and the name is no word to find")
    func namedAuthors() throws {
        for index in 0..<3 {
            try history.add("I painted a harbor", id: "ana \(index)", session: "\(index)", name: "Ana María")
            try history.add("I painted a harbor", id: "ben \(index)", session: "\(index) ben", name: "Ben")
        }
        try history.add("Ana, Ana, Ana", id: "about", session: "about", name: "Ben")
        for name in ["Ana", "maria"] {
            let ids = try history.ids("What has \(name) painted this year?")
            #expect(Set(ids.prefix(3)) == ["ana 0", "ana 1", "ana 2"])
            #expect(!ids.contains("about"))
        }
        #expect(Set(try history.ids("What has Ben painted this year?").prefix(3)) == ["ben 0", "ben 1", "ben 2"])
        #expect(try history.ids("Ana?") == ["about"], "a query of a name alone searches for it")
    }

    @Test("A name by which one role addresses the other names the other's messages")
    func addressedRoles() throws {
        let addresses = [
            "Hi Ana!", "Thanks, Ana.", "Ana, I am on my way", "Great idea, Ana!", "Wow, Ana!", "Sure Ana, now",
        ]
        for (index, text) in addresses.enumerated() {
            try history.add(text, role: .assistant)
            try history.add("we sail in the harbor", id: "ana \(index)", role: .user)
            try history.add("we sail in the harbor", id: "assistant \(index)", role: .assistant)
        }
        #expect(
            try history.ids("Where will Ana sail next?").prefix(6).allSatisfy { $0.hasPrefix("ana") })
        // An interjection is no name, and neither is a word of both roles.
        for role in [Role.user, .assistant] {
            for _ in 0..<6 { try history.add("Sounds good.", session: "words", role: role) }
        }
        for _ in 0..<8 { try history.add("Cheers! Cheers, all is well", session: "words", role: .assistant) }
        for word in ["cheers", "good"] {
            #expect(try history.ids("\(word) luck").allSatisfy { !$0.hasPrefix("ana") })
        }
        // A place is in other parts of sentences, too.
        for text in ["In Delft, all is well", "to Delft and back", "Delft has canals", "Delft, Delft!"] {
            try history.add(text, session: "places", role: .assistant)
        }
        #expect(try history.ids("Who knows Delft and its trams?").allSatisfy { !$0.hasPrefix("ana") })
    }

    @Test("In a question, other short questions come after statements")
    func questions() throws {
        try add(["question": "Is the ferry late again?", "answer": "The ferry is late again."])
        #expect(try history.ids("Which ferry was often late?").first == "answer")
        #expect(try history.ids("ferry late timetable").first == "answer", "the newer one")
        try add(["newest": "Is the ferry late again?"])
        #expect(try history.ids("ferry late timetable").first == "newest")
        #expect(try history.ids("Which ferry was often late？").first == "answer")
    }

    @Test("Among more messages than are read for a word, those with two of the words are found")
    func frequentWords() throws {
        try history.add("alpha beta", id: "old", session: "old")
        for index in 0..<2_400 {
            try history.add(index % 2 == 0 ? "see alpha now" : "see beta now", session: "\(index)")
        }
        #expect(try history.ids("alpha beta gamma").first == "old")
    }

    @Test("Of a word in very many messages, only the newest are read, and it is not the beginning of another word")
    func veryFrequentWords() throws {
        for index in 0..<2_000 { try history.add(index % 50 == 0 ? "rare" : index < 1_800 ? "alpha" : "new alpha") }
        #expect(try history.ids("rare", limit: 100).count == 40)
        func postings(_ text: String, user: String = "u") throws -> [WordPostings] {
            try history.database.read { db in
                var postings = try WordPostings.all(
                    of: ParsedQuery(text, stemmer: Stemmer()), in: SQLiteSearchSource(db, userId: user), SearchFilter(),
                    through: SearchIndex.indexedThrough(db))
                for index in postings.indices { try postings[index].readNewest() }
                return postings
            }
        }
        let found = try postings("alpha rare new absent")
        #expect(found.map(\.sequences.count) == [100, 40, 196, 0], "also of a word in the newest messages only")
        #expect(found.map(\.isComplete) == [false, true, true, true])
        let alpha = try #require(found.first)
        #expect(abs(alpha.count(through: SequenceNumber(rawValue: 2000)) - 1960) < 20)
        #expect(try postings("alpha", user: "other").map(\.sequences.count) == [0])
        #expect(try postings("rare absent").mayMeet, "words that may go on are in more messages")
        #expect(try !postings("\"rare\" \"absent\"").mayMeet)
        var pair = try postings("rare alpha")
        for index in pair.indices { pair[index].unit.mayGoOn = false }
        #expect(pair.mayMeet, "not all messages with a very frequent word are known")

        try history.add("alphabet rarely", id: "longer", session: "longer")
        for order in [SearchOrder.relevance, .newestFirst] {
            var query = SearchQuery(userId: "u", text: "alphabe rare", order: order)
            #expect(try history.search(query).elements.first?.missingWords == [])
            query.text = "alpha rarely"
            #expect(try history.search(query).elements.first?.missingWords.isEmpty == false)
        }
    }

    @Test("Messages of other users do not make a word frequent")
    func frequentWordsOfOthers() throws {
        for index in 0..<240 { try history.add(index % 2 == 0 ? "alpha" : "alphabet other", id: "\(index)") }
        let queries = ["alpha other", "alph othe", "alpha other unknown"]
        let alone = try queries.map { try history.hits($0, limit: 500) }
        #expect(alone.map(\.count) == [240, 240, 240])
        for _ in 0..<800 { try history.add("alpha other alphabet", user: "v", session: "v") }
        for (query, hits) in zip(queries, alone) { #expect(try history.hits(query, limit: 500) == hits, "\(query)") }
    }

    @Test("A word with a required beginning, or beside a time, is found in messages with all words")
    func requiredBeginnings() throws {
        try add(["port": "The configuration of port 8080 is wrong", "path": "log/2026-05-03-notes.md tide lamp boat"])
        for text in ["+config \"port\"", "\"port\" +conf -weather"] {
            #expect(try history.ids(text).first == "port", "\(text)")
        }
        let path = try #require(try history.hits("log/2026-05-03-notes.md tide lamp boat").first)
        #expect(path.messageId == "path" && path.missingWords.isEmpty)
        try add(["german": "Katze Hund Vogel Maus Elefant Igel Montag"])
        let german = try #require(try history.hits("Katze Hund Vogel Maus die Elefant Igel am Montag").first)
        #expect(german.messageId == "german" && german.missingWords.isEmpty)
    }

    @Test("A whole question finds the messages with all of its words, however many words it has")
    func longQuestions() throws {
        let words = (0..<32).map { "word\($0)" }
        try history.add(words.joined(separator: " "), id: "all")
        try history.add(words.reversed().joined(separator: " "), id: "reversed", session: "reversed")
        for index in words.indices { try history.add("\(words[index]) alone", session: "alone \(index)") }
        for text in [
            words.joined(separator: " "), words.joined(separator: " ") + "?", words.prefix(7).joined(separator: " "),
        ] {
            let hits = try history.hits(text, limit: 5)
            #expect(Set(hits.prefix(2).map(\.messageId)) == ["all", "reversed"])
            #expect(hits.prefix(2).allSatisfy { $0.missingWords.isEmpty && $0.score > 10 })
        }
        // The last word may go on, except before a question mark.
        let start = words.prefix(7).joined(separator: " ")
        try history.add("\(start) endless", id: "endless", session: "endless")
        #expect(try history.ids("\(start) end").first == "endless")
        #expect(try history.hits("\(start) end?").first?.missingWords == ["end"])
    }

    @Test("Pages through messages with some of the words repeat and skip nothing while messages are added")
    func paging() throws {
        for index in 0..<90 {
            try history.add(
                ["alpha", "beta", "alpha beta", "neither"][index % 4], id: "\(index)", session: "\(index % 7)")
        }
        var query = SearchQuery(userId: "u", text: "alpha beta gamma", limit: 13)
        let all = try history.search(SearchQuery(userId: "u", text: query.text, limit: 200)).elements
        var ids: [String] = []
        repeat {
            let page = try history.search(query)
            ids += page.elements.map(\.messageId)
            query.cursor = page.next
            try history.add("alpha beta", id: "late \(ids.count)")
        } while query.cursor != nil
        #expect(ids == all.map(\.messageId))
        #expect(ids.count == 90)
    }

    @Test("Neighbors and words of other users are never found")
    func users() throws {
        for index in 0..<30 {
            try history.add("secret plan \(index)", id: "b\(index)", user: "bob", session: "shared")
            try history.add("my plan \(index)", id: "a\(index)", user: "ann", session: "shared")
        }
        for text in ["secret plan unknown", "What is the secret plan?", "plan -my unknown", "+secret my"] {
            let page = try history.search(SearchQuery(userId: "ann", text: text, limit: 500))
            #expect(page.elements.allSatisfy { $0.messageId.hasPrefix("a") && $0.session.userId == "ann" })
        }
    }

    @Test("Results of tools come after other messages with the same words")
    func toolResults() throws {
        try history.add("failed: the deadlock test", id: "result", session: "a", role: .tool)
        try history.add(
            "I think that the deadlock test fails because both writers wait for each other", id: "prose", session: "b",
            role: .assistant)
        try history.add("deadlock in the pool", id: "other result", session: "c", role: .tool)
        try history.add("a deadlock in another pool of connections", id: "other", session: "d")
        #expect(try history.ids("deadlock test").prefix(2) == ["prose", "result"])
        #expect(try history.ids("deadlock pool lifeguard") == ["other", "other result", "prose", "result"])
    }
}
