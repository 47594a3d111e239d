#if CommandLine
    import Foundation

    /// What is known of the terminal.
    enum Screen {
        /// Whether colours are wanted on a descriptor: a terminal that has them, and no `NO_COLOR`.
        static func takesColours(_ descriptor: Int32) -> Bool {
            let environment = ProcessInfo.processInfo.environment
            return isatty(descriptor) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        }

        /// The width of a terminal, at least 40.
        static func columns(_ descriptor: Int32) -> Int {
            var size = winsize()
            let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
            return max(40, isKnown ? Int(size.ws_col) : 80)
        }
    }

    /// Colours, where they are on.
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
