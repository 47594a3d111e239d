#if CommandLine
    /// The width of text on a terminal, with two columns for Chinese and Japanese characters, and functions for
    /// fitting text.
    extension String {
        /// The width of the text in columns.
        var columns: Int {
            reduce(0) { $0 + $1.columns }
        }

        /// Returns the text cut to a width in columns, with `…` in place of the rest.
        func cut(to limit: Int) -> String {
            var width = 0
            var end = startIndex
            for index in indices {
                width += self[index].columns
                if width > limit { return self[..<end] + "…" }
                if width < limit { end = self.index(after: index) }
            }
            return self
        }

        /// Returns the text padded with blanks to a width in columns.
        func padded(to width: Int, right: Bool = false) -> String {
            let blanks = String(repeating: " ", count: max(0, width - columns))
            return right ? blanks + self : self + blanks
        }

        /// The text on one line, without control characters.
        var oneLine: String {
            singleLine.visible
        }

        /// The text without control sequences for a terminal: transcripts contain foreign text.
        ///
        /// ASCII control characters become their pictures (`␛`), except for line feeds and tabs. Carriage returns
        /// are removed, and other control characters become U+FFFD. Marks for the direction of writing are
        /// removed.
        var visible: String {
            guard unicodeScalars.contains(where: \.isCommand) else { return self }
            var result = String.UnicodeScalarView()
            for scalar in unicodeScalars {
                guard scalar.isCommand else {
                    result.append(scalar)
                    continue
                }
                switch scalar.value {
                case 0x0D: continue
                case 0..<0x20: result.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
                case 0x7F: result.append("\u{2421}")
                case 0x80..<0xA0: result.append("\u{FFFD}")
                default: continue
                }
            }
            return String(result)
        }
    }

    extension Unicode.Scalar {
        /// Whether a terminal interprets the character instead of showing it.
        fileprivate var isCommand: Bool {
            switch value {
            case 0x09, 0x0A: false
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
            default: false
            }
        }

        /// Whether the character takes two columns: Unicode's East Asian Width W and F, by blocks.
        fileprivate var isWide: Bool {
            switch value {
            case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
                0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
                0xFFE0...0xFFE6, 0x20000...0x3FFFD:
                true
            default: properties.isEmojiPresentation
            }
        }

        fileprivate var isNarrow: Bool {
            switch properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format, .control: false
            default: true
            }
        }
    }

    extension Character {
        /// The width of the character in columns.
        var columns: Int {
            let scalars = unicodeScalars
            if scalars.contains(where: { $0.isWide || $0.value == 0xFE0F }) { return 2 }
            return scalars.contains(where: \.isNarrow) ? 1 : 0
        }
    }
#endif
