import Foundation
import RecollectAgents
import RecollectBuiltInAgents
import RecollectCore
import RecollectTestSupport
import Testing

@Suite("Scribe agent")
struct ScribeAgentTests {
    private let folder: TemporaryFolder
    private let journal: JournalFolder
    private let scribe: ScribeAgent
    private let ada = JournalID(userId: "ada", agentId: "scribe")

    init() throws {
        folder = try TemporaryFolder()
        journal = JournalFolder(baseURL: folder.url, timeZone: .gmt)
        scribe = ScribeAgent(journal: journal, calendar: utc, now: { morning })
    }

    private func texts() async throws -> [String] {
        try await journal.entries(JournalQuery(limit: 100), in: ada).map(\.text)
    }

    @Test(
        "The scribe notes the given text exactly, without the command",
        arguments: [
            ("note: meter reading by Friday", "meter reading by Friday"),
            ("Remember that the code is 4711", "the code is 4711"),
            ("write down: *Call* Mara\n## twice", "*Call* Mara\n## twice"), ("New tyres, 420 €", "New tyres, 420 €"),
            ("  Note that it's raining  ", "it's raining"), ("Notebook bought", "Notebook bought"),
            ("Notiz: Zähler ablesen", "Zähler ablesen"), ("Merk dir, dass Mara kommt", "Mara kommt"),
            ("Note que la réunion est à 9 h", "la réunion est à 9 h"), ("Anota que hay que llamar", "hay que llamar"),
            ("记住：周五交房租", "周五交房租"), ("帮我记一下明天带伞", "明天带伞"),
        ])
    func notes(said: String, noted: String) async throws {
        let reply = try await scribe.reply(to: asked(said))
        #expect(try await texts() == [noted])
        let entry = try #require(try await journal.entries(JournalQuery(), in: ada).first)
        #expect(entry.date == morning)
        #expect(reply.metadata["notes"] == [.string(entry.id)])
        #expect(reply.text.hasPrefix("Noted (21 Nov 2026"))
    }

    @Test("A repeated turn is noted once; the same text in another turn is noted again")
    func retry() async throws {
        for _ in 0..<3 { _ = try await scribe.reply(to: asked("milk", id: "1")) }
        #expect(try await texts() == ["milk"])
        _ = try await scribe.reply(to: asked("milk", id: "2"))
        _ = try await scribe.reply(to: asked("milk", id: "1"), session: "other")
        #expect(try await texts() == ["milk", "milk", "milk"])
    }

    @Test("The scribe asks for a text if there is nothing to note")
    func nothing() async throws {
        for said in ["note:", "  ", "take a note", "thanks", "OK, thank you!", "no, never mind", "谢谢", "danke"] {
            #expect(try await scribe.reply(to: asked(said)).text == "What should I note?")
        }
        #expect(try await texts().isEmpty)
    }

