import Foundation
import RecollectCore
import RecollectTestSupport

@testable import RecollectWorkspace

/// The texts saved in a life of a workspace, and the texts replaced by them. Every text not superseded must be found at
/// the end.
///
/// Besides whole texts, the ledger records their words. Each word is written once. A word not removed by a writer must
/// be in a current file.
final class LifeLedger: Sendable {
    struct Text {
        let bytes: [UInt8]
        let path: String
        /// Whether an editor read and replaced it, so that it need not be in an archive.
        var isSuperseded = false
    }

    fileprivate struct State {
        var generator: SeededGenerator
        var words = 0
        var texts: [Text] = []
        var added: Set<Int> = []
        var takenOut: Set<Int> = []
        /// Paths of files to which a program appends in pieces.
        var slow: Set<String> = []
        var notes: [String] = []
    }

    /// Whether nothing is removed except typos.
    let onlyAdds: Bool
    private let state: Locked<State>

    init(seed: UInt64, onlyAdds: Bool = false) {
        self.onlyAdds = onlyAdds
        state = Locked(State(generator: SeededGenerator(seed: seed)))
    }

    // MARK: Random choices

    func random(below count: Int) -> Int {
        state.withLock { Int.random(in: 0..<max(1, count), using: &$0.generator) }
    }

    func isOneIn(_ count: Int) -> Bool { random(below: count) == 0 }

    func one<Element>(of elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[random(below: elements.count)]
    }

    // MARK: Recording

    /// Adds a line about an action to the failure message.
    func note(_ words: String) {
        state.withLock { $0.notes.append(words) }
    }

    var notes: [String] { state.withLock { $0.notes } }

    /// Returns a new word.
    func word() -> String {
        state.withLock { state in
            state.words += 1
            return "w\(state.words)w"
        }
    }

    /// Records a saved text.
    /// - Parameters:
    ///   - old: The text read and replaced by the writer.
    ///   - isArchived: Whether the old text must be in an archive, because Recollect replaced it.
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

    /// Records the removal of text by a writer that read it.
    func removed(_ old: [UInt8], at path: String, isArchived: Bool) {
        state.withLock { state in
            state.takenOut.formUnion(Self.words(in: old))
            if !isArchived { state.supersede(old, at: path) }
        }
    }

    /// Records that a program begins to append to text it read. The addition may stay incomplete.
    func extended(_ old: [UInt8], at path: String) {
        state.withLock { state in
            state.supersede(old, at: path)
            state.slow.insert(path)
        }
    }

    /// Records a word appended to any content.
    func added(_ word: String) {
        state.withLock { $0.added.formUnion(Self.words(in: Array(word.utf8))) }
    }

    /// Counts a word only as a part of its text, because one of two texts of a message may be only in the archive.
    func forget(_ word: String) {
        state.withLock { $0.takenOut.formUnion(Self.words(in: Array(word.utf8))) }
    }

    /// Returns a random text saved earlier at a path.
    func earlierText(at path: String) -> [UInt8]? {
        one(of: state.withLock { state in state.texts.filter { $0.path == path }.map(\.bytes) })
    }

    // MARK: Checking

    /// The texts that must be current or archived. For files written in pieces, only the words count.
    var owedTexts: [Text] {
        state.withLock { state in state.texts.filter { !$0.isSuperseded && !state.slow.contains($0.path) } }
    }

    /// Returns the words never removed by a writer and missing from some texts.
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
