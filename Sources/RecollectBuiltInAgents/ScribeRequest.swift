import Foundation
import RecollectCore

/// A user's request to a scribe.
enum ScribeRequest: Equatable {
    case note(String)
    case read(ContentWords, DateExpression?)
    case strike(ContentWords)
    /// A request without a note: an empty one, or only courtesies.
    case nothing

    init(_ text: String, now: Date, calendar: Calendar) {
        let said = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let rest = Self.rest(of: said, after: Self.striking) {
            self = .strike(ContentWords(rest))
        } else if let rest = Self.rest(of: said, after: Self.noting) {
            let note = rest.drop { $0.isWhitespace || ":：,，".contains($0) }
            self = note.isEmpty ? .nothing : .note(String(note))
        } else if Self.isQuestion(said) {
            let found = DateExpression.find(in: said, now: now, calendar: calendar)
            self = .read(ContentWords(found?.rest ?? said), found?.time)
        } else {
            let tellsSomething = ContentWords(said).words.contains { !Self.courtesies.contains($0.lowercased()) }
            self = tellsSomething ? .note(said) : .nothing
        }
    }

    /// Returns the rest of a string after the longest matching beginning; `nil` if none matches.
    private static func rest(of text: String, after beginnings: [String]) -> String? {
        beginnings.compactMap { beginning -> Substring? in
            guard let range = text.range(ofPhrase: beginning), range.lowerBound == text.startIndex else { return nil }
            return text[range.upperBound...]
        }.min { $0.utf8.count < $1.utf8.count }.map(String.init)
    }

    private static func isQuestion(_ text: String) -> Bool {
        text.hasSuffix("?") || text.hasSuffix("？") || reading.contains { text.range(ofPhrase: $0) != nil }
    }

    /// Courtesies, never meant as notes.
    private static let courtesies: Set = [
        "thanks", "thank", "ok", "okay", "yes", "yeah", "no", "never", "mind", "nevermind", "great", "good", "fine",
        "cool", "perfect",
        "bye", "danke", "ja", "nein", "gut", "tschüss", "merci", "oui", "non", "bonjour", "gracias", "sí", "hola", "谢谢",
        "好", "好的", "你好",
    ]
    private static let noting = [
        "note:", "note that", "note down", "please note", "make a note", "make a note that", "take a note",
        "remember that",
        "remember:", "remember to", "write down", "write down that", "jot down",
        "notiz:", "notiere", "notiere dass", "notiere, dass", "merk dir", "merk dir, dass", "merke dir", "schreib auf",
        "schreibe auf",
        "note :", "note que", "retiens que", "souviens-toi que", "prends note",
        "nota:", "anota", "anota que", "apunta", "apunta que", "recuerda que",
        "记住", "记下", "记一下", "请记住", "帮我记", "帮我记下", "帮我记一下", "笔记：", "备注：",
    ]
    private static let striking = [
        "strike the", "strike that", "strike out", "strike my", "forget the note", "forget the last note",
        "forget my last note",
        "forget that note",
        "delete the note", "delete the last note", "delete my last note",
        "streich die", "streiche die", "vergiss die notiz", "vergiss die letzte notiz", "lösche die letzte notiz",
        "raye la", "oublie la note", "oublie la dernière note", "efface la dernière note",
        "tacha la", "olvida la nota", "olvida la última nota", "borra la última nota",
        "划掉", "删掉", "忘掉",
    ]
    private static let reading = [
        "did I note", "have I noted", "did I write down", "my notes", "my journal", "show notes", "show me the notes",
        "list notes",
        "meine notizen", "habe ich notiert", "hab ich notiert", "mes notes", "ai-je noté", "j'ai noté", "mis notas",
        "he anotado",
        "anoté", "apunté", "我的笔记", "我记了什么", "记了什么", "记过",
    ]
}