    @Test("The scribe lists matching notes with their dates")
    func reads() async throws {
        _ = try await scribe.reply(to: asked("The boiler is loud", id: "1", daysAgo: 1))
        _ = try await scribe.reply(to: asked("Boiler repaired\n- 120 €", id: "2"))
        _ = try await scribe.reply(to: asked("Milk", id: "3"))
        for (question, expected) in [
            ("what did I note about the boiler?", ["loud", "repaired"]), ("my notes from yesterday", ["loud"]),
            ("my notes from today", ["repaired", "Milk"]), ("show me my notes", ["loud", "repaired", "Milk"]),
            ("Was habe ich gestern notiert?", ["loud"]), ("mes notes d'hier", ["loud"]),
            ("mis notas de ayer", ["loud"]),
            ("我昨天记了什么？", ["loud"]), ("milk?", ["Milk"]),
        ] {
            let text = try await scribe.reply(to: asked(question)).text
            for word in ["loud", "repaired", "Milk"] {
                #expect(text.contains(word) == expected.contains(word), "\(question): \(text)")
            }
        }
        let boiler = try await scribe.reply(to: asked("what did I note about the boiler?"))
        #expect(boiler.text.contains("20 Nov 2026") && boiler.text.contains("Boiler repaired\n  - 120 €"))
        #expect(
            try await scribe.reply(to: asked("what did I note about Rome?")).text
                == "You have no notes about “Rome”.")
        #expect(try await texts().count == 3)
    }

    @Test("Striking affects the last note, or the last note about a subject, and deletes nothing")
    func strikes() async throws {
        for (number, note) in ["boiler loud", "milk", "bread"].enumerated() {
            _ = try await scribe.reply(to: asked(note, id: "\(number)", daysAgo: 1 - Double(number) / 10))
        }
        #expect(try await scribe.reply(to: asked("strike the last note")).text.contains("“bread”"))
        #expect(try await texts() == ["boiler loud", "milk"])
        #expect(
            try await scribe.reply(to: asked("forget the note about the boiler, please")).text.contains("boiler loud"))
        #expect(try await texts() == ["milk"])
        _ = try await scribe.reply(to: asked("Streich die letzte Notiz"))
        #expect(try await texts().isEmpty)
        #expect(try await scribe.reply(to: asked("strike my last note")).text.contains("no note"))
        let all = try await journal.entries(JournalQuery(includesStruck: true), in: ada)
        #expect(all.map(\.text) == ["boiler loud", "milk", "bread"])
    }

    @Test("Canceling the reader of the scribe's stream stops the scribe's work")
    func givenUp() async throws {
        let stuck = StuckJournal()
        let scribe = ScribeAgent(journal: stuck, calendar: utc, now: { morning })
        let context = AgentContext(userId: "ada", sessionId: "now")
        let reader = Task {
            for try await event in scribe.process(asked("milk"), history: [], context: context) {
                Issue.record("unexpected \(event)")
            }
        }
        try await stuck.reached.wait()
        reader.cancel()
        try await stuck.ended.wait()
    }

    @Test("Users have separate notes")
    func users() async throws {
        _ = try await scribe.reply(to: asked("secret of Eve"), user: "eve")
        #expect(try await scribe.reply(to: asked("my notes")).text == "You have no notes.")
    }

    @Test("The scribe and the model's tools share a journal")
    func tools() async throws {
        let tools = JournalTools(journal: journal, calendar: utc, now: { morning })
        let context = AgentContext(userId: "ada", sessionId: "now")
        let taken = try await tools.takeNote.call(["text": "from a model"], context: context)
        #expect(!taken.isError && taken.content["when"] == "2026-11-21T09:12:07Z")
        _ = try await scribe.reply(to: asked("from the user", daysAgo: 2))
        let read = try await tools.readNotes.call([:], context: context)
        #expect(read.content["notes"]?.arrayValue?.map { $0["text"] } == ["from the user", "from a model"])
        let today = try await tools.readNotes.call(["since": "2026-11-21", "words": "MODEL from"], context: context)
        #expect(today.content["notes"]?.arrayValue?.map { $0["note"] } == [taken.content["note"]])
        let other = try await tools.readNotes.call([:], context: AgentContext(userId: "eve", sessionId: "now"))
        #expect(other.content["notes"] == [])
        #expect(try await tools.takeNote.call([:], context: context).isError)
    }

    @Test("The tools page through a journal larger than one result")
    func pages() async throws {
        let tools = JournalTools(journal: journal, calendar: utc)
        let context = AgentContext(userId: "ada", sessionId: "now")
        for number in 0..<12 {
            let text = "\(number) " + String(repeating: "x", count: 3000)
            let date = morning.addingTimeInterval(Double(number) / 1000)
            try await journal.append(JournalEntry(id: "\(number)", date: date, text: text), to: ada)
        }
        var read: [String] = []
        var arguments: JSONValue = [:]
        for _ in 0..<12 where read.count < 12 {
            let result = try await tools.readNotes.call(arguments, context: context).content
            read = (result["notes"]?.arrayValue?.compactMap { $0["note"]?.stringValue } ?? []) + read
            guard let moment = result["note"]?.stringValue?.split(separator: " ").last else { break }
            arguments = ["until": .string(String(moment))]
        }
        #expect(read == (0..<12).map(String.init))
    }
}

/// A journal whose appends run until their task is canceled.
private struct StuckJournal: Journal {
    let reached = Gate()
    let ended = Gate()

    func append(_ entry: JournalEntry, to journal: JournalID) async throws {
        reached.open()
        do {
            try await Gate().wait()
        } catch {
            ended.open()
            throw error
        }
    }

    func entries(_ query: JournalQuery, in journal: JournalID) async throws -> [JournalEntry] { [] }

    func strike(_ entry: JournalEntry, at moment: Date, in journal: JournalID) async throws {}
}
