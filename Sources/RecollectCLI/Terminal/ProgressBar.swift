#if CommandLine
    import Foundation
    import Recollect

    /// A progress bar on standard error; hidden unless standard error is a capable terminal.
    final class ProgressBar: Sendable {
        private let isOn = isatty(STDERR_FILENO) == 1 && Screen.isCapable
        private let style = Style(isOn: Screen.supportsColor(STDERR_FILENO))
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

        /// Returns the bar, its percentage, and as much of the text as fits. A wrapped line could not be redrawn.
        static func line(_ done: Double, _ text: String, style: Style, columns: Int) -> String {
            let done = min(1, max(0, done))
            // The last column stays free: some terminals wrap the line after it.
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

        /// Removes the bar.
        func clear() {
            if isOn { draw("") }
        }

        private func draw(_ text: String) {
            // A failed drawing is ignored.
            try? Output.writeAll(Array("\r\u{1B}[K\(text)".utf8), to: STDERR_FILENO)
        }
    }
#endif
