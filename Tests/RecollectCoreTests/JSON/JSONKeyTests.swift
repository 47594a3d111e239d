import Foundation
import Testing

@testable import RecollectCore

@Suite("Keys that differ only in bytes")
struct JSONKeyTests {
    /// `é` as one code point and as two.
    private static let equalKeys = "{\"\u{E9}\":1,\"e\u{301}\":2}"

    @Test(
        "Keys that differ only in bytes throw, so that no member is lost",
        arguments: [equalKeys, "[1,{\"a\":\(equalKeys)}]"])
    func refused(text: String) {
        let error = #expect(throws: RecollectError.self) { try JSONValue(parsing: text) }
        #expect(error?.code == .unreadable)
    }

    @Test("In stored JSON, an object with keys that differ only in bytes is read as text")
    func keptAsText() throws {
        let bytes = Array("{\"a\":\(Self.equalKeys),\"b\":[true]}".utf8)
        let value = try bytes.withUnsafeBytes { try JSONParser.read($0) { try $0.value() } }
        #expect(value == ["a": .string(Self.equalKeys), "b": [true]])
        #expect(throws: RecollectError.self) {
            try Array(Self.equalKeys.utf8).withUnsafeBytes { try JSONParser.read($0) { try $0.object() } }
        }
    }

    @Test("Keys keep their bytes in every simple store", arguments: SimpleStore.all)
    func stored(_ kind: SimpleStore) async throws {
        let (store, keep) = try kind.make(.keep)
        for (number, key) in ["\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}"].enumerated() {
            let message = ConversationMessage(
                id: "\(number)", role: .user, parts: [.unknown(["x": [key: 1]])], metadata: [key: [key: 1]])
            try await store.save([message])
            let saved = try #require(try await store.load().last)
            #expect(saved.metadata.hasSameBytes(as: message.metadata))
            guard case .unknown(let value) = saved.parts.first else {
                Issue.record("\(saved.parts)")
                return
            }
            #expect(value.hasSameBytes(as: ["x": [key: 1]]))
        }
        withExtendedLifetime(keep) {}
    }
}
