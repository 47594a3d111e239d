import RecollectCore
import Testing

@testable import RecollectSQLite
@testable import RecollectSearch

@Suite("Correction of misspelled words")
struct SpellingCorrectorTests {
    private let history: SearchedHistory

    init() throws {
        history = try SearchedHistory()
    }

    @Test(
        "A word with one wrong, missing, added or exchanged letter finds the right word, and the hit names both",
        arguments: [
            ("timatable", "timetable"), ("timtable", "timetable"), ("timettable", "timetable"),
            ("Timtable", "timetable"),
            ("tiemtable", "timetable"), ("itmetable", "timetable"), ("timetsble", "timetable"), ("ferru", "ferry"),
            ("расписаине", "расписание"),
        ])
    func letters(typed: String, word: String) throws {
        try history.add("the boat \(word) for Sunday", id: "wanted")
        try history.add("something about the boat", id: "other", session: "other")
        let hits = try history.hits("boat \(typed)")
        #expect(hits.map(\.messageId) == ["wanted", "other"])
        #expect(hits.map(\.correctedWords) == [[typed: word], [:]])
        #expect(hits.map(\.missingWords) == [[], [typed]])
        #expect(hits[0].snippet.marked() == "the «boat» «\(word)» for Sunday")
    }

    @Test(
        "A word is not corrected if it is known, short, quoted, required, or no plain word",
        arguments: [
            "timer", "times", "tim", "\"timetabel\"", "+timetabel", "time_tabel", "timetabel2", "timTabel", "tmietabel",
            "gimetable",
        ])
    func untouched(query: String) throws {
        try history.add("the timetable for Sunday", id: "wanted")
        try history.add("a timer, one time", id: "other", session: "other")
        #expect(try history.hits(query).allSatisfy { $0.correctedWords.isEmpty })
    }

    @Test("Words of other users and of discarded sessions are not used")
    func others() throws {
        try history.add("the timetable", user: "stranger")
        try history.add("the timetable", session: "discarded")
        try history.index()
        try history.database.write { try $0.run("UPDATE session SET discarded_at = 1 WHERE session_id = 'discarded'") }
        #expect(try history.hits("timetabel").isEmpty)
        #expect(try history.hits("timetabel", user: "stranger").count == 1)
    }

    @Test("A misspelled word in an earlier question is corrected, too")
    func earlierQuestion() throws {
        try history.add("Where is the timetabel?", id: "question", session: "question")
        try history.add("the timetable hangs in the kitchen", id: "answer", session: "answer")
        #expect(try history.ids("Where is the timetabel?") == ["answer", "question"])
        try history.add("this is the timetabel", id: "statement", session: "statement")
        #expect(try history.ids("timetabel").contains("answer") == false)
    }

    @Test("A correct word is not replaced by another word in a message without the other words")
    func correctWord() throws {
        try history.add("the stage is set", id: "stage", session: "stage")
        try history.add("a loan for the farm", id: "loan", session: "loan")
        #expect(try history.hits("state loan").allSatisfy { $0.correctedWords.isEmpty })
        #expect(try history.hits("june loan").allSatisfy { $0.correctedWords.isEmpty })
        #expect(try history.hits("recieved loans").isEmpty == false)
    }

    @Test("Two misspelled words are corrected to words of one message")
    func twoWords() throws {
        try history.add("feed the sourdough starter", id: "wanted")
        try history.add("a sour dough, and a stater for the engine", id: "other", session: "other")
        #expect(
            try history.hits("sordough starer").first?.correctedWords == ["sordough": "sourdough", "starer": "starter"])
    }

    @Test("A word in a message comes before another form of one, however likely the mistakes")
    func wholeWordFirst() throws {
        try history.add("the Kubernetes cluster", id: "wanted")
        #expect(try history.hits("kuberntes").first?.correctedWords == ["kuberntes": "kubernetes"])
    }

    @Test("A hit with the word as typed is not without it")
    func typedWord() throws {
        try history.add("What is a desert?", id: "question", session: "question")
        try history.add("a dessert with plums", id: "statement", session: "statement")
        let hits = try history.hits("desert?")
        #expect(hits.map(\.messageId) == ["statement", "question"])
        #expect(hits.map(\.missingWords) == [[], []])
    }

    @Test("Another form of the right word is found")
    func otherForm() throws {
        try history.add("we receive a parcel every week", id: "wanted")
        #expect(try history.hits("recieving parcel").first?.correctedWords == ["recieving": "receiving"])
    }

    @Test("Of several corrections, the one in a message with another word comes first, then the most frequent")
    func choice() throws {
        for index in 0..<5 { try history.add("a solar day \(index)", session: "\(index)") }
        try history.add("the polar night in Bergen", id: "wanted", session: "wanted")
        try history.add("a polar day", id: "polar", session: "polar")
        #expect(try history.hits("poalr night").first?.correctedWords == ["poalr": "polar"])
        #expect(try history.hits("soalr").first?.correctedWords == ["soalr": "solar"])
    }

    @Test("Pages of a search with a corrected word contain each hit once")
    func pages() throws {
        for index in 0..<30 {
            try history.add("timetable \(index) \(index % 3 == 0 ? "ferry" : "")", session: "\(index)")
        }
        let all = try history.ids("timetabel ferry", limit: 100)
        var query = SearchQuery(userId: "u", text: "timetabel ferry", limit: 7)
        var paged: [String] = []
        repeat {
            let page = try history.search(query)
            paged += page.elements.map(\.messageId)
            query.cursor = page.next
        } while query.cursor != nil
        #expect(paged == all)
        #expect(Set(all).count == 30)
    }
}
