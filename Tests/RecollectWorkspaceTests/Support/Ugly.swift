import Foundation
import RecollectTestSupport

/// The failure of a random case.
struct CaseFailure: Error, CustomStringConvertible {
    let description: String
}

/// Throws if a condition is false.
func must(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    guard condition else { throw CaseFailure(description: message()) }
}

extension SeededGenerator {
    /// A string of valid and invalid pieces of names.
    mutating func uglyText(upTo count: Int = 12) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...count, using: &self) {
            text += Ugly.pieces.randomElement(using: &self) ?? ""
            if Int.random(in: 0..<4, using: &self) == 0,
                let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self))
            {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

enum Ugly {
    static let pieces = [
        "a", "b", "A", "Moby Dick", "moby", "0", "1", "2", "42", "_", "-", ".", "..", "...", " ", "  ", "/", "\\", "\0",
        "\n", "\r\n",
        "%", "%2", "%41", "%%", "%-", ":", "*", "?", "\"", "<", ">", "|", "~", "~$", "~syncthing~", ".syncthing.",
        ".icloud",
        ".tmp", "tmp", ".nosync", "CON", "con", "NUL", "COM1", "lpt9", "com¹", "desktop.ini", ".DS_Store", ".stfolder",
        "é", "e\u{301}", "\u{301}", "Å", "A\u{30A}", "\u{212B}", "한", "\u{1112}\u{1161}\u{11AB}", "\u{1161}", "ﬁ", "ß",
        "ẞ", "ǆ", "İ",
        "ı", "ς", "日本語", "مرحبا", "👩‍👩‍👧", "\u{200C}", "\u{200D}", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\u{200B}", "\u{202E}", "\u{FEFF}", "\u{2066}", "／",
        "．", "‥", "․", "∕",
        "\u{A0}",
        "\u{3000}", "\u{2028}", "(1)", " (1)", " 2", " (kept 1a2b3c4d)", "-DESKTOP", "-DESKTOP-AB12CD3", "-PC-2",
        ".sync-conflict-20250115-123456-ABCDEFG", " (Ann's conflicted copy 2025-01-15)", " (Case Conflict 1)", ".md",
        ".json",
        "\u{1100}", "\u{9BE}", "\u{9C7}", "\u{FDFA}", "\u{1F82}", "\u{0344}", "\u{FB1D}", "\u{FFFF}", "\u{E000}",
    ]
}
