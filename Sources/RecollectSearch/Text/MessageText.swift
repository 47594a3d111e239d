import RecollectCore

/// The searched text of a message: prose, reasoning, transcripts of speech, the names of tools, and every string in
/// their arguments and results. It does not include IDs, signatures, numbers, attachments, or parts of unknown
/// kinds, nor the calls and results of the tools that quote the history (`HistoryQuotation`).
///
/// Only the first megabyte of a message and the first 64 KB of each string of a tool count.
package enum MessageText {
    static let maxToolStringLength = 64 << 10
    static let longest = 1 << 20

    /// Calls `body` with the searched text of a message with text, or else with parts in JSON. Strings are separated by
    /// line breaks, and the bytes are valid only during the call. Unreadable parts have no text.
    package static func withBytes<Result>(
        text: UnsafeRawBufferPointer?, parts: UnsafeRawBufferPointer,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        if let text { return try text.prefix(longest).withBytes(body) }
        var collected = Collector()
        collected.read(parts: parts)
        return try collected.bytes.withUnsafeBufferPointer(body)
    }

    private struct Collector {
        var bytes: [UInt8] = []
        /// The IDs of the calls that quote the history.
        private var quotingCalls: Set<String> = []

        /// Reads the readable parts. Unreadable parts are reported by the reader, not by a search.
        mutating func read(parts json: UnsafeRawBufferPointer) {
            try? JSONParser.read(json) { parser in
                try parser.forEachElement { parser in
                    guard parser.isNext("{") else {
                        try parser.skip()
                        return
                    }
                    try parser.forEachMember { kind, parser in try read(kind, &parser) }
                }
            }
        }

        private mutating func read(_ kind: String, _ parser: inout JSONParser) throws {
            guard parser.isNext("{"), let fields = Self.searched[kind] else {
                try parser.skip()
                return
            }
            let isTool = kind.hasPrefix("tool")
            let start = bytes.count
            var (id, isQuoting) = ("", false)
            try parser.forEachMember { field, parser in
                if isTool, field == "id", parser.isNext("\"") {
                    id = try parser.string()
                } else if isTool, field == "name", parser.isNext("\"") {
                    let name = try parser.string()
                    isQuoting = HistoryQuotation.isTool(name)
                    append(name.utf8.prefix(maxToolStringLength))
                } else if fields.contains(field) {
                    try readStrings(isTool ? maxToolStringLength : MessageText.longest, &parser)
                } else {
                    try parser.skip()
                }
            }
            guard isTool, isQuoting || quotingCalls.contains(id) else { return }
            quotingCalls.insert(id)
            bytes.removeLast(bytes.count - start)
        }

        private static let searched = [
            "text": ["_0"], "thinking": ["_0"], "audioTranscript": ["_0"], "toolCall": ["name", "arguments"],
            "toolResult": ["content"],
        ]

        private mutating func readStrings(_ longest: Int, _ parser: inout JSONParser) throws {
            if parser.isNext("\"") {
                append(try parser.string().utf8.prefix(longest))
            } else if parser.isNext("{") {
                try parser.forEachMember { _, parser in try readStrings(longest, &parser) }
            } else if parser.isNext("[") {
                try parser.forEachElement { try readStrings(longest, &$0) }
            } else {
                try parser.skip()
            }
        }

        private mutating func append(_ string: Substring.UTF8View) {
            let room = MessageText.longest - bytes.count
            guard room > 0, !string.isEmpty else { return }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "\n")) }
            bytes.append(contentsOf: string.prefix(room))
        }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Calls `body` with the bytes of the slice, indexed from 0.
    fileprivate func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        try UnsafeRawBufferPointer(rebasing: self).withMemoryRebound(to: UInt8.self, body)
    }
}
