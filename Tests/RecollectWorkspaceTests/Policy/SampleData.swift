import RecollectTestSupport

/// Invented credentials, assembled at run time, so that no file of this repository has their shape.
struct SampleData {
    var random: SeededGenerator

    static let hexadecimal = Array("0123456789abcdef")
    static let lower = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    static let upper = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    static let mixed = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    static let base64 = mixed + ["+", "/"]
    static let url = mixed + ["-", "_"]

    /// Random characters of an alphabet, with a letter and a digit in the middle, so that it is no word or number.
    mutating func key(_ count: Int, _ alphabet: [Character] = mixed) -> String {
        var characters = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? "k" }
        characters[count / 2] = alphabet.contains("K") ? "K" : "e"
        characters[count / 2 + 1] = "7"
        return String(characters)
    }

    mutating func uuid() -> String {
        [8, 4, 4, 4, 12].map { length in
            String((0..<length).map { _ in Self.hexadecimal.randomElement(using: &random) ?? "0" })
        }.joined(separator: "-").uppercased()
    }

    mutating func signedToken() -> String {
        "eyJ" + key(17) + "." + "eyJ" + key(60, Self.url) + "." + key(43)
    }

    mutating func privateKey(_ kind: String) -> String {
        let lines = (0..<12).map { _ in key(64, Self.base64) }
        return "-----BEGIN \(kind)-----\n" + lines.joined(separator: "\n") + "\n-----END \(kind)-----\n"
    }
}
