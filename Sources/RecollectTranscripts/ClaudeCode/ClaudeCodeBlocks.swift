import Foundation
import RecollectCore

/// Converts the `content` of a Claude Code message into parts.
///
/// | Block | Part |
/// |---|---|
/// | `text`, and a string as content | `.text` |
/// | `thinking` | `.thinking` with its signature |
/// | `tool_use` | `.toolCall` |
/// | `tool_result` | `.toolResult`; its images follow as attachments, and the content refers to them by SHA-256 |
/// | `image`, `document` with base64 or a URL | `.attachment` |
/// | any other | `.unknown`, unchanged |
///
/// The remaining fields of a block (`is_error`, `caller`, …) are in `fields`, by the index of its part.
struct ClaudeCodeBlocks {
    private(set) var parts: [ContentPart] = []
    /// Block fields without an equivalent in a part, by the part's index.
    private(set) var fields: [String: JSONValue] = [:]
    /// Whether there are blocks and all of them are tool results.
    private(set) var areToolResults = false
    /// The SHA-256 hashes of attachments by their base64, to detect repetitions in the line.
    private var hashes: [String: String] = [:]

    init(content: JSONValue) {
        switch content {
        case .string(let text): parts = [.text(text)]
        case .array(let blocks):
            areToolResults = !blocks.isEmpty && blocks.allSatisfy { $0["type"] == "tool_result" }
            blocks.forEach { add($0) }
        case .null: break
        default: parts = [.unknown(content)]
        }
    }

    private mutating func add(_ block: JSONValue) {
        guard case .object(var rest) = block, let type = rest.removeValue(forKey: "type")?.stringValue else {
            return parts.append(.unknown(block))
        }
        let index = parts.count
        func take(_ name: String) -> String? {
            guard let text = rest[name]?.stringValue else { return nil }
            rest[name] = nil
            return text
        }
        switch type {
        case "text":
            guard let text = take("text") else { return parts.append(.unknown(block)) }
            parts.append(.text(text))
        case "thinking":
            guard let thinking = take("thinking") else { return parts.append(.unknown(block)) }
            parts.append(.thinking(thinking, signature: take("signature")))
        case "tool_use":
            guard let id = take("id"), let name = take("name") else { return parts.append(.unknown(block)) }
            parts.append(.toolCall(id: id, name: name, arguments: rest.removeValue(forKey: "input") ?? [:]))
        case "tool_result":
            guard let id = take("tool_use_id") else { return parts.append(.unknown(block)) }
            addResult(id: id, content: rest.removeValue(forKey: "content") ?? .null)
        case "image", "document":
            guard let attachment = attachment(rest["source"]) else { return parts.append(.unknown(block)) }
            rest["source"] = nil
            if type != "image" { rest["type"] = .string(type) }
            parts.append(.attachment(attachment))
        default:
            return parts.append(.unknown(block))
        }
        if !rest.isEmpty { fields[String(index)] = .object(rest) }
    }

    private mutating func addResult(id: String, content: JSONValue) {
        guard case .array(let blocks) = content else { return parts.append(.toolResult(id: id, content: content)) }
        var attachments: [ContentPart] = []
        let kept = blocks.map { block -> JSONValue in
            guard block["type"] == "image", case .object(var fields) = block, let source = fields["source"],
                let attachment = attachment(source), case .inline = attachment.content,
                let hash = source["data"]?.stringValue.flatMap({ hashes[$0] })
            else { return block }
            attachments.append(.attachment(attachment))
            fields["source"] = ["type": "attachment", "sha256": .string(hash)]
            return .object(fields)
        }
        parts.append(.toolResult(id: id, content: .array(kept)))
        parts += attachments
    }

    /// Returns the attachment in a block's source.
    private mutating func attachment(_ source: JSONValue?) -> Attachment? {
        let mediaType = source?["media_type"]?.stringValue
        switch source?["type"] {
        case "base64":
            guard let mediaType, let text = source?["data"]?.stringValue, let bytes = Data(base64Encoded: text),
                bytes.base64EncodedString() == text
            else { return nil }
            hashes[text] = Attachment.sha256(of: bytes)
            return Attachment(mediaType: mediaType, content: .inline(bytes))
        case "url":
            guard let url = source?["url"]?.stringValue else { return nil }
            return Attachment(mediaType: mediaType ?? "image/*", content: .remote(url: url))
        default:
            return nil
        }
    }

    /// Returns the value with `sha256:` and the hash in place of strings that repeat an attachment's base64.
    func withoutRepeatedAttachments(_ value: JSONValue) -> JSONValue {
        guard !hashes.isEmpty else { return value }
        switch value {
        case .string(let text): return hashes[text].map { .string("sha256:\($0)") } ?? value
        case .array(let elements): return .array(elements.map(withoutRepeatedAttachments))
        case .object(let members): return .object(members.mapValues(withoutRepeatedAttachments))
        default: return value
        }
    }
}
