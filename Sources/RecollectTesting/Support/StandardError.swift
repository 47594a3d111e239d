import Foundation
import RecollectCore

/// Where the suite says what it did not check.
enum StandardError {
    private static let said = Locked<Set<String>>([])

    /// Writes a line, the same line once in a process; as one write, so that lines of checks that run together stay whole.
    static func say(_ line: String) {
        guard said.withLock({ $0.insert(line).inserted }) else { return }
        FileHandle.standardError.write(Data("conformance: \(line)\n".utf8))
    }
}
