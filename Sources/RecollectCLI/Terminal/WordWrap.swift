#if CommandLine
    /// Breaks text at words for a screen, while the text still comes.
    ///
    /// It only adds ends of lines: the text's own, its indents and its blanks stay. A word that does not fit begins a new line, one
    /// longer than a line is cut, and wide characters may part anywhere. What it gives out is the same whatever the pieces are in
    /// which the text comes; only the word that is not finished yet is held back.
    struct WordWrap {
        /// The columns of the screen. Words leave the last one to the blank behind them.
        private let columns: Int
        /// The columns that are taken on the line.
        private var column = 0
        /// The word that has begun, and the columns that it takes.
        private var word = ""
        private var wordColumns = 0
        /// The last character that came: an accent may still follow.
        private var open = ""

        init(columns: Int) {
            self.columns = columns
        }

        /// Takes the next piece of a text, and gives what can be shown by now.
        mutating func add(_ text: String) -> String {
            open += text
            let held = open.last.map { $0 == "\n" ? "" : String($0) } ?? ""
            var shown = ""
            for character in open.dropLast(held.count) { take(character, into: &shown) }
            open = held
            return shown
        }

        /// Gives what was held back. What comes after it begins a line.
        mutating func finish() -> String {
            var shown = ""
            for character in open { take(character, into: &shown) }
            endWord(into: &shown)
            self = WordWrap(columns: columns)
            return shown
        }

        private mutating func take(_ character: Character, into shown: inout String) {
            if character == "\n" {
                endWord(into: &shown)
                shown.append(character)
                column = 0
            } else if character == "\t" {
                // A terminal's tab stops at the end of the line.
                endWord(into: &shown)
                shown.append(character)
                column = min(columns, column + 8 - column % 8)
            } else if character.isBlank {
                endWord(into: &shown)
                place(String(character), character.columns, before: columns, into: &shown)
            } else if character.columns > 1 {
                endWord(into: &shown)
                place(String(character), character.columns, before: columns - 1, into: &shown)
            } else {
                if wordColumns + character.columns > columns - 1 { endWord(into: &shown) }
                word.append(character)
                wordColumns += character.columns
            }
        }

        private mutating func endWord(into shown: inout String) {
            place(word, wordColumns, before: columns - 1, into: &shown)
            (word, wordColumns) = ("", 0)
        }

        /// Puts a text that takes `width` columns on the line, or where it would go past `end` on the next one.
        private mutating func place(_ text: String, _ width: Int, before end: Int, into shown: inout String) {
            if column > 0, width > 0, column + width > end {
                shown.append("\n")
                column = 0
            }
            shown += text
            column += width
        }
    }

    extension Character {
        /// Whether a line may end behind it.
        fileprivate var isBlank: Bool {
            isWhitespace && !["\u{A0}", "\u{2007}", "\u{202F}"].contains(self)
        }
    }
#endif
