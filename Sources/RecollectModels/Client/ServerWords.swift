#if Models
    import Foundation
    import RecollectAgents
    import RecollectCore

    /// What a server says of a failure, as far as it may stand in an error: servers like to quote the request.
    struct ServerWords {
        /// The server's own text; empty where it may not be shown or there is none.
        let text: String

        private static let limit = 300
        /// Fewer bytes in common with the conversation are no quotation.
        private static let quotation = 16

        /// Finds the text in a JSON error and keeps it if it holds neither a secret nor anything that was said.
        init(error: JSONValue, request: LLMRequest, secrets: [String]) {
            let found =
                error.stringValue ?? error["message"]?.stringValue ?? error["error"]?["message"]?.stringValue
                ?? error["error"]?.stringValue ?? error["detail"]?.stringValue ?? ""
            let words = String(found.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(Self.limit))
            let isSafe = !secrets.contains { words.contains($0) } && !Self.quotes(words, request)
            text = isSafe ? words : ""
        }

        /// Whether the words have a piece in common with what was said: looked up only when something has failed.
        private static func quotes(_ words: String, _ request: LLMRequest) -> Bool {
            let bytes = Array(words.utf8)
            func pieces(_ bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
                (0..<max(0, bytes.count - quotation + 1)).lazy.map { bytes[$0..<$0 + quotation] }
            }
            let known = Set(pieces(bytes))
            let said = request.messages.flatMap(\.parts).compactMap(\.said) + [request.system].compactMap { $0 }
            return said.contains { text in
                let text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                guard text.utf8.count >= quotation else {
                    // Shorter ones are words that any sentence may have, unless they are all that is quoted.
                    return text.utf8.count >= 4 && (words.contains("\"\(text)\"") || words.contains("'\(text)'"))
                }
                return pieces(Array(text.utf8)).contains(where: known.contains)
            }
        }
    }

    extension ContentPart {
        /// What the part says, as a server might quote it.
        fileprivate var said: String? {
            switch self {
            case .text(let text), .audioTranscript(let text): text
            case .toolCall(_, _, let value), .toolResult(_, let value): value.stringValue ?? value.jsonString
            case .thinking, .attachment, .unknown: nil
            }
        }
    }
#endif
