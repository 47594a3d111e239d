import Foundation
import RecollectCore
import RecollectTestSupport

@testable import RecollectWorkspace

/// What was saved in a life of a workspace, and what its writers knew: whatever is not superseded has to be found at its end.
///
/// Besides whole texts it counts the words in them, each of which is written once: a word that no writer took out has to be in sight.
final class LifeLedger: Sendable {
    struct Text {
        let bytes: [UInt8]
        let path: String
        /// Whether somebody replaced it who had it before their eyes, and whom no archive need remember.
        var isSuperseded = false
    }

    fileprivate struct State {
        var generator: SeededGenerator
        var words = 0
        var texts: [Text] = []
        var added: Set<Int> = []
        var takenOut: Set<Int> = []
        /// Paths at which a program adds in pieces to whatever is there.
        var slow: Set<String> = []
        var notes: [String] = []
    }

    /// Whether nobody takes out anything but what they have just mistyped.
    let onlyAdds: Bool
    private let state: Locked<State>

    init(seed: UInt64, onlyAdds: Bool = false) {
        self.onlyAdds = onlyAdds
        state = Locked(State(generator: SeededGenerator(seed: seed)))
    }

    // MARK: Chance

    func random(below count: Int) -> Int {
        state.withLock { Int.random(in: 0..<max(1, count), using: &$0.generator) }
    }

    func isOneIn(_ count: Int) -> Bool { random(below: count) == 0 }

    func one<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[random(below: elements.count)]
    }

    // MARK: What is done

    /// What happened, in words, for whoever reads of a failure.
    func note(_ words: String) {
        state.withLock { $0.notes.append(words) }
    }

    var notes: [String] { state.withLock { $0.notes } }

    /// A word that nobody wrote before.
    func word() -> String {
        state.withLock { state in
            state.words += 1
            return "w\(state.words)w"
        }
    }

    /// Somebody saved a text.
    /// - Parameters:
    ///   - old: What they had before their eyes and replaced.
    ///   - isArchived: Whether that has to be in an archive because the product replaced it.
    func saved(_ bytes: [UInt8], at path: String, replacing old: [UInt8]?, isArchived: Bool) {
        note("  \(path): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
        state.withLock { state in
            state.texts.append(Text(bytes: bytes, path: path))
            state.added.formUnion(Self.words(in: bytes))
            if let old {
                state.takenOut.formUnion(Self.words(in: old).subtracting(Self.words(in: bytes)))
                if !isArchived { state.supersede(old, at: path) }
            }
        }
    }

    /// Somebody removed a text that they had before their eyes.
    func removed(_ old: [UInt8], at path: String, isArchived: Bool) {
        state.withLock { state in
            state.takenOut.formUnion(Self.words(in: old))
            if !isArchived { state.supersede(old, at: path) }
        }
    }

    /// A program begins to add to a text that it has before its eyes. What it adds may never be whole.
    func extended(_ old: [UInt8], at path: String) {
        state.withLock { state in
            state.supersede(old, at: path)
            state.slow.insert(path)
        }
    }

    /// A word was added to whatever was there.
    func added(_ word: String) {
        state.withLock { $0.added.formUnion(Self.words(in: Array(word.utf8))) }
    }

    /// What a word says counts only as a part of its text: of two wordings of one message one is in the archive.
    func forget(_ word: String) {
        state.withLock { $0.takenOut.formUnion(Self.words(in: Array(word.utf8))) }
    }

    /// A text that was saved at a path before.
    func earlierText(at path: String) -> [UInt8]? {
        one(of: state.withLock { state in state.texts.filter { $0.path == path }.map(\.bytes) })
    }

    // MARK: What is left

    /// The texts that have to be current or archived. Where a program writes in pieces, only the words count.
    var owedTexts: [Text] {
        state.withLock { state in state.texts.filter { !$0.isSuperseded && !state.slow.contains($0.path) } }
    }

    /// Words that nobody took out and that are in none of some texts.
    func wordsOutOfSight(among texts: some Sequence<[UInt8]>) -> [String] {
        let inSight = texts.reduce(into: Set<Int>()) { $0.formUnion(Self.words(in: $1)) }
        return state.withLock { state in
            state.added.subtracting(state.takenOut).subtracting(inSight).sorted().map { "w\($0)w" }
        }
    }

    private static func words(in bytes: [UInt8]) -> Set<Int> {
        var words: Set<Int> = []
        var number: Int?
        bytes.withUnsafeBufferPointer { bytes in
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "w"):
                    if let ended = number, ended > 0 { words.insert(ended) }
                    number = number ?? 0 > 0 ? nil : 0
                case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number.map { $0 * 10 + Int(byte) - 48 }
                default: number = nil
                }
            }
        }
        return words
    }
}

extension LifeLedger.State {
    fileprivate mutating func supersede(_ bytes: [UInt8], at path: String) {
        for index in texts.indices where texts[index].bytes == bytes { texts[index].isSuperseded = true }
    }
}
