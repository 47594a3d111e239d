#if CommandLine
    import RecollectTestSupport
    import Testing

    @testable import RecollectCLI

    @Suite("Word wrap")
    struct WordWrapTests {
        private func wrapped(_ pieces: [String], _ columns: Int) -> String {
            var wrap = WordWrap(columns: columns)
            return pieces.map { wrap.add($0) }.joined() + wrap.finish()
        }

        @Test(
            "A word that does not fit starts a line, and nothing else changes",
            arguments: [
                ("", ""), ("one two", "one two"), ("one two three", "one two \nthree"),
                // Nine columns for words, and the tenth for the space after them.
                ("123 56789 x", "123 56789 \nx"), ("123 567890", "123 \n567890"),
                ("one\ntwo three four\n", "one\ntwo three \nfour\n"), ("  indent by two", "  indent \nby two"),
                ("a  b   c      d", "a  b   c  \n    d"), ("see [b07d4e18]", "see \n[b07d4e18\n]"),
                ("123456789012345678901", "123456789\n012345678\n901"), ("漢字漢字漢字", "漢字漢字\n漢字"),
                ("ab 漢字漢字", "ab 漢字漢\n字"), ("語word語", "語word語"), ("語words語", "語words語"), ("語wordsx語", "語wordsx\n語"),
                ("e\u{301}e\u{301}e\u{301}e\u{301} 12345", "e\u{301}e\u{301}e\u{301}e\u{301} \n12345"),
                ("a\tb", "a\tb"), ("a\tbc", "a\t\nbc"), ("12 45\u{A0}78 0", "12 45\u{A0}78 \n0"), ("\n\n", "\n\n"),
            ])
        func table(text: String, expected: String) {
            #expect(wrapped([text], 10) == expected)
        }

        @Test("Only an unfinished word is held back")
        func streaming() {
            var wrap = WordWrap(columns: 10)
            #expect(wrap.add("one tw") == "one ")
            #expect(wrap.add("o three") == "two ")
            #expect(wrap.finish() == "\nthree")
            #expect(wrap.add("line\n") == "line\n", "a complete line is not held back")
            #expect(wrap.add("語語") == "語")
        }

        @Test("Wrapping does not depend on the pieces, respects the width, and only adds line breaks")
        func anyText() async {
            await Seeds.run(20) { seed in
                var random = SeededGenerator(seed: seed)
                let alphabet: [Unicode.Scalar] =
                    Array("ab c  \n\t漢é👩🇩🇪한—-…".unicodeScalars) + ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{A0}"]
                for _ in 0..<100 {
                    let scalars = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                        alphabet.randomElement(using: &random) ?? " "
                    }
                    let columns = Int.random(in: 2...24, using: &random)
                    var pieces = [""]
                    for scalar in scalars {
                        if Int.random(in: 0..<3, using: &random) == 0 { pieces.append("") }
                        pieces[pieces.count - 1].unicodeScalars.append(scalar)
                    }
                    let text = pieces.joined()
                    let shown = wrapped([text], columns)
                    try #require(wrapped(pieces, columns) == shown)
                    try #require(shown.isWithLineEnds(text))
                    for line in shown.split(separator: "\n") where !line.contains("\t") && columns > 2 {
                        try #require(String(line).columns <= columns)
                    }
                }
            }
        }
    }

    extension String {
        /// Whether this is the other text with added line breaks.
        fileprivate func isWithLineEnds(_ other: String) -> Bool {
            var rest = Substring(other).unicodeScalars
            for scalar in unicodeScalars {
                if rest.first == scalar { rest.removeFirst() } else if scalar != "\n" { return false }
            }
            return rest.isEmpty
        }
    }
#endif
