import Foundation
import RecollectCore

/// The messages of one page for a model, within the size limit.
struct SessionPage {
    /// The messages in order.
    private(set) var messages: [JSONValue] = []
    /// The message adjacent to the next page; `nil` if there is none.
    private(set) var next: StoredMessage?
    let isBackward: Bool

    private static let maxBytes = 16_000
    private static let maxMessageBytes = 4_000

    /// Creates the page from messages of a session.
    /// - Parameter share: The share of the size limit.
    init(_ page: Page<StoredMessage, MessageCursor>, isBackward: Bool, share: Double = 1, calendar: Calendar) {
        self.isBackward = isBackward
        let maxBytes = Int(Double(Self.maxBytes) * share)
        var bytes = 0
        var taken: [StoredMessage] = []
        for stored in isBackward ? page.elements.reversed() : page.elements {
            let text = Self.text(of: stored.message)
            bytes += min(text.utf8.count, Self.maxMessageBytes) + 200
            if bytes > maxBytes, !taken.isEmpty { break }
            taken.append(stored)
            var message: [String: JSONValue] = [
                "message": .string(stored.message.id), "agent": .string(stored.agentId),
                "role": .string(stored.message.role.rawValue), "when": stored.message.timestamp.forModel(in: calendar),
                "text": .string(Self.cut(text)),
            ]
            if text.utf8.count > Self.maxMessageBytes { message["cut"] = true }
            messages.append(.object(message))
        }
        if isBackward { messages.reverse() }
        if taken.count < page.elements.count || page.next != nil { next = taken.last }
    }

    private static func text(of message: ConversationMessage) -> String {
        message.parts.compactMap { part in
            switch part {
            case .text(let text), .audioTranscript(let text): text
            case .toolCall(_, let name, _): "(calls \(name))"
            case .toolResult: "(a tool result)"
            case .attachment: "(an attachment)"
            case .thinking, .unknown: nil
            }
        }.joined(separator: "\n")
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxMessageBytes else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: maxMessageBytes)
        while String.Index(end, within: text) == nil { end = text.utf8.index(before: end) }
        return String(text[..<end])
    }
}
