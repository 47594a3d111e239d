#if CommandLine
    import Foundation
    import Recollect

    /// A line on a terminal that shows how far something has come; nothing where standard error is no terminal.
    final class ProgressBar: Sendable {
        private let isOn = isatty(STDERR_FILENO) == 1
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
            let width = 28
            let filled = Int(Double(width) * min(1, max(0, done)))
            let bar =
                style.cyan(String(repeating: "━", count: filled))
                + style.dim(String(repeating: "─", count: width - filled))
            draw("\(bar) \(Int(min(1, max(0, done)) * 100)) %  \(text)")
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
