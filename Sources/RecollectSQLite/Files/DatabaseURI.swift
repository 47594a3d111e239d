import Foundation

/// The URI of a database's file, with parameters for SQLite (https://sqlite.org/uri.html).
package enum DatabaseURI {
    /// Returns the URI of the file at a path.
    package static func text(of path: String, _ parameters: String) -> String {
        let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
        return "file:\(escaped)?\(parameters)"
    }
}
