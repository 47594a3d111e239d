/// The marks of messages that quote the history. A search finds the quoted messages instead.
package enum HistoryQuotation {
    /// The tool that searches the history.
    package static let searchTool = "search_history"
    /// The tool that reads a session.
    package static let readTool = "read_session"
    /// The tool that lists the sessions.
    package static let listTool = "list_sessions"
    /// The tools with results from the history.
    package static let tools = [searchTool, readTool, listTool]
    /// The key of the quoted messages in the metadata of a reply: an array of objects with the key `messageId`.
    package static let metadataKey = "quotes"

    /// Whether a tool returns messages of the history. Clients of tool servers put the server's name before it
    /// (`mcp__recall__search_history`).
    package static func isTool(_ name: String) -> Bool { tools.contains(where: name.hasSuffix) }
}
