import Foundation
import RecollectFileSystem
import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Damaged files")
struct FileDamageTests {
    /// Files to damage: in this store's format, and in one line, as Agent Squad writes them.
    private static let files: [[UInt8]] = {
        let messages = Array(turns(1...2))
        let lines = MessageArray.joined(messages.map { EncodedMessage($0).bytes[...] })
        return [lines, Array((try? JSONEncoder().encode(messages)) ?? Data())]
    }()

    /// Writes damaged bytes to a scope's file, checks all that must hold, and returns the recovered messages.
    private func recover(_ damaged: [UInt8]) async throws -> [ConversationMessage] {
        let folder = try TemporaryFolder()
        try folder.write(damaged)
        let store = FileChatStorage(baseURL: folder.url)
        let recovered = try await store.load()
        let aside = try folder.names().filter { $0.hasPrefix("a.json.damaged-") }
        if !damaged.isEmpty {
            try #require(aside.count == 1)
            let original = try Data(
                contentsOf: folder.file().deletingLastPathComponent().appendingPathComponent(aside[0]))
            try #require(Array(original) == damaged)
            let event = await store.events.stream().first { _ in true }
            try #require(event?.kind == .salvaged && event?.recoveredMessages == recovered.count)
            try #require(event?.setAsideURL?.lastPathComponent == aside[0])
        }
        let more = ConversationMessage(id: "more", role: .system, text: "more")
        try await store.save([more])
        let again = FileChatStorage(baseURL: folder.url)
        try #require(try await again.load() == recovered + [more])
        try #require(try folder.names().count == aside.count + 1)
        _ = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.file()))
        return recovered
    }

    @Test("A truncated file keeps every whole message before the cut", .needs(.time), arguments: files)
    func cut(file: [UInt8]) async throws {
        let layout = try #require(MessageArray.layout(of: file))
        for length in 0..<file.count {
            let whole = layout.messages.count { $0.upperBound <= length }
            let recovered = try await recover(Array(file[..<length]))
            try #require(recovered == Array(turns(1...2).prefix(whole)), "cut at \(length)")
        }
    }

    @Test("NUL bytes or garbage after the end lose no message", arguments: files)
    func tail(file: [UInt8]) async throws {
        for tail in [
            [0], [UInt8](repeating: 0, count: 5000), Array("]".utf8), Array("garbage {\"".utf8), [0xFF, 0xFE],
        ] {
            #expect(try await recover(file + tail) == turns(1...2))
        }
    }

    @Test("A duplicated tail returns each message once", arguments: files)
    func doubledTail(file: [UInt8]) async throws {
        let layout = try #require(MessageArray.layout(of: file))
        for message in layout.messages {
            let tail = file[message.lowerBound...]
            #expect(try await recover(file + [Byte.newline] + tail + [0]) == turns(1...2))
            #expect(try await recover(file.dropLast() + tail.dropLast(2)) == turns(1...2))
        }
    }

    @Test(
        "A save that ended before it was joined to the array leaves no partial batch", .needs(.time), arguments: files)
    func unfinished(file: [UInt8]) async throws {
        let batch = MessageArray.joined(turns(3...4).map { EncodedMessage($0).bytes[...] }).dropFirst()
        for length in 2..<batch.count {  // The first byte is a line break: white space.
            try #require(try await recover(file + batch.prefix(length)) == turns(1...2), "\(length) bytes written")
        }
        // Once written completely, the batch is whole.
        #expect(try await recover(file + batch) == turns(1...4))
    }

    @Test("A changed byte loses at most the message that contains it", .needs(.time), arguments: files)
    func flip(file: [UInt8]) async throws {
        let layout = try #require(MessageArray.layout(of: file))
        let messages = Array(turns(1...2))
        for position in file.indices {
            var damaged = file
            damaged[position] = 0x01
            let survivors = zip(layout.messages, messages).filter { !$0.0.contains(position) }.map(\.1)
            try #require(try await recover(damaged) == survivors, "byte \(position)")
        }
    }

    @Test("A bracket, quote or comma at any position loses at most two messages", .needs(.time), arguments: files)
    func flipStructure(file: [UInt8]) throws {
        let layout = try #require(MessageArray.layout(of: file))
        let messages = Array(turns(1...2))
        for byte in Array("[]{}\",:\\\n ".utf8) {
            for position in file.indices where file[position] != byte {
                var damaged = file
                damaged[position] = byte
                // The steps of the store when it reads a file for the first time.
                let isWhole = ScopeFile(damaged) != nil
                let read = isWhole ? EncodedMessage.messages(in: damaged) : Damage(bytes: damaged).messages
                let recovered = Set(try #require(read))
                let lost = zip(layout.messages, messages).filter { !recovered.contains($0.1) }
                try #require(lost.count <= 2, "byte \(byte) at \(position): \(lost.count) lost")
                // The damaged message, or the two messages around a damaged separator.
                try #require(lost.allSatisfy { $0.0.lowerBound - 3 <= position && position <= $0.0.upperBound + 3 })
            }
        }
    }

    /// The layouts in which programs write an array of messages.
    enum Layout: CaseIterable {
        case lines, trimmed, oneLine, trimmedOneLine, spaced, spacedLines, pretty, trimmedPretty, movedPretty, continued

        func write(_ messages: [ConversationMessage]) throws -> [UInt8] {
            let lines = MessageArray.joined(messages.map { EncodedMessage($0).bytes[...] })
            switch self {
            case .lines: return lines
            case .trimmed: return try Self.trimmed(Layout.lines.write(turn(0) + messages))
            case .oneLine: return try Self.encoded(messages, [])
            case .trimmedOneLine: return try Self.trimmed(Layout.oneLine.write(turn(0) + messages))
            case .spaced: return Self.spaced(lines)
            case .spacedLines:
                return MessageArray.joined(messages.map { Self.spaced(EncodedMessage($0).bytes)[...] })
            case .pretty: return try Self.encoded(messages, .prettyPrinted)
            case .trimmedPretty: return try Self.trimmed(Layout.pretty.write(turn(0) + messages))
            case .movedPretty: return try Self.trimmed(Layout.pretty.write(turn(0) + messages), isMoved: true)
            case .continued:
                // Agent Squad wrote all messages but the last two.
                let own = MessageArray.joined(messages.suffix(2).map { EncodedMessage($0).bytes[...] })
                return try Self.encoded(Array(messages.dropLast(2)), []).dropLast() + [Byte.comma] + own.dropFirst()
            }
        }

        /// A file after a trim of its first two messages, in place or in a new file.
        static func trimmed(_ bytes: [UInt8], isMoved: Bool = false) throws -> [UInt8] {
            let temporary = try TemporaryFolder()
            let folder = try OpenFolder(path: temporary.url.path)
            let file = try folder.makeFile("a.json")
            try file.write(bytes, at: 0)
            var state = try #require(ScopeFile(bytes))
            let count = state.entries.count - 2
            guard isMoved else {
                try state.blank(to: count, in: file)
                return try file.readAll()
            }
            let newFile = try folder.makeFile("b.json")
            try state.move(last: count, from: file, to: newFile)
            return try newFile.readAll()
        }

        private static func encoded(
            _ messages: [ConversationMessage], _ formatting: JSONEncoder.OutputFormatting
        ) throws -> [UInt8] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = formatting.union(.sortedKeys)
            return Array(try encoder.encode(messages))
        }

        /// JSON in one line with a space after each comma and colon, as Python writes it.
        private static func spaced(_ json: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            var (inString, isEscaped) = (false, false)
            for byte in json where byte != Byte.newline {
                result.append(byte)
                if byte == Byte.quote, !isEscaped { inString.toggle() }
                isEscaped = inString && byte == Byte.backslash && !isEscaped
                if !inString, byte == Byte.comma || byte == Byte.colon { result.append(Byte.space) }
            }
            return result
        }
    }

    /// A message with objects that look like messages.
    private static let nested: ConversationMessage = {
        let inner: JSONValue = ["id": "inner", "role": "system", "timestamp": 1, "parts": []]
        var message = turn(2)[0]
        message.metadata = [
            "list": [inner, inner], "lists": [[inner], [inner, ["inner": inner]]], "one": inner,
            "mixed": ["a", inner, ["a": [inner]], inner], "arrays": [["x": 1], [inner, "text"]],
            "text": .string(#"{"id":"inner"}, {}] \[{},"#),
        ]
        return message
    }()

    /// A file of messages in which one message, `nested`, is to be damaged.
    private struct Target {
        let layout: Layout
        let file: [UInt8]
        /// The bytes of the message to damage.
        let range: Range<Int>
        let others: [ConversationMessage]
        /// The messages of `others` among the last two messages.
        let lastOthers: [ConversationMessage]

        init(_ layout: Layout, index: Int) throws {
            self.layout = layout
            others = turn(1) + turn(3)
            var messages = others
            messages.insert(FileDamageTests.nested, at: 2 * index)
            lastOthers = messages.suffix(2).filter(others.contains)
            file = try layout.write(messages)
            range = try #require(MessageArray.layout(of: file)).messages[2 * index]
        }

        /// The positions in the message of structure bytes, and of all other bytes, which are equivalent.
        var positions: (structure: [Int], content: [Int]) {
            let structure = Set("{}[],:\"\n ".utf8)
            return (range.filter { structure.contains(file[$0]) }, range.filter { !structure.contains(file[$0]) })
        }

        static func all(_ layouts: [Layout]) -> [Target] {
            layouts.flatMap { layout in (0...2).compactMap { try? Target(layout, index: $0) } }
        }
    }

    // All one-byte damages take minutes, so seeds draw them.
    @Test("No object in a damaged message becomes a message, and the messages after it stay")
    func objectsInside() async throws {
        let targets = Target.all(Layout.allCases).map { (target: $0, positions: $0.positions) }
        #expect(targets.count == 3 * Layout.allCases.count)
        await Seeds.run(5_000) { seed in
            var random = SeededGenerator(seed: seed)
            let (target, positions) = targets[Int(seed % UInt64(targets.count))]
            let isStructure = Int.random(in: 0..<3, using: &random) > 0
            let position = try #require(
                (isStructure ? positions.structure : positions.content).randomElement(using: &random))
            let bytes = Array((isStructure ? "\u{1}z{}[]\",:\\" : "\u{1}{\"").utf8)
            let byte = try #require(bytes.filter { $0 != target.file[position] }.randomElement(using: &random))
            // White space changed to a brace makes the object inside it look like a message.
            if byte == Byte.openingBrace, MessageArray.isSpace(target.file[position]) { return }
            var damaged = target.file
            damaged[position] = byte
            guard ScopeFile(damaged) == nil else { return }
            let recovered = Damage(bytes: damaged).messages
            let index = "\(target.layout): \(byte) at \(position)"
            try #require(!recovered.contains { $0.id == "inner" }, "\(index)")
            try #require(recovered.filter { $0.id != Self.nested.id } == target.others, "\(index)")
        }
    }

    @Test(
        "No object becomes a message if the byte before it becomes a line break", arguments: [Layout.lines, .trimmed])
    func lineBreaks(layout: Layout) throws {
        let target = try Target(layout, index: 1)
        var count = 0
        for position in target.range.dropFirst() where target.file[position + 1] == Byte.openingBrace {
            var damaged = target.file
            damaged[position] = Byte.newline
            // An array after an object begins like the next message.
            let isLikeSeparator = damaged[..<position].suffix(2).elementsEqual([Byte.closingBrace, Byte.comma])
            guard !isLikeSeparator, ScopeFile(damaged) == nil else { continue }
            count += 1
            #expect(Damage(bytes: damaged).messages == target.others, "\(position)")
        }
        #expect(count >= 8)
    }

    @Test(
        "A damaged last byte of a message, or separator after it, hides no other message",
        arguments: [Layout.lines, .trimmed, .spacedLines, .pretty, .trimmedPretty, .movedPretty])
    func damagedEnds(layout: Layout) throws {
        let messages = [1, 3, 4].flatMap { turn($0) } + [Self.nested]
        let file = try layout.write(messages)
        let ranges = try #require(MessageArray.layout(of: file)).messages
        for (number, range) in ranges.enumerated().dropLast() {
            for position in [range.upperBound - 1, range.upperBound] {
                for byte in Array("[]{}\",:\u{1}".utf8) where byte != file[position] {
                    var damaged = file
                    damaged[position] = byte
                    let isEnd = position < range.upperBound
                    let others = messages.enumerated().filter { !isEnd || $0.offset != number }.map(\.element)
                    let recovered = Damage(bytes: damaged).messages
                    #expect(recovered.filter(others.contains) == others, "\(byte) at \(position)")
                    #expect(recovered.allSatisfy(messages.contains), "\(byte) at \(position)")
                }
            }
        }
    }

    @Test("Bytes lost in a message hide no message after it")
    func lostBytes() async throws {
        let targets = Target.all([.lines, .pretty, .continued])
        #expect(targets.count == 9)
        await Seeds.run(3_000) { seed in
            var random = SeededGenerator(seed: seed)
            let target = targets[Int(seed % UInt64(targets.count))]
            let start = Int.random(in: target.range.dropLast(3), using: &random)
            let end = Int.random(in: start + 3..<target.range.upperBound, using: &random)
            let damaged = Array(target.file[..<start] + target.file[end...])
            guard ScopeFile(damaged) == nil else { return }
            let recovered = Damage(bytes: damaged).messages
            // Without line breaks, lost brackets hide the next messages.
            let others = target.layout == .continued ? target.lastOthers : target.others
            try #require(recovered.filter(others.contains) == others, "\(target.layout): \(start)..<\(end)")
        }
    }

    /// Messages with texts of some length; every third has metadata with objects that look like messages.
    private static let many: [ConversationMessage] = (0..<40).map { number in
        var message = turn(100 + number)[0]
        message.parts = [.text("\(number) " + String(repeating: "word ", count: 20))]
        if number.isMultiple(of: 3) {
            let inner: JSONValue = [
                "id": "inner", "role": "user", "timestamp": 1, "parts": [["text": ["_0": "inner text"]]],
            ]
            message.metadata = ["results": [inner, inner, inner], "more": "text"]
        }
        return message
    }

    @Test("No message between two damages is lost")
    func betweenDamages() throws {
        let file = try Layout.lines.write(Self.many)
        let ranges = try #require(MessageArray.layout(of: file)).messages
        let inner = Data("inner text".utf8)
        for (number, other) in [(20, 21), (23, 24), (32, 33)] {
            // Bytes from a string to a string inside the next message are lost: the rest is one object.
            let text = Data(file[ranges[number]]).range(of: Data("word".utf8))?.lowerBound ?? 0
            let innerText = try #require(Data(file[ranges[other]]).range(of: inner)).lowerBound
            var damaged = file
            damaged[ranges[2].lowerBound + 4] = 1
            damaged.removeSubrange(ranges[number].lowerBound + text..<ranges[other].lowerBound + innerText)
            let others = Self.many.enumerated().filter { ![2, number, other].contains($0.offset) }.map(\.element)
            let recovered = Damage(bytes: damaged).messages
            #expect(recovered.filter(others.contains) == others)
            #expect(!recovered.contains { $0.id == "inner" || $0.id == Self.many[number].id })
        }
    }

    @Test("A copy of the file's end in its middle hides no message after it", arguments: [60, 200, 512, 700])
    func copiedEnd(count: Int) throws {
        let file = try Layout.lines.write(Self.many)
        let ranges = try #require(MessageArray.layout(of: file)).messages
        for start in stride(from: 1024, to: file.count - 1024, by: 512) {
            var damaged = file
            damaged.replaceSubrange(start..<start + count, with: file.suffix(count))
            // The messages in the copy appear at its position.
            let others = zip(ranges, Self.many).filter {
                !$0.0.overlaps(start - 2..<start + count + 2) && $0.0.upperBound < file.count - count
            }.map(\.1)
            let recovered = Damage(bytes: damaged).messages
            #expect(recovered.filter(others.contains) == others, "at \(start)")
            #expect(recovered.contains(Self.many[38]))
            #expect(recovered.contains(Self.many[39]))
        }
    }

    @Test("An unfinished save leaves no partial batch, even if all messages end alike")
    func unfinishedAlike() throws {
        let messages = Self.many.map { message in
            var message = message
            message.metadata = ["model": .string(String(repeating: "the same ", count: 50))]
            return message
        }
        let file = try Layout.lines.write(Array(messages.prefix(3)))
        let batch = try Layout.lines.write(Array(messages[3..<8])).dropFirst()
        for length in stride(from: 2, to: batch.count, by: 97) {
            #expect(Damage(bytes: file + batch.prefix(length)).messages == Array(messages.prefix(3)), "\(length)")
        }
    }

    @Test("An invalid object between damages hides no message before it")
    func noMessageBetween() {
        func line(_ id: String) -> String { #"{"id":"\#(id)","role":"user","timestamp":1,"parts":[]}"# }
        let lines = [
            "{\u{1}}", line("3"), line("4"), #"{"id":"5","ro":"user","timestamp":1},\#(line("inner"))]}}"#, line("6"),
            line("7"),
        ]
        let file = Array("[\n\(lines.joined(separator: ",\n"))]".utf8)
        #expect(Damage(bytes: file).messages.map(\.id) == ["3", "4", "6", "7"])
    }

    @Test(
        "Damage to the white space of a trim loses no message",
        arguments: [Layout.lines, .pretty], [1, 2, 3, 100])
    func damagedBlanks(layout: Layout, count: Int) throws {
        let saved = Array(Self.many.suffix(3))
        let file = try Layout.trimmed(layout.write(turn(0) + saved))
        let first = try #require(MessageArray.layout(of: file)?.messages.first).lowerBound
        let newline = try #require(file[..<first].lastIndex(of: Byte.newline))
        for start in 2...newline - count {
            for byte: UInt8 in [0, 1, 0x7A] {
                var damaged = file
                damaged.replaceSubrange(start..<start + count, with: repeatElement(byte, count: count))
                #expect(ScopeFile(damaged) == nil && Damage(bytes: damaged).messages == saved)
            }
        }
    }

    @Test("A file trimmed to no message is moved", arguments: ["[]", "[ ]", "[\n]"])
    func movedWithoutMessages(content: String) throws {
        let temporary = try TemporaryFolder()
        let folder = try OpenFolder(path: temporary.url.path)
        let (file, newFile) = (try folder.makeFile("a.json"), try folder.makeFile("b.json"))
        try file.write(Array(content.utf8), at: 0)
        var state = try #require(ScopeFile(Array(content.utf8)))
        try state.move(last: .max, from: file, to: newFile)
        try state.append(turn(1).map(EncodedMessage.init), to: newFile, isDurable: false)
        #expect(try EncodedMessage.messages(in: newFile.readAll()) == turn(1))
    }

    @Test("A brace before the first message hides no message")
    func braceBeforeFirst() throws {
        let lines = try Layout.lines.write(Self.many)
        let file = Array(String(decoding: lines, as: UTF8.self).replacing("\n", with: "\n  ").utf8)
        #expect(EncodedMessage.messages(in: file) == Self.many)
        var damaged = file
        damaged[2] = Byte.openingBrace
        #expect(Damage(bytes: damaged).messages == Self.many)
    }

    @Test("A retry saves a message again if it was damaged or replaced while the store is open")
    func retryAfterDamage() async throws {
        let messages = [1, 2, 3].map { turn($0)[0] }
        let (id, other) = (messages[1].id, String(repeating: "x", count: messages[1].id.utf8.count))
        for isDamaged in [true, false] {
            let folder = try TemporaryFolder()
            let store = FileChatStorage(baseURL: folder.url, sameRole: .keep)
            try await store.save(messages)
            var bytes = Array(try Data(contentsOf: folder.file()))
            let range = try #require(MessageArray.layout(of: bytes)).messages[1]
            if isDamaged {
                bytes.replaceSubrange(range.lowerBound + 20..<range.lowerBound + 40, with: repeatElement(0, count: 20))
            } else {
                let index = try #require(Data(bytes[range]).range(of: Data(id.utf8)))
                bytes.replaceSubrange(
                    range.lowerBound + index.lowerBound..<range.lowerBound + index.upperBound, with: other.utf8)
            }
            // In place, as a disk or an editor does.
            let handle = try FileHandle(forWritingTo: folder.file())
            try handle.write(contentsOf: bytes)
            try handle.close()
            try await store.save([messages[1]])
            let again = FileChatStorage(baseURL: folder.url, sameRole: .keep)
            let saved = try await again.load()
            #expect(saved.contains(messages[1]), "damaged: \(isDamaged)")
            #expect(saved.contains(messages[0]) && saved.contains(messages[2]))
        }
    }

    @Test("A lone surrogate written by a JavaScript program is read as U+FFFD, and nothing is set aside")
    func loneSurrogate() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(#"[{"id":"a","role":"user","timestamp":1,"parts":[{"text":{"_0":"cut \ud83d"}}]}]"#.utf8))
        let store = FileChatStorage(baseURL: folder.url)
        #expect(try await store.load().map(\.text) == ["cut \u{FFFD}"])
        try await store.save([turn(1)[1]])
        #expect(try await FileChatStorage(baseURL: folder.url).load().map(\.id) == ["a", turn(1)[1].id])
        #expect(try folder.names() == ["a.json"])
    }

    @Test(
        "Files without a readable message read as empty and are set aside",
        arguments: [
            Array("not json".utf8), [0], [UInt8](repeating: 0, count: 10_000), Array("{}".utf8), Array("[1,2]".utf8),
            Array("[{\"id\":1}]".utf8),
            (0...255).map { $0 },
        ])
    func unrepairable(bytes: [UInt8]) async throws {
        #expect(try await recover(bytes).isEmpty)
    }

    @Test(
        "A message nested to the maximum depth is read, alone and among others, and nothing is set aside",
        arguments: [505, 507, 508, 509, 512])
    func deepest(levels: Int) async throws {
        let folder = try TemporaryFolder()
        let nested = levels - 2
        let deep = String(repeating: "[", count: nested) + String(repeating: "]", count: nested)
        let message = #"{"id":"deep","role":"assistant","timestamp":1,"parts":[],"metadata":{"x":\#(deep)}}"#
        try folder.write(Array("[\(message),\n".utf8) + EncodedMessage(turn(1)[0]).bytes + Array("]".utf8))
        for store in [FileChatStorage(baseURL: folder.url), FileChatStorage(baseURL: folder.url)] {
            for _ in 0..<3 {
                #expect(try await store.load().map(\.id) == ["deep", "1-q"])
                #expect(try await store.load(budget: 2).count == 2)
                #expect(try await store.fetchAllChats(userId: "u", sessionId: "s").count == 2)
            }
        }
        try await FileChatStorage(baseURL: folder.url).save([turn(1)[1]])
        #expect(try await FileChatStorage(baseURL: folder.url).load().map(\.id) == ["deep", "1-q", "1-a"])
        #expect(try folder.names() == ["a.json"])
    }

    @Test("A file too large to read throws an error that names it, and stays unchanged")
    func tooLarge() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.files[0])
        let size = UInt64(300) << 30
        let handle = try FileHandle(forWritingTo: folder.file())
        defer { try? handle.close() }
        let open = FileChatStorage(baseURL: folder.url)
        #expect(try await open.load() == turns(1...2))
        try handle.truncate(atOffset: size)
        for store in [open, FileChatStorage(baseURL: folder.url)] {
            for call in [{ _ = try await store.load() }, { try await store.save(turn(3)) }] {
                let error = await #expect(throws: RecollectError.self) { try await call() }
                #expect(error?.code == .tooLarge && error?.message.contains(folder.file().path) == true)
            }
        }
        #expect(try handle.seekToEnd() == size)
        #expect(try folder.names() == ["a.json"])
    }

    @Test("An append that would make a file too large to read throws before any change")
    func tooLargeAppend() throws {
        let folder = try TemporaryFolder()
        let file = try OpenFolder(path: folder.url.path).makeFile("a.json")
        var state = ScopeFile()
        try state.begin(file)
        let messages = turns(1...2).map(EncodedMessage.init)
        let size = 2 + messages.reduce(0) { $0 + 2 + $1.bytes.count }
        let error = #expect(throws: RecollectError.self) {
            try state.append(messages, to: file, isDurable: false, maxSize: size - 2)
        }
        #expect(error?.code == .tooLarge)
        #expect(try file.readAll() == Array("[]".utf8) && state.entries.isEmpty)
        try state.append(messages, to: file, isDurable: false, maxSize: size)
        #expect(try file.readAll().count <= size && state.entries.count == 4)
    }

    @Test("An empty file is an empty chat, and nothing is set aside")
    func zeroLength() async throws {
        let folder = try TemporaryFolder()
        try folder.write([])
        let store = FileChatStorage(baseURL: folder.url)
        #expect(try await store.load().isEmpty)
        try await store.save(turn(1))
        #expect(try await store.load() == turn(1))
        #expect(try folder.names() == ["a.json"])
    }

    @Test("Damage that occurs while the store is open is found and repaired")
    func whileOpen() async throws {
        let folder = try TemporaryFolder()
        let store = FileChatStorage(baseURL: folder.url)
        try await store.save(turns(1...3))
        var bytes = Array(try Data(contentsOf: folder.file()))
        bytes[bytes.count / 2] = 0x01
        try folder.write(bytes)
        #expect(try await store.load().count == 5)
        try await store.save([turn(4)[0]])
        #expect(try await store.load().count == 6)
    }

    @Test("`fetchAllChats` repairs damage")
    func merged() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Self.files[0].dropLast(4))
        #expect(try await FileChatStorage(baseURL: folder.url).fetchAllChats(userId: "u", sessionId: "s").count == 3)
        #expect(try folder.names().count == 2)
    }
}
