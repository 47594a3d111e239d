import Foundation
import RecollectCore

/// The output for checks not run.
enum StandardError {
    private static let said = Locked<Set<String>>([])

    /// Prints a line, once per process. It is a single write, so lines of concurrent checks are not mixed.
    static func say(_ line: String) {
        guard said.withLock({ $0.insert(line).inserted }) else { return }
        FileHandle.standardError.write(Data("conformance: \(line)\n".utf8))
    }
}
