import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Finding messages in an array")
struct MessageArrayTests {
    private func found(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        return MessageArray.layout(of: bytes)?.messages.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test(
        "The messages of a valid array are found",
        arguments: [
            ("[]", []), (" [ \n] \n", []), ("[{}]", ["{}"]),
            ("[ {\"a\":[{},\"]}\\\"\"]} ,\n{}\t]\r\n", ["{\"a\":[{},\"]}\\\"\"]}", "{}"]),
        ] as [(String, [String])])
    func whole(text: String, messages: [String]) {
        #expect(found(text) == messages)
    }

    @Test(
        "A text that is not a valid array has no layout",
        arguments: [
            "", " ", "{}", "[", "[{}", "[{},]", "[,{}]", "[{} {}]", "[{}]]", "[{}]x", "[1]", "[[]]", "[{}]\u{0}",
            "[{]}", "[{\"a]}",
            "[" + String(repeating: "{\"a\":", count: 600) + "1" + String(repeating: "}", count: 600) + "]",
        ])
    func torn(text: String) {
        #expect(found(text) == nil)
    }

    @Test("A message after a damaged one is found, whatever byte replaces the line break between them")
    func damagedLineEnd() {
        let messages = ["{\"id\":\"1\"}", "{\"id\":\"2\"}", "{\"id\":\"3\"}"].map { Array($0.utf8)[...] }
        let whole = MessageArray.joined(messages)
        let second = messages[0].count + 4
        #expect(whole[second] == Byte.openingBrace)
        for byte in UInt8.min...UInt8.max {
            for broken in [UInt8(ascii: "x"), Byte.quote, Byte.openingBrace, Byte.comma] {
                var bytes = whole
                // The first message is damaged, and so is the line break after its comma.
                bytes[4] = broken
                bytes[second - 1] = byte
                let found = MessageSalvage(of: bytes) { !bytes[$0].contains(broken) || $0.lowerBound >= second }
                    .messages()
                #expect(found.count >= 2, "\(byte) \(broken)")
            }
        }
    }

    @Test(
        "A search through garbage ends quickly", .needs(.time),
        arguments: [
            "{", "[{", ",{\"", "\n{\"", "{\"a\":", "\n{\"a\":[", "{\\\"a\\\" ", "{\"", "[{\"a\":1,", "[{\"a\":[", "{}",
            "[{}]",
            "\"{", "\n{\"a\":1,",
        ])
    func garbage(pattern: String) {
        for beginning in ["", "[{\"id\":\"", "[\n{\"id\":\""] {
            let bytes = Array((beginning + String(repeating: pattern, count: 20_000)).utf8)
            #expect(MessageSalvage(of: bytes) { $0.count > 2 }.messages().isEmpty)
        }
    }
}
