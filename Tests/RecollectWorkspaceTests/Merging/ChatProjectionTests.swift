import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

@Suite("Chat projection")
struct ChatProjectionTests {
    @Test("Chat merges obey the laws of merging and lose no message")
    func laws() async {
        let laws = MergeLaws(
            merge: { base, versions in
                WorkspaceMerge.merged(
                    base: base.map { Array($0.utf8) }, versions: versions.map { Array($0.utf8) }, at: .chat
                ).map { String(decoding: $0, as: UTF8.self) }
            },
            make: { random in
                var chats = RandomChats(random: random)
                defer { random = chats.random }
                return chats.family()
            },
            missing: { _, versions, result in
                let ids = { (text: String) in
                    (try? ChatProjection(bytes: Array(text.utf8)))?.entries.map(\.message.id) ?? []
                }
                let deleted = (try? ChatProjection(bytes: Array(result.utf8)))?.deletions.keys.map(\.string) ?? []
                let kept = Set(ids(result) + deleted)
                return versions.flatMap(ids).first { !kept.contains($0) }
            }
        )
        await Seeds.run(2_000, laws.check)
    }

    @Test("A chat projection is read back as written, and an edit is detected")
    func bytes() throws {
        let chat = try ChatProjection(bytes: Array(RandomChats.sample.utf8))
        #expect(chat.isIntact)
        #expect(chat.bytes == Array(RandomChats.sample.utf8))
        #expect(chat.heads == ["2"])
        let edited = RandomChats.sample.replacingOccurrences(of: "Call me.", with: "Call me Ishmael.")
        let read = try ChatProjection(bytes: Array(edited.utf8))
        #expect(!read.isIntact && read.entries[0].message.text == "Call me Ishmael.")
        #expect(try ChatProjection(bytes: [0xEF, 0xBB, 0xBF] + Array(edited.utf8)).entries == read.entries)
    }

    @Test("Messages follow their predecessors, regardless of dates, and concurrent sequences are not interleaved")
    func order() {
        func entry(_ id: String, after: String?, at second: Double) -> ChatProjection.Entry {
            .init(
                agents: ["a"], after: after,
                message: ConversationMessage(
                    id: id, role: .user, text: id, timestamp: Date(timeIntervalSince1970: second)))
        }
        let chat = ChatProjection(
            session: "c",
            entries: [
                entry("6", after: "5", at: 0), entry("5", after: "6", at: 3), entry("2", after: "1", at: 5),
                entry("1", after: nil, at: 9), entry("4", after: "1", at: 4), entry("3", after: "2", at: 1),
                entry("7", after: "missing", at: 2), entry("1", after: "3", at: 0),
            ])
        #expect(chat.entries.map(\.message.id) == ["7", "1", "4", "2", "3", "6", "5"])
    }

    @Test("Unknown members of both files are preserved")
    func others() throws {
        let one = RandomChats.sample.replacing(#"{"format""#, with: #"{"notes":{"b":1,"a":[true]},"format""#)
        let other = RandomChats.sample.replacing(#","sha256""#, with: #","plan":"x","sha256""#)
        let merged = try #require(
            WorkspaceMerge.merged(base: nil, versions: [Array(one.utf8), Array(other.utf8)], at: .chat))
        let chat = try ChatProjection(bytes: merged)
        #expect(chat.others == ["notes": ["b": 1, "a": [true]], "plan": "x"])
        #expect(chat.isIntact && chat.entries.count == 2)
    }

    private func merged(_ base: String?, _ versions: String...) throws -> (chat: ChatProjection, apart: [String]) {
        let result = try #require(
            WorkspaceMerge.mergedAndChecked(
                base: base.map { Array($0.utf8) }, versions: versions.map { Array($0.utf8) }, at: .chat))
        return (
            try ChatProjection(bytes: result.bytes), result.apart.map { String(decoding: $0, as: UTF8.self) }
        )
    }

