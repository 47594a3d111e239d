#if CommandLine
    /// Breaks text into lines at words, while the text streams.
    ///
    /// Line breaks are only added: existing ones, indents and blanks stay. A word too long for the rest of a line
    /// begins a new one; a word longer than a line is split; wide characters may be separated anywhere. The output
    /// does not depend on the division of the input. Only the last character and an unfinished word are held back.
    struct WordWrap {
        /// The columns of the screen. Words leave the last one free, for the blank after them.
        private let columns: Int
        /// The columns in use on the current line.
        private var column = 0
        /// The unfinished word, and its width in columns.
        private var word = ""
        private var wordColumns = 0
        /// The last character of the input: a combining mark may follow.
        private var open = ""

        init(columns: Int) {
            self.columns = columns
        }

        /// Adds text, and returns the text ready to be shown.
        mutating func add(_ text: String) -> String {
            open += text
            let held = open.last.map { $0 == "\n" ? "" : String($0) } ?? ""
            var shown = ""
            for character in open.dropLast(held.count) { take(character, into: &shown) }
            open = held
            return shown
        }

        /// Returns the text held back. The next text begins a line.
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
                // Terminals clamp tabs to the last column.
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

        /// Places a string of `width` columns on the line, or on a new line if it would pass `end`.
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
        /// Whether a line may end after the character.
        fileprivate var isBlank: Bool {
            isWhitespace && !["\u{A0}", "\u{2007}", "\u{202F}"].contains(self)
        }
    }
#endif
