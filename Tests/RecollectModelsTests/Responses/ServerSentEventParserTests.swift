import RecollectTestSupport
import Testing
@testable import RecollectModels

@Suite("Server-sent events")
struct ServerSentEventParserTests {
    private func events(_ pieces: [[UInt8]], limit: Int = 1 << 20) throws -> [String] {
        var parser = ServerSentEventParser(limit: limit)
        var events: [String] = []
        for piece in pieces {
            try piece.withUnsafeBytes { bytes in
                try parser.read(bytes) { events.append(String(decoding: $0.data, as: UTF8.self)) }
            }
        }
        try parser.finish { events.append(String(decoding: $0.data, as: UTF8.self)) }
        return events
    }

    private func events(_ text: String) throws -> [String] {
        try events([Array(text.utf8)])
    }

    @Test("Events are read with any line ending")
    func lineEndings() throws {
        #expect(try events("data: a\n\ndata: b\n\n") == ["a", "b"])
        #expect(try events("data: a\r\n\r\ndata: b\r\n\r\n") == ["a", "b"])
        #expect(try events("data: a\r\rdata: b\r\r") == ["a", "b"])
    }

    @Test("Comments, other fields and a byte order mark are skipped")
    func otherLines() throws {
        #expect(try events("\u{FEFF}data: a\n\n") == ["a"])
        #expect(try events(": ping\n\nevent: message\nid: 7\nretry: 10\ndata: a\n\n: ping\n\n") == ["a"])
        #expect(try events("database: x\n\ndat: y\n\n") == [])
    }

    @Test("One space after the colon is removed, lines are joined, and a field without a colon is empty")
    func data() throws {
        #expect(try events("data:a\n\ndata:  b\n\n") == ["a", " b"])
        #expect(try events("data: a\ndata\ndata: b\n\n") == ["a\n\nb"])
        #expect(try events("\n\n\n") == [])
    }

    @Test("The last event of a stream counts without its empty line or its line ending")
    func unendedEvent() throws {
        #expect(try events("data: a\n\ndata: b\n") == ["a", "b"])
        #expect(try events("data: a\n\ndata: b") == ["a", "b"])
    }

    @Test("An event's name applies only to that event, and is dropped if the event has no data")
    func names() throws {
        var parser = ServerSentEventParser(limit: 1 << 20)
        var names: [String] = []
        let stream = "event: a\ndata: 1\n\ndata: 2\n\nevent: b\n\ndata: 3\n\nevents: c\nevent:d\ndata: 4"
        try Array(stream.utf8).withUnsafeBytes { bytes in
            try parser.read(bytes) { names.append(String(decoding: $0.name, as: UTF8.self)) }
        }
        try parser.finish { names.append(String(decoding: $0.name, as: UTF8.self)) }
        #expect(names == ["a", "", "", "d"])
    }

    @Test("A line or an event over the limit throws")
    func limit() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 40)
        #expect(throws: ServerSentEventParser.TooLong.self) { try events([Array("data: ".utf8), long], limit: 30) }
        let lines = [[UInt8]](repeating: Array("data: 123456789\n".utf8), count: 4)
        #expect(throws: ServerSentEventParser.TooLong.self) { try events(lines, limit: 30) }
        #expect(try events(lines, limit: 40).count == 1)
    }

    @Test("Any segmentation of a stream gives the same events")
    func anyPieces() async throws {
        let stream = Array(
            "\u{FEFF}: hi\r\n\r\ndata: {\"a\":\"Grüße 👩‍👩‍👧\"}\r\n\r\ndata: x\r\ndata: y\r\n\r\nevent: x\rdata: one\rdata: two\r\rid\ndata:\n\ndata: 日本\n\n"
                .utf8)
        let whole = try events([stream])
        #expect(whole == ["{\"a\":\"Grüße 👩‍👩‍👧\"}", "x\ny", "one\ntwo", "", "日本"])
        for cut in stream.indices {
            #expect(try events([Array(stream[..<cut]), Array(stream[cut...])]) == whole, "cut at \(cut)")
        }
        #expect(try events(stream.map { [$0] }) == whole)
        await Seeds.run(200) { seed throws in
            var random = SeededGenerator(seed: seed)
            var rest = stream[...]
            var pieces: [[UInt8]] = []
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(9, rest.count), using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(try events(pieces) == whole)
        }
    }
}
