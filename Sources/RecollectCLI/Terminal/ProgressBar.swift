#if CommandLine
    import Foundation
    import Recollect

    /// A line on a terminal that shows how far something has come; nothing where standard error is no terminal.
    final class ProgressBar: Sendable {
        private let isOn = isatty(STDERR_FILENO) == 1 && Screen.isCapable
        private let style = Style(isOn: Screen.takesColours(STDERR_FILENO))
        private let nextDraw = Locked(DispatchTime(uptimeNanoseconds: 0))

        /// Draws the bar, at most ten times a second.
        func show(_ done: Double, _ text: String) {
            guard isOn else { return }
            let isDue = nextDraw.withLock { next in
                let now = DispatchTime.now()
                guard now >= next else { return false }
                next = now + .milliseconds(100)
                return true
            }
            guard isDue else { return }
            draw(Self.line(done, text, style: style, columns: Screen.columns(STDERR_FILENO, atLeast: 1)))
        }

        /// The bar, its number and as much of the text as fits: a line that wraps could not be drawn over.
        static func line(_ done: Double, _ text: String, style: Style, columns: Int) -> String {
            let done = min(1, max(0, done))
            // The last column stays free: some terminals go on to the next line with it.
            let room = columns - 1
            let number = "\(Int(done * 100)) %"
            let width = min(28, max(0, room - number.columns - 1))
            let filled = Int(Double(width) * done)
            let bar =
                style.cyan(String(repeating: "━", count: filled))
                + style.dim(String(repeating: "─", count: width - filled))
            let rest = room - width - number.columns - 3
            return "\(bar) \(number)".trimmingCharacters(in: .whitespaces) + (rest > 8 ? "  \(text.cut(to: rest))" : "")
        }

        /// Takes the bar away.
        func clear() {
            if isOn { draw("") }
        }

        private func draw(_ text: String) {
            // A bar that cannot be drawn is not missed.
            try? Output.writeAll(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
        }
    }
#endif
