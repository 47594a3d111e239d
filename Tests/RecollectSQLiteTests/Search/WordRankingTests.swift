import RecollectCore
import Testing

@testable import RecollectSQLite

@Suite("Search for some of the words")
struct WordRankingTests {
    private let history: SearchedHistory

    init() throws {
        history = try SearchedHistory()
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
