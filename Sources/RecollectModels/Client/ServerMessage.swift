import Foundation
import RecollectAgents
import RecollectCore

/// A server's own text about a failure, if it is safe to show. Servers may quote the request.
struct ServerMessage {
    /// The text; empty if there is none, or if it must not be shown.
    let text: String

    private static let limit = 300
    /// The minimum number of bytes shared with the messages to count as a quotation.
    private static let quotation = 16

    /// Creates the text from a JSON error, without it if it contains a secret or quotes the request.
    init(error: JSONValue, request: LLMRequest, secrets: [String]) {
        let found =
            error.stringValue ?? error["message"]?.stringValue ?? error["error"]?["message"]?.stringValue
            ?? error["error"]?.stringValue ?? error["detail"]?.stringValue ?? ""
        let words = String(found.singleLine.prefix(Self.limit))
        let isSafe = !secrets.contains { words.contains($0) } && !Self.quotes(words, request)
        text = isSafe ? words : ""
    }

    /// Whether the text shares a piece with the messages or the instructions. Runs only after a failure.
    private static func quotes(_ words: String, _ request: LLMRequest) -> Bool {
        let bytes = Array(words.utf8)
        func pieces(_ bytes: [UInt8]) -> some Sequence<ArraySlice<UInt8>> {
            (0..<max(0, bytes.count - quotation + 1)).lazy.map { bytes[$0..<$0 + quotation] }
        }
        let known = Set(pieces(bytes))
        let said = request.messages.flatMap(\.parts).compactMap(\.said) + [request.system].compactMap { $0 }
        return said.contains { text in
            let text = text.singleLine
            guard text.utf8.count >= quotation else {
                // Shorter texts occur in any sentence. They count only as a whole in quotation marks.
                return text.utf8.count >= 4 && (words.contains("\"\(text)\"") || words.contains("'\(text)'"))
            }
            return pieces(Array(text.utf8)).contains(where: known.contains)
        }
    }
}

extension ContentPart {
    /// The part's content as quoted by servers.
    fileprivate var said: String? {
        switch self {
        case .text(let text), .audioTranscript(let text): text
        case .toolCall(_, _, let value), .toolResult(_, let value): value.stringValue ?? value.jsonString
        case .thinking, .attachment, .unknown: nil
        }
    }
}
