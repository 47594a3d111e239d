import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("IDs as file names")
struct EscapedNameTests {
    @Test(
        "Lowercase letters and digits stay, and all other characters are escaped",
        arguments: [
            ("", "_"), ("_", "%5F"), ("bob7", "bob7"), ("Bob", "%42ob"), (".", "%2E"), ("..", "%2E%2E"),
            ("a/b", "a%2Fb"),
            ("a\u{0}", "a%00"), ("%41", "%2541"), ("\u{e9}", "%C3%A9"), ("e\u{301}", "e%CC%81"),
        ])
    func escapes(id: String, name: String) {
        #expect(NameEscaping.escaped(id) == name)
        #expect(NameEscaping.id(of: name)?.hasSameBytes(as: id) == true)
    }

    @Test("Every name converts back to its ID, and different IDs have names that differ on every file system")
    func reversible() async {
        let alphabet: [Unicode.Scalar] = [
            "a", "A", "b", "B", "0", "_", "%", ".", "/", "\u{0}", "\u{e9}", "\u{301}", "e", "\u{1F600}",
        ]
        var ids: [String: String] = [:]
        await Seeds.run(3_000) { seed in
            var generator = SeededGenerator(seed: seed)
            var id = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                id.append(alphabet.randomElement(using: &generator) ?? "a")
            }
            let text = String(id)
            for name in [NameEscaping.escaped(text), NameEscaping.agentSquad(text), NameEscaping.fullyEscaped(text)] {
                try #require(NameEscaping.id(of: name)?.hasSameBytes(as: text) == true)
            }
            let folded = NameEscaping.escaped(text).lowercased()
            try #require(ids.updateValue(text, forKey: folded)?.hasSameBytes(as: text) != false)
        }
    }

    @Test(
        "Foreign names have no ID",
        arguments: ["", "a.b", "%", "%4", "%4g", "%ff", "%C3", "a b", "__", "#00"])
    func foreignMessages(name: String) {
        #expect(NameEscaping.id(of: name) == nil)
    }

    @Test("A name that a file system would confuse with another is replaced by a fully escaped name")
    func folding() {
        let names = FolderNames(["Bob", "%41nn"])
        #expect(names.existing(for: "Bob") == "Bob")
        #expect(names.existing(for: "bob") == nil)
        #expect(names.new(for: "bob") == "%62%6F%62")
        #expect(FolderNames(["Bob", "%62%6F%62"]).existing(for: "bob") == "%62%6F%62")
        #expect(FolderNames(["Bob", "%62%6F%62", "bob"]).existing(for: "bob") == "%62%6F%62")
        #expect(names.existing(for: "Ann") == "%41nn")
        #expect(names.new(for: "eve") == "eve")
    }

    @Test("A name that is too long becomes a hash")
    func long() {
        let names = FolderNames([], suffix: ".json")
        let name = names.new(for: String(repeating: "é", count: 100))
        #expect(name.hasPrefix("#") && name.hasSuffix(".json") && name.utf8.count == 70)
        #expect(names.new(for: String(repeating: "a", count: 195)).utf8.count == 200)
        let id = String(repeating: "a", count: 200)
        let (ours, theirs) = (names.new(for: id), id + ".json")
        #expect(FolderNames([theirs, ours], suffix: ".json").existing(for: id) == ours)
    }
}
