#if CommandLine
    import Recollect

    /// The hits of a search with the messages around them.
    struct FoundMessages {
        struct Message {
            let hit: SearchHit
            var before: [StoredMessage]?
            var after: [StoredMessage]?
        }

        private(set) var messages: [Message] = []

        /// Creates the list of hits, and reads the messages around them.
        /// - Parameter context: The maximum number of messages before each hit, and of those after it.
        init(_ hits: [SearchHit], context: Int, in history: any HistoryStore) async throws {
            for hit in hits {
                var message = Message(hit: hit)
                if context > 0 {
                    (message.before, message.after) = try await Self.neighbors(of: hit, context, in: history)
                }
                messages.append(message)
            }
        }

        /// Returns the neighbors of a hit; none if it was deleted since.
        private static func neighbors(
            of hit: SearchHit, _ count: Int, in history: any HistoryStore
        ) async throws -> ([StoredMessage], [StoredMessage]) {
            do {
                let all = try await history.messages(
                    around: hit.messageId, in: hit.session, agentId: hit.agentId, before: count, after: count)
                let index = all.firstIndex { $0.message.id == hit.messageId && $0.agentId == hit.agentId } ?? 0
                return (Array(all[..<index]), Array(all[(index + 1)...]))
            } catch let error as RecollectError where error.code == .notFound {
                return ([], [])
            }
        }
    }

    extension FoundMessages.Message {
        /// The hit as JSON.
        var listed: JSONValue {
            var listed: [String: JSONValue] = [
                "sessionId": .string(hit.session.sessionId), "agentId": .string(hit.agentId),
                "messageId": .string(hit.messageId), "role": .string(hit.role.rawValue),
                "timestamp": .integer(hit.timestamp.millisecondsSince1970), "snippet": .string(hit.snippet.marked()),
                "score": .number(hit.score), "matchedWords": .array(hit.matchedWords.map(JSONValue.string)),
                "missingWords": .array(hit.missingWords.map(JSONValue.string)),
                "correctedWords": .object(hit.correctedWords.mapValues(JSONValue.string)),
            ]
            if let before { listed["before"] = .array(before.map(Self.listed)) }
            if let after { listed["after"] = .array(after.map(Self.listed)) }
            return .object(listed)
        }

        private static func listed(_ stored: StoredMessage) -> JSONValue {
            [
                "agentId": .string(stored.agentId), "messageId": .string(stored.message.id),
                "role": .string(stored.message.role.rawValue),
                "timestamp": .integer(stored.message.timestamp.millisecondsSince1970),
                "text": .string(stored.message.readableText),
            ]
        }
    }

    extension ConversationMessage {
        /// The text of the message. Without one, the names of its calls, the text of its results, or its thoughts.
        var readableText: String {
            guard text.allSatisfy(\.isWhitespace) else { return text }
            return parts.compactMap { part in
                switch part {
                case .toolCall(_, let name, let arguments): "\(name) \(arguments.jsonString)"
                case .toolResult(_, let content): content.readable
                case .thinking(let text, _), .audioTranscript(let text): text
                default: nil
                }
            }.joined(separator: "\n")
        }
    }
#endif
