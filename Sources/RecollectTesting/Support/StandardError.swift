import Foundation

/// Where the suite says what it did not check.
enum StandardError {
    /// Writes a line at once, so that lines of checks that run together stay whole.
    static func print(_ line: String) {
        FileHandle.standardError.write(Data("conformance: \(line)\n".utf8))
    }
}
