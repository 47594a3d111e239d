/// A string compared and ordered by its bytes. Swift's strings ignore Unicode normalization.
struct ByteText: Hashable, Comparable {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        // In one call, not byte by byte as arrays do.
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    static func < (left: ByteText, right: ByteText) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// Whether another, nonempty text is a proper prefix.
    func continues(_ other: ByteText) -> Bool {
        !other.bytes.isEmpty && bytes.count > other.bytes.count && bytes.starts(with: other.bytes)
    }

    // MARK: As a line

    /// Whether the line has no visible character.
    var isBlank: Bool { bytes.allSatisfy { $0 <= UInt8(ascii: " ") } }

    var endsWithCarriageReturn: Bool { bytes.last == UInt8(ascii: "\r") }

    /// The line without carriage returns at its end.
    var trimmingCarriageReturn: ByteText {
        guard let last = bytes.lastIndex(where: { $0 != UInt8(ascii: "\r") }) else { return ByteText("") }
        return last == bytes.count - 1 ? self : ByteText(bytes[...last])
    }

    var isQuoted: Bool { bytes.first == UInt8(ascii: ">") }

    /// The line without its quotation mark (`>`), if it has one.
    var unquoted: ByteText {
        guard isQuoted else { return self }
        return ByteText(bytes.dropFirst(bytes.dropFirst().first == UInt8(ascii: " ") ? 2 : 1))
    }

    var quoted: ByteText { ByteText(bytes.isEmpty ? [UInt8(ascii: ">")] : Array("> ".utf8) + bytes) }

    // MARK: As several lines

    init(lines: some Sequence<ByteText>) {
        var bytes: [UInt8] = []
        for (position, line) in lines.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: "\n")) }
            bytes += line.bytes
        }
        self.bytes = bytes
    }

    /// The text with unquoted lines.
    var unquotedLines: ByteText {
        bytes.contains(UInt8(ascii: ">")) ? ByteText(lines: lines.map(\.unquoted)) : self
    }

    var lines: [ByteText] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { ByteText($0) }
    }
}

extension [ByteText] {
    /// The lines without blank lines at the beginning and the end.
    var trimmingBlankLines: [ByteText] {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return []
        }
        return Array(self[first...last])
    }
}
