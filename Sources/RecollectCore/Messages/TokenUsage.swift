/// The token counts of a session, summed from `usage` in the metadata of its messages.
public struct TokenUsage: Hashable, Sendable {
    /// Sent tokens, except those read from or written to a cache.
    public var input: Int
    /// Generated tokens.
    public var output: Int
    /// Tokens written to a provider's cache.
    public var cacheCreation: Int
    /// Tokens read from a provider's cache.
    public var cacheRead: Int

    /// Creates a sum of tokens.
    public init(input: Int = 0, output: Int = 0, cacheCreation: Int = 0, cacheRead: Int = 0) {
        self.input = input
        self.output = output
        self.cacheCreation = cacheCreation
        self.cacheRead = cacheRead
    }

    /// The sum of all four counts.
    public var total: Int { input + output + cacheCreation + cacheRead }
}
