import Foundation
import RecollectCore

/// The faults in the content of messages.
extension FaultyChatStorage {
    /// Returns the message as stored; unchanged in a correct store.
    func saved(_ message: ConversationMessage) -> ConversationMessage {
        var message = message
        switch fault {
        case .forgetsMilliseconds:
            message.timestamp = Date(timeIntervalSince1970: message.timestamp.timeIntervalSince1970.rounded(.down))
        case .foldsRoles:
            message.role = [.user, .assistant, .system, .tool].contains(message.role) ? message.role : .user
        case .forgetsMetadata: message.metadata = [:]
        case .forgetsUnknownFields: message.unknownFields = [:]
        default: message.parts = message.parts.compactMap(saved)
        }
        return message
    }

    /// Returns the message as read from a file with too few digits of numbers.
    static func losingNumbers(_ message: ConversationMessage) -> ConversationMessage {
        var message = message
        message.parts = message.parts.map { part in
            guard case .toolResult(let id, let content) = part else { return part }
            return .toolResult(id: id, content: mapping(content, number: { Double(Float($0)) }))
        }
        return message
    }

    private func saved(_ part: ContentPart) -> ContentPart? {
        switch (fault, part) {
        case (.dropsReasoning, .thinking), (.dropsUnknownParts, .unknown): return nil
        case (.dropsEmptyParts, .text(let text)): return text.isEmpty ? nil : part
        case (.trimsWhitespace, .text(let text)): return .text(text.trimmingCharacters(in: .whitespacesAndNewlines))
        case (.composesText, .text(let text)): return .text(text.precomposedStringWithCanonicalMapping)
        case (.endsTextAtNUL, .text(let text)): return .text(Self.cutAtNUL(text))
        case (.cutsLongText, .text(let text)): return .text(String(decoding: text.utf8.prefix(65_536), as: UTF8.self))
        case (.cutsAttachments, .attachment(var attachment)):
            guard case .inline(let bytes) = attachment.content else { return part }
            attachment.content = .inline(bytes.prefix(1024))
            return .attachment(attachment)
        case (.readsNumbersAsDoubles, .toolResult(let id, let content)):
            return .toolResult(id: id, content: Self.asDoubles(content))
        case (.cutsDeepValues, .toolCall(let id, let name, let arguments)):
            return .toolCall(id: id, name: name, arguments: Self.cut(arguments, below: 32))
        case (.cutsDeepestValues, .unknown(let value)): return .unknown(Self.cut(value, below: 512))
        case (.forgetsTheSignOfZero, .toolResult(let id, let content)):
            return .toolResult(id: id, content: Self.mapping(content, number: { $0 == 0 ? 0 : $0 }))
        case (.composesKeys, .toolResult(let id, let content)):
            return .toolResult(id: id, content: Self.mapping(content, key: \.precomposedStringWithCanonicalMapping))
        default: return part
        }
    }

    /// Returns integers as read by a language with doubles only.
    private static func asDoubles(_ value: JSONValue) -> JSONValue {
        switch value {
        case .integer(let integer): Int64(exactly: Double(integer)).map(JSONValue.integer) ?? .number(Double(integer))
        case .array(let values): .array(values.map(asDoubles))
        default: value
        }
    }

    private static func mapping(
        _ value: JSONValue, key: (String) -> String = { $0 }, number: (Double) -> Double = { $0 }
    ) -> JSONValue {
        switch value {
        case .number(let value): return .number(number(value))
        case .array(let values): return .array(values.map { mapping($0, key: key, number: number) })
        case .object(let members):
            var mapped: [String: JSONValue] = [:]
            for (name, value) in members { mapped[key(name)] = mapping(value, key: key, number: number) }
            return .object(mapped)
        default: return value
        }
    }

    private static func cut(_ value: JSONValue, below depth: Int) -> JSONValue {
        guard depth > 0 else { return .null }
        switch value {
        case .array(let values): return .array(values.map { cut($0, below: depth - 1) })
        case .object(let members): return .object(members.mapValues { cut($0, below: depth - 1) })
        default: return value
        }
    }
}
