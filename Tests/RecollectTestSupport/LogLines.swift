import Logging
import RecollectCore

/// Collects log events as lines: the level, the message, and the metadata sorted by key.
package final class LogLines: Sendable {
    private let lines = Locked<[String]>([])

    package init() {}

    /// A logger that logs all levels to this object.
    package var logger: Logger {
        Logger(label: "test") { [lines] _ in Handler(lines: lines) }
    }

    /// The lines so far.
    package var all: [String] { lines.withLock { $0 } }

    private struct Handler: LogHandler {
        let lines: Locked<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let fields = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.withLock { $0.append("\(event.level) \(event.message) \(fields.joined(separator: " "))") }
        }
    }
}
