#if CommandLine
    import Foundation

    /// The properties of the terminal.
    enum Screen {
        /// Whether the terminal supports control sequences: `TERM` is neither empty nor `dumb`.
        static var isCapable: Bool {
            let terminal = ProcessInfo.processInfo.environment["TERM"] ?? ""
            return !terminal.isEmpty && terminal != "dumb"
        }

        /// Whether output to a descriptor is in color: it is a capable terminal, and `NO_COLOR` is not set.
        static func supportsColor(_ descriptor: Int32) -> Bool {
            let refusal = ProcessInfo.processInfo.environment["NO_COLOR"] ?? ""
            return isatty(descriptor) == 1 && refusal.isEmpty && isCapable
        }

        /// Returns the width of a terminal, at least `least` columns; 80 if unknown.
        static func columns(_ descriptor: Int32, atLeast least: Int = 30) -> Int {
            var size = winsize()
            let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
            return max(least, isKnown ? Int(size.ws_col) : 80)
        }
    }

#endif