    @Test("Changes of text, agent, title and members in different versions are all merged")
    func changesApart() throws {
        let base = RandomChats.sample
        let one = base.replacing("Call me.", with: "Call me Ishmael.")
        let other = base.replacing(#""agent":"historian""#, with: #""agent":"poet""#)
            .replacing("Whales", with: "The whale").replacing(#","sha256""#, with: #","plan":"x","sha256""#)
        let result = try merged(base, one, other)
        #expect(result.apart.isEmpty && result.chat.title == "The whale" && result.chat.others == ["plan": "x"])
        #expect(result.chat.entries.map(\.message.text) == ["Call me Ishmael.", "Ishmael?"])
        #expect(Set(result.chat.entries.map(\.agents)) == [["historian", "poet"]])
    }

    @Test(
        "chat-edits: of two changes of one value, the version with the losing change becomes a kept copy",
        arguments: [
            ["Call me.", "AAA", "BBB"], ["Whales", "AAA", "BBB"],
            [#","sha256""#, #","plan":"AAA","sha256""#, #","plan":"BBB","sha256""#],
        ])
    func contradictions(_ texts: [String]) throws {
        let base = RandomChats.sample
        let (one, other) = (base.replacing(texts[0], with: texts[1]), base.replacing(texts[0], with: texts[2]))
        for known in [base, nil] {
            let result = try merged(known, one, other)
            #expect(result.apart == [one])
            #expect(String(decoding: result.chat.bytes, as: UTF8.self).contains("BBB"))
        }
        #expect(try merged(base, one, base).apart.isEmpty)
    }

    @Test(
        "chat-edits: of messages of different agents with one ID, one is merged with its agents, the other is kept apart"
    )
    func otherAgents() throws {
        func chat(_ agents: [String], _ text: String, number: Int = 0) -> ChatProjection {
            let message = ConversationMessage(
                id: "1", role: .user, text: text, timestamp: Date(timeIntervalSince1970: 9))
            return ChatProjection(session: "c", entries: [.init(agents: agents, message: message, number: number)])
        }
        func merged(_ base: ChatProjection?, _ versions: ChatProjection...) throws -> (entries: [String], apart: Int) {
            let result = try #require(
                ChatProjection.mergedAndChecked(base: base?.bytes, versions: versions.map(\.bytes)))
            let chat = try ChatProjection(bytes: result.bytes)
            return (chat.messages.map { "\($0.agentId): \($0.message.text)" }, result.apart.count)
        }
        let (a, b) = (chat(["a"], "of a"), chat(["b"], "of b"))
        #expect(try merged(nil, a, b) == (["b: of b"], 1))
        #expect(try merged(nil, chat(["a"], "of a", number: 1), b) == (["a: of a"], 1))
        // The published message remains the published one, also as a version without a change.
        #expect(try merged(a, a, b) == (["a: of a"], 1))
        #expect(try merged(a, chat(["a"], "edited", number: 1), chat(["b"], "of b", number: 2)) == (["a: edited"], 1))
        // Of agents with the same message, each has it.
        #expect(try merged(nil, chat(["a"], "same"), chat(["a", "b"], "same")) == (["a: same", "b: same"], 0))
    }

    @Test("chat-edits: a deleted message with a change elsewhere, or a duplicate id, causes a kept copy")
    func deletedAndChanged() throws {
        let chat = try ChatProjection(bytes: Array(RandomChats.sample.utf8))
        let base = RandomChats.sample
        let without = String(
            decoding: ChatProjection(
                session: chat.session, title: chat.titleRevision, entries: [chat.entries[1]],
                deletions: [ByteString("1"): .init(restores: 0, states: ["0.0.a"])]
            ).bytes, as: UTF8.self)
        for (old, new) in [("Call me.", "AAA"), (#""historian"},"#, #""AAA"},"#)] {
            let changed = base.replacing(old, with: new)
            #expect(try merged(base, without, changed).apart == [changed])
        }
        #expect(try merged(base, without, base.replacing("Whales", with: "AAA")).apart.isEmpty)
        // Without a base, nothing shows whether the message was changed since.
        #expect(try merged(nil, without, base).apart == [base])
        let twice = base.replacing(
            #"{"id":"2""#, with: #"{"id":"1","role":"user","timestamp":0,"parts":[]},"# + "\n" + #"{"id":"2""#)
        #expect(try merged(base, twice, base.replacing("Whales", with: "AAA")).apart == [twice])
    }

    @Test(
        "chat-edits: a version with values of unexpected types becomes a kept copy",
        arguments: [
            (#""title":"Whales""#, #""title":7"#), (#""agent":"historian""#, #""agent":["historian"]"#),
            (#""after":"1""#, #""after":1"#), (#","heads""#, #","deleted":[1],"heads""#),
            (#","heads""#, #","deleted":"2","heads""#), (#","heads""#, #","deleted":[{"restores":1}],"heads""#),
            (#""after":"1""#, #""revision":"1""#), (#""after":"1""#, #""restores":-1"#),
            (#""title":"Whales""#, #""titleRevision":1.5"#),
        ])
    func otherTypes(old: String, new: String) throws {
        let base = RandomChats.sample
        let (one, other) = (base.replacing(old, with: new), base.replacing("Call me.", with: "AAA"))
        #expect(one != base)
        #expect(try merged(base, one, other).apart == [one])
    }

    @Test("Of two contents, the one with the greater revision wins, and of a deletion and a restore the later one")
    func revisions() throws {
        let base = RandomChats.sample
        let edited = base.replacing("Call me.", with: "A").replacing(
            #""historian"},"#, with: #""historian","revision":1},"#)
        let hand = base.replacing("Call me.", with: "Z")
        for known in [base, nil] {
            #expect(try merged(known, edited, base).chat.entries[0].message.text == "A")
            // An edit by hand is the next one after the base's, and otherwise has the file's number.
            let (won, lost) = known == nil ? ("A", hand) : ("Z", edited)
            #expect(try merged(known, edited, hand).chat.entries[0].message.text == won)
            #expect(try merged(known, edited, hand).apart.contains(lost))
        }
        let chat = try ChatProjection(bytes: Array(base.utf8))
        func version(deleted: Int? = nil, states: Set<String> = ["0.0.a"], restores: Int? = nil) -> String {
            let message = chat.entries[0].message
            let entry = ChatProjection.Entry(agents: ["historian"], message: message, restores: restores ?? 0)
            return String(
                decoding: ChatProjection(
                    session: chat.session, title: chat.titleRevision,
                    entries: (restores == nil ? [] : [entry]) + [chat.entries[1]],
                    deletions: deleted.map { [ByteString("1"): .init(restores: $0, states: states)] } ?? [:]
                ).bytes, as: UTF8.self)
        }
        #expect(version(deleted: 0, states: []).contains(#""deleted":["1"]"#))
        #expect(version(deleted: 2, states: []).contains(#""deleted":[{"id":"1","restores":2}]"#))
        #expect(version(deleted: 2).contains(#""deleted":[{"id":"1","restores":2,"states":["0.0.a"]}]"#))
        for (one, other) in [([], ["0.0.a", "0.0.b"]), (["0.0.b"], ["0.0.a"])] as [(Set<String>, Set<String>)] {
            #expect(
                try merged(base, version(deleted: 0, states: one), version(deleted: 0, states: other)).chat.bytes
                    == Array(version(deleted: 0, states: ["0.0.a", "0.0.b"]).utf8))
            #expect(
                try merged(base, version(deleted: 0, states: one), version(deleted: 1, states: other)).chat.bytes
                    == Array(version(deleted: 1, states: other).utf8))
        }
        #expect(
            try merged(base, version(deleted: 0), version(restores: 1)).chat.entries.map(\.message.id) == ["1", "2"])
        #expect(try merged(base, version(deleted: 0), version(restores: 1)).chat.deletions.isEmpty)
        let deletedAgain = try merged(base, version(deleted: 1), version(restores: 1)).chat
        #expect(deletedAgain.entries.map(\.message.id) == ["2"] && deletedAgain.deletions.values.map(\.restores) == [1])
        #expect(try merged(base, version(restores: 2), version(deleted: 1)).chat.entries.count == 2)
    }

    @Test("A message of several agents, and fields of a message with names of a file's members, are read back")
    func members() throws {
        let fields: [String: JSONValue] = [
            "agent": "x", "agents": ["y"], "after": 7, "revision": "r", "restores": .null, "replaced": ["x"],
            "fields": ["own": 1],
            "own": true,
        ]
        let message = ConversationMessage(
            id: "1", role: .user, parts: [.text("one")], timestamp: Date(timeIntervalSince1970: 1),
            unknownFields: fields)
        let chat = ChatProjection(
            session: "c", title: ChatRevision(content: ByteString(""), number: 3, replaced: ["h"]),
            entries: [
                .init(
                    agents: ["b", "", "a", "b"], after: "0", message: message, number: 2, restores: 1, replaced: ["h"]
                )
            ])
        let read = try ChatProjection(bytes: chat.bytes)
        #expect(read.isIntact && !read.hasOtherContent && read == chat)
        #expect(read.entries[0].agents == ["a", "b"])
        #expect(read.messages.map(\.agentId) == ["a", "b"])
    }

    @Test(
        "Members unknown to this version are found",
        arguments: [
            #""deleted":[{"id":"x","restores":0,"reason":"spam"}]"#, #""deleted":[{"id":"x","states":[1]}]"#,
            #""titleReplaced":[true]"#, #""titleReplaced":"x""#,
        ])
    func unknownMembers(members: String) throws {
        let sample = RandomChats.sample
        #expect(try !ChatProjection(bytes: Array(sample.utf8)).hasOtherContent)
        let other = "{" + members + "," + sample.dropFirst()
        #expect(try ChatProjection(bytes: Array(other.utf8)).hasOtherContent)
    }

    @Test("A chat of 100,000 messages is ordered without recursion", .needs(.time))
    func long() {
        let chat = ChatProjection(
            session: "c",
            entries: (0..<100_000).map { number in
                .init(
                    agents: [""], after: number == 0 ? nil : "\(number - 1)",
                    message: ConversationMessage(
                        id: "\(number)", role: .user, text: "x", timestamp: Date(timeIntervalSince1970: 0)))
            })
        #expect(chat.entries.last?.message.id == "99999")
    }

    @Test("A file that is no chat, has a newer format, or belongs to another session is not merged")
    func notMerged() {
        let sample = Array(RandomChats.sample.utf8)
        for other in [
            "{", "", "[]", #"{"format":"recollect.chat/2"}"#,
            RandomChats.sample.replacingOccurrences(of: "moby-dick", with: "other"),
        ] {
            #expect(WorkspaceMerge.merged(base: nil, versions: [sample, Array(other.utf8)], at: .chat) == nil)
        }
    }
}

extension WorkspacePath {
    static let chat = WorkspacePath(checked: ["Chats", "moby-dick.json"])
}

/// Generates chats that diverged.
struct RandomChats {
    var random: SeededGenerator

    mutating func family() -> (base: String?, versions: [String]) {
        let base = grown(ChatProjection(session: "c", entries: []), by: "base")
        let versions = ["a", "b", "c"].map { grown(base, by: $0) }
        let other = grown(ChatProjection(session: "c", entries: []), by: "other")
        let givenBase = [base, nil, other].randomElement(using: &random) ?? nil
        return (givenBase.map(Self.text), versions.map { edited(Self.text($0)) })
    }

    /// Returns a file edited by a person half the time: different text, and no new number.
    private mutating func edited(_ file: String) -> String {
        let text = ["x", "y"].randomElement(using: &random) ?? ""
        return Bool.random(using: &random) ? file : file.replacing(#""text":"x""#, with: #""text":"\#(text)""#)
    }

    private mutating func grown(_ chat: ChatProjection, by name: String) -> ChatProjection {
        var entries = chat.entries
        var deletions = chat.deletions
        for number in 0..<random.size(upTo: 4) {
            let text = ["x", "caf\u{E9}", "cafe\u{301}", "\u{0}\"\n"].randomElement(using: &random) ?? ""
            if let position = entries.indices.randomElement(using: &random), Bool.random(using: &random) {
                if Bool.random(using: &random) {
                    var message = entries[position].message
                    message.parts = [.text(text)]
                    entries[position].replace(with: message, isKnown: Bool.random(using: &random))
                } else if Bool.random(using: &random) {
                    let entry = entries[position]
                    entries[position] = .init(
                        agents: entry.agents, after: entry.after, message: entry.message,
                        number: entry.revision.number,
                        restores: entry.revision.restores + Int.random(in: 0...1, using: &random),
                        replaced: entry.revision.replaced)
                } else if Bool.random(using: &random) {
                    let entry = entries.remove(at: position)
                    deletions[ByteString(entry.message.id)] = .init(
                        restores: entry.revision.restores,
                        states: Bool.random(using: &random) ? [entry.revision.state] : [])
                } else {
                    entries.remove(at: position)
                }
                continue
            }
            // Includes equal ids made on two devices.
            let id =
                Bool.random(using: &random)
                ? "\(name)\(number)" : ["e\u{301}", "\u{E9}", "1"].randomElement(using: &random) ?? ""
            let date = Date(timeIntervalSince1970: Double(Int.random(in: 0...3, using: &random)))
            entries.append(
                .init(
                    agents: [["", "a"].randomElement(using: &random) ?? ""],
                    after: entries.randomElement(using: &random)?.message.id,
                    message: ConversationMessage(id: id, role: .user, text: text, timestamp: date)))
        }
        var title = chat.titleRevision
        if let new = ["Tea", "Tee", "", nil].randomElement(using: &random) ?? nil {
            title.replace(with: ByteString(new))
        }
        var others = chat.others
        if let key = ["notes", "é\\"].randomElement(using: &random), Bool.random(using: &random) {
            others[key] = [1, "x", ["a": .null]].randomElement(using: &random)
        }
        return ChatProjection(
            session: "c", title: title, entries: entries, deletions: deletions, others: others)
    }

    private static func text(_ chat: ChatProjection) -> String { String(decoding: chat.bytes, as: UTF8.self) }

    static let sample: String = text(
        ChatProjection(
            session: "moby-dick", title: ChatRevision(content: ByteString("Whales")),
            entries: ["Call me.", "Ishmael?"].enumerated().map { number, words in
                .init(
                    agents: ["historian"], after: number == 0 ? nil : "1",
                    message: ConversationMessage(
                        id: "\(number + 1)", role: number == 0 ? .user : .assistant, text: words,
                        timestamp: Date(timeIntervalSince1970: 1_763_719_200)))
            }))
}
