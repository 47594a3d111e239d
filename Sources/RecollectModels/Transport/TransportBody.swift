import Foundation

/// The body of a response, in pieces as they arrive. It can be read once.
///
/// Reading throws `TransportError` if the body cannot be read to its end, and `CancellationError` in a canceled task.
public struct TransportBody: AsyncSequence, Sendable {
    private let start: @Sendable () -> Iterator

    /// Creates a body from any sequence of pieces.
    public init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) where Pieces.Element == Data {
        start = {
            var iterator = pieces.makeAsyncIterator()
            return Iterator { try await iterator.next() }
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { start() }

    /// Reads the pieces.
    public struct Iterator: AsyncIteratorProtocol {
        private let read: () async throws -> Data?

        fileprivate init(_ read: @escaping () async throws -> Data?) {
            self.read = read
        }

        /// Returns the next piece; `nil` at the end.
        public mutating func next() async throws -> Data? { try await read() }
    }
}
