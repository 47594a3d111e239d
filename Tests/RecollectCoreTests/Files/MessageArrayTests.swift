import Foundation
import Testing

@testable import RecollectCore

@Suite("Finding messages in an array")
struct MessageArrayTests {
    private func found(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        return MessageArray.layout(of: bytes)?.messages.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    @Test(
        "whole arrays",
        arguments: [
            ("[]", []), (" [ \n] \n", []), ("[{}]", ["{}"]),
            ("[ {\"a\":[{},\"]}\\\"\"]} ,\n{}\t]\r\n", ["{\"a\":[{},\"]}\\\"\"]}", "{}"]),
        ] as [(String, [String])])
    func whole(text: String, messages: [String]) {
        #expect(found(text) == messages)
    }

    @Test(
        "anything else is not one",
        arguments: [
            "", " ", "{}", "[", "[{}", "[{},]", "[,{}]", "[{} {}]", "[{}]]", "[{}]x", "[1]", "[[]]", "[{}]\u{0}",
            "[{]}", "[{\"a]}",
            "[" + String(repeating: "{\"a\":", count: 600) + "1" + String(repeating: "}", count: 600) + "]",
        ])
    func torn(text: String) {
        #expect(found(text) == nil)
    }

    @Test("a search through garbage ends soon", arguments: ["{", "[{", ",{\"", "\n{\"", "{\"a\":", "\n{\"a\":["])
    func garbage(pattern: String) {
        let bytes = Array(String(repeating: pattern, count: 20_000).utf8)
        #expect(MessageArray.salvage(bytes) { _ in true }.isEmpty)
    }
}
