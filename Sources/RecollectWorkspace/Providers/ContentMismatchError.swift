/// The error thrown by a provider instead of overwriting an unexpected version.
public struct ContentMismatchError: Error, Sendable, CustomStringConvertible {
    /// The present content; `nil` without a file.
    public let current: [UInt8]?

    /// Creates the error.
    public init(current: [UInt8]?) {
        self.current = current
    }

    /// A description of the mismatch, without any content.
    public var description: String {
        current == nil ? "the file does not exist" : "the file does not have the expected content"
    }
}
