import Foundation
import RecollectCore

/// A session as Markdown.
enum Markdown {
    /// Returns the title and the details of a session.
    static func head(of session: Session) -> String {
        var lines = ["# \(oneLine(session.title ?? session.preview, or: "Session"))", ""]
        lines.append("- Session: \(code(session.id.sessionId))")
        if let folder = session.workingDirectory { lines.append("- Folder: \(code(folder))") }
        if let branch = session.branchName { lines.append("- Git branch: \(code(branch))") }
        lines.append("- From \(formatted(session.createdAt)) to \(formatted(session.lastActivityAt))")
        lines.append("- Messages: \(session.messageCount)")
        if session.agentIds.count > 1 {
            let agents = session.agentIds.map { id in
                session.agentNames[id].map { "\(oneLine($0, or: "")) (\(code(id)))" } ?? code(id)
            }
            lines.append("- Agents: \(agents.joined(separator: ", "))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a message under a heading, with its agent if there are several.
    static func section(of stored: StoredMessage, in session: Session) -> String {
        let name = session.agentNames[stored.agentId] ?? stored.agentId
        let agent = session.agentIds.count > 1 ? " (\(oneLine(name, or: "no agent")))" : ""
        let heading =
            "## \(oneLine(stored.message.role.rawValue, or: "message"))\(agent), \(formatted(stored.message.timestamp))"
        let body = stored.message.parts.map(text(of:)).filter { !$0.allSatisfy(\.isWhitespace) }
        return "\n" + ([heading] + body).joined(separator: "\n\n") + "\n"
    }

    private static func text(of part: ContentPart) -> String {
        switch part {
        case .text(let text): return text
        case .audioTranscript(let text): return "Audio transcript:\n\n\(quoted(text))"
        case .thinking(let text, _): return text.isEmpty ? "" : "Thinking:\n\n\(quoted(text))"
        case .toolCall(_, let name, let arguments):
            return "Calls \(code(name)):\n\n\(fenced(arguments.jsonString, "json"))"
        case .toolResult(_, let content):
            return "Result:\n\n\(fenced(content.readable, ""))"
        case .attachment(let attachment):
            let name = attachment.name.map { ", \(oneLine($0, or: ""))" } ?? ""
            return "Attachment: \(oneLine(attachment.mediaType, or: "file"))\(name)"
        case .unknown(let value): return fenced(value.jsonString, "json")
        }
    }

    private static func quoted(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { "> \($0)" }.joined(separator: "\n")
    }

    /// Returns a code block, fenced with more backticks than any run of them in the text.
    private static func fenced(_ text: String, _ language: String) -> String {
        let fence = String(repeating: "`", count: max(3, maxRunLength(in: text) + 1))
        return "\(fence)\(language)\n\(text)\(text.hasSuffix("\n") ? "" : "\n")\(fence)"
    }

    private static func code(_ text: String) -> String {
        let line = oneLine(text, or: " ")
        let ticks = String(repeating: "`", count: maxRunLength(in: line) + 1)
        return ticks.count > 1 ? "\(ticks) \(line) \(ticks)" : "`\(line)`"
    }

    private static func maxRunLength(in text: String) -> Int {
        var (longest, run) = (0, 0)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }

    private static func oneLine(_ text: String, or fallback: String) -> String {
        let line = text.singleLine
        return line.isEmpty ? fallback : line
    }

    private static func formatted(_ date: Date) -> String {
        date.formatted(
            .iso8601.year().month().day().dateSeparator(.dash).dateTimeSeparator(.space).time(
                includingFractionalSeconds: false))
            + " UTC"
    }
}
