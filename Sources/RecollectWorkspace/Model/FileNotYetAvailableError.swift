import Foundation

/// An error thrown for a known file that is not local. Its download was requested.
public struct FileNotYetAvailableError: Error, Sendable {
    /// The file; `nil` if the error was created without one.
    public let url: URL?

    /// Creates an error.
    public init(url: URL? = nil) {
        self.url = url
    }
}

extension FileNotYetAvailableError: LocalizedError, CustomStringConvertible {
    /// A description of the failure and its remedy.
    public var description: String {
        "\(url?.lastPathComponent ?? "The file") is not on this device yet; its download was requested: try again later"
    }

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }
}
