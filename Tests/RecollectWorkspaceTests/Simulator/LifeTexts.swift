import Foundation
import RecollectCore

@testable import RecollectWorkspace

/// The texts written in a life, each with a word of its own.
struct LifeTexts {
    let ledger: LifeLedger

    static let paths = [
        "context.md", "Journal/user/2026-01-15.md", "Journal/agent/2026-01-15.md", "Chats/moby.json",
        "notes/plan.md", "notes/caf\u{E9}.md", "notes/todo 2.md", "Research/moby/full_text.txt", "data.bin",
    ]

    /// Names that collide with names in `paths` on some systems.
    static let nameCollisions = ["Context.md", "notes/Plan.md", "notes/CAF\u{C9}.md", "Journal/user/2026-01-15.MD"]
    static let collidingFolders = ["Notes/plan.md", "journal/user/2026-01-15.md"]

    /// Returns the next version of a text.
    func next(at path: String, after old: [UInt8]?) -> [UInt8] {
        if !ledger.onlyAdds, ledger.isOneIn(16), let earlier = ledger.earlierText(at: path) { return earlier }
        if path.hasSuffix(".bin") { return [0, 0xFF] + Array(ledger.word().utf8) }
        if path.hasPrefix("Chats/") { return chat(after: old) }
        let text = String(decoding: old ?? [], as: UTF8.self)
        if path.hasPrefix("Journal/") { return Array(journal(after: text).utf8) }
        return Array((ledger.onlyAdds ? longer(text) : markdown(after: text)).utf8)
    }

    /// A string with an addition, possibly equal to the additions of others, or with a typo removed.
    private func longer(_ text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        let position = ledger.random(below: lines.count + 1)
        switch ledger.random(below: 10) {
        case 0...2: lines.insert("- \(ledger.word())", at: position)
        case 3: lines.insert("A line of \(ledger.word())", at: position)
        case 4: lines += ["## Topic \(ledger.random(below: 3))", "", "Words: \(ledger.word())."]
        case 5: lines.insert("", at: position)
        case 6 where position < lines.count && !lines[position].isEmpty: lines[position] += " \(ledger.word())"
        case 7: lines.insert("teh \(ledger.word())", at: position)
        case 8:
            lines += ["## Monday", "Weather: fine", "Mood: good", "The code of the door is \(ledger.word())"]
        default:
            if let mistyped = lines.firstIndex(where: { $0.hasPrefix("teh ") }) {
                lines.remove(at: mistyped)
            } else {
                lines.append("- \(ledger.word())")
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func markdown(after text: String) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        let position = ledger.random(below: lines.count + 1)
        switch ledger.random(below: 10) {
        case 0...3: lines.insert("- \(ledger.word())", at: position)
        case 4: lines += ["## Topic \(ledger.random(below: 3))", "", "Words: \(ledger.word())."]
        case 5: lines += ["", "A paragraph with \(ledger.word())", "and more of it."]
        case 6 where position < lines.count: lines[position] += " \(ledger.word())"
        case 7 where position < lines.count: lines[position] = "Changed to \(ledger.word())"
        case 8 where lines.count > 2: lines.remove(at: position % lines.count)
        default: lines.append("- \(ledger.word())")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func journal(after text: String) -> String {
        if ledger.isOneIn(2) { return text + "\nA note by hand: \(ledger.word())\n" }
        return ledger.onlyAdds ? longer(text) : markdown(after: text)
    }

    /// A chat with one more message or an edited message, or a broken chat.
    private func chat(after old: [UInt8]?) -> [UInt8] {
        let read = old.flatMap { try? ChatProjection(bytes: $0) }
        if !ledger.onlyAdds, ledger.isOneIn(12) { return Array("{\"format\":\"broken \(ledger.word())".utf8) }
        guard let read else { return chat(adding: ledger.word(), to: []) }
        if ledger.isOneIn(4), let line = ledger.one(of: read.entries) {
            let word = ledger.word()
            ledger.forget(word)
            let entries = read.entries.map { entry in
                guard entry.message.id == line.message.id else { return entry }
                let message = ConversationMessage(
                    id: entry.message.id, role: entry.message.role, text: "by hand: \(word)",
                    timestamp: entry.message.timestamp)
                return ChatProjection.Entry(agents: entry.agents, after: entry.after, message: message)
            }
            return ChatProjection(session: "moby", entries: entries).bytes
        }
        return chat(adding: ledger.word(), to: read.entries)
    }

    private func chat(adding word: String, to entries: [ChatProjection.Entry]) -> [UInt8] {
        let message = ConversationMessage(
            id: word, role: .user, text: "said", timestamp: Date(timeIntervalSince1970: 1_768_500_000))
        let entry = ChatProjection.Entry(agents: ["ahab"], after: entries.last?.message.id, message: message)
        return ChatProjection(session: "moby", entries: entries + [entry]).bytes
    }
}
