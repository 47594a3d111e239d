/// The rules of compactions, for every store.
extension CompactedMessages {
    /// Creates the messages of a scope from all of them.
    /// - Parameter isCovered: Whether the compaction covers the message at an index, if it is no instruction.
    package init(
        _ all: [ConversationMessage], compaction: Compaction? = nil, isCovered: (Int) -> Bool = { _ in false }
    ) {
        let instructions = all.prefix { $0.role == .system }
        let rest = instructions.endIndex..<all.endIndex
        self.init(
            instructions: Array(instructions), compaction: compaction,
            pinned: Self.pinnedTurns(of: rest.filter(isCovered).map { all[$0] }),
            messages: rest.filter { !isCovered($0) }.map { all[$0] })
    }

    /// Returns the turns with a pinned message.
    package static func pinnedTurns(of covered: [ConversationMessage]) -> [ConversationMessage] {
        guard covered.contains(where: \.isPinned) else { return [] }
        return TurnBoundaries(covered).ranges.map { covered[$0] }.filter { $0.contains(where: \.isPinned) }.flatMap {
            $0
        }
    }

    /// Returns the messages for a model within a budget of tokens: see `ChatStorage.window`.
    /// - Returns: `nil` if the summary does not fit into the budget beside the instructions.
    package func window(tokens: Int, counter: TokenCounter) -> [ConversationMessage]? {
        let rule = TokenWindow(tokens: tokens, counter: counter)
        let summary = compaction?.message
        let window =
            rule.messages(
                instructions: instructions + (summary.map { [$0] } ?? []), newest: pinned + messages, isAll: true) ?? []
        guard let summary, !window.contains(where: { $0.id.hasSameBytes(as: summary.id) }) else { return window }
        return nil
    }

    /// Returns the messages for a model: at most the last `maxMessages` not covered. With a compaction, the instructions,
    /// the summary and the pinned turns come before them and do not count.
    func window(maxMessages: Int?) -> [ConversationMessage] {
        let size = MessageWindow.size(for: maxMessages) ?? .max
        guard let compaction else { return (instructions + messages).suffix(size) }
        if size == 0 { return [] }
        return instructions + [compaction.message] + pinned + messages.suffix(size)
    }

    /// Returns the messages up to and including one that is not covered, for a turn after it; `nil` without this message.
    /// - Parameter limit: The maximum number of messages not covered.
    package func ending(at id: String, last limit: Int?) -> CompactedMessages? {
        guard let end = messages.lastIndex(where: { $0.id.hasSameBytes(as: id) }) else { return nil }
        var part = self
        part.messages = Array(messages[...end].suffix(limit ?? .max))
        return part
    }

    /// Checks a new compaction, in the transaction of its save.
    /// - Parameters:
    ///   - summarized: The messages as read by the writer of the summary, possibly after the instructions.
    ///   - previousId: The compaction in effect when they were read.
    /// - Returns: The number of messages to cover, from the first one not covered.
    /// - Throws: `invalidArgument` without a summary or messages, and for messages ending inside a tool exchange; `notFound`
    ///   if the last message is not among those not covered; `conflict` if the others or the compaction have changed.
    package func checkCompaction(
        of summarized: [ConversationMessage], into summary: String, after previousId: String?
    ) throws -> Int {
        guard summary.contains(where: { !$0.isWhitespace }) else {
            throw RecollectError(.invalidArgument, "the summary is empty; nothing was saved")
        }
        let known = Set(instructions.map { ByteString($0.id) })
        let new = summarized.drop { $0.role == .system && known.contains(ByteString($0.id)) }
        guard let last = new.last else {
            throw RecollectError(.invalidArgument, "there are no messages to compact; nothing was saved")
        }
        guard compaction.map({ ByteString($0.id) }) == previousId.map({ ByteString($0) }) else {
            throw RecollectError(
                .conflict, "another compaction is in effect since the messages were read; read them again")
        }
        guard messages.contains(where: { $0.id.hasSameBytes(as: last.id) }) else {
            throw RecollectError(
                .notFound, "message \(last.id) is not among those to compact; it may be deleted: read them again")
        }
        let current = messages.prefix(new.count)
        guard current.count == new.count, zip(current, new).allSatisfy({ $0.isSameForModel(as: $1) }) else {
            throw RecollectError(
                .conflict, "the messages up to \(last.id) have changed since they were read; read them again")
        }
        let isSplit = ToolExchange.all(in: messages).contains {
            $0.call.message < new.count && $0.result.message >= new.count
        }
        guard !isSplit else {
            throw RecollectError(
                .invalidArgument, "message \(last.id) is inside a tool exchange; compact all or none of it")
        }
        return new.count
    }
}

extension ConversationMessage {
    /// Whether a model gets the same message: with the same ID, role and parts.
    package func isSameForModel(as other: ConversationMessage) -> Bool {
        id.hasSameBytes(as: other.id) && role == other.role && hasSameParts(as: other)
    }
}
