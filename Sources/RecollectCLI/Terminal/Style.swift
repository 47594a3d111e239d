#if CommandLine
    /// Terminal styles, without effect when off.
    struct Style: Sendable {
        var isOn: Bool

        func bold(_ text: String) -> String { wrap(text, "1") }
        func dim(_ text: String) -> String { wrap(text, "2") }
        func red(_ text: String) -> String { wrap(text, "31") }
        func green(_ text: String) -> String { wrap(text, "32") }
        func yellow(_ text: String) -> String { wrap(text, "33") }
        func cyan(_ text: String) -> String { wrap(text, "36") }
        func match(_ text: String) -> String { wrap(text, "1;33") }

        private func wrap(_ text: String, _ code: String) -> String {
            isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
    }
#endif
