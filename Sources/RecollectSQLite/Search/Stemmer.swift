import GRDB
import GRDBSQLite

/// Reduces the inflected forms of an English word to a common stem: `running` and `runs` to `run`.
///
/// It is the Porter algorithm in the implementation of FTS5. Only words of ASCII letters are reduced, so identifiers
/// with digits and words of other scripts stay whole.
struct Stemmer {
    private let tokenizer: any FTS5Tokenizer

    /// Creates a stemmer. Use it only during the access to the database.
    init(_ db: Database) throws {
        tokenizer = try db.makeTokenizer(.porter(wrapping: .ascii()))
    }

    /// Returns the stem of a folded word. A word may be its own stem.
    func stem(of word: [UInt8]) -> [UInt8] {
        var stem = word
        word.withUnsafeBufferPointer { forEachStem(in: $0) { found, _ in stem = Array(found) } }
        return stem
    }

    /// Calls `body` with the stem of each of some folded words, separated by spaces. Words that are their own stems are
    /// skipped.
    func forEachStem(
        in words: UnsafeBufferPointer<UInt8>,
        _ body: (_ stem: UnsafeBufferPointer<UInt8>, _ word: Slice<UnsafeBufferPointer<UInt8>>) -> Void
    ) {
        withoutActuallyEscaping(body) { body in
            var context = Context(words: words, body: body)
            words.withMemoryRebound(to: CChar.self) { text in
                _ = tokenizer.tokenize(
                    context: &context, tokenization: .document, pText: text.baseAddress, nText: CInt(text.count)
                ) { context, _, token, length, start, end in
                    context?.assumingMemoryBound(to: Context.self).pointee.add(
                        token, count: Int(length), from: Int(start)..<Int(end))
                    return SQLITE_OK
                }
            }
        }
    }

    private struct Context {
        let words: UnsafeBufferPointer<UInt8>
        let body: (UnsafeBufferPointer<UInt8>, Slice<UnsafeBufferPointer<UInt8>>) -> Void

        func add(_ token: UnsafePointer<CChar>?, count: Int, from range: Range<Int>) {
            guard let token, count > 0 else { return }
            let word = words[range]
            // The algorithm may replace a final `y`, so equal lengths do not mean equal words.
            token.withMemoryRebound(to: UInt8.self, capacity: count) { token in
                let stem = UnsafeBufferPointer(start: token, count: count)
                guard !stem.elementsEqual(word), word.allSatisfy({ $0 &- UInt8(ascii: "a") < 26 }) else { return }
                body(stem, word)
            }
        }
    }
}
