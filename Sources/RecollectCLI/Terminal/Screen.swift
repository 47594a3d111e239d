#if CommandLine
    import Foundation

    /// What is known of the terminal.
    enum Screen {
        /// Whether terminals here take commands, and do more than write line after line.
        static var isCapable: Bool {
            let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
            return !terminal.isEmpty && terminal != "dumb"
        }

        /// Whether colours are wanted on a descriptor: a terminal that has them, and no `NO_COLOR`.
        static func takesColours(_ descriptor: Int32) -> Bool {
            let refusal = ProcessInfo.processInfo.environment["NO_COLOR"] ?? ""
            return isatty(descriptor) == 1 && refusal.isEmpty && isCapable
        }

        /// The width of a terminal; text is not laid out for less than `least`.
        static func columns(_ descriptor: Int32, atLeast least: Int = 30) -> Int {
            var size = winsize()
            let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
            return max(least, isKnown ? Int(size.ws_col) : 80)
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
