import RecollectCore

/// What wrote a transcript.
enum TranscriptFormat {
    /// Claude Code.
    case claudeCode
    /// `recall export --format jsonl`.
    case history

    /// The longest readable line, in bytes. Files of other programs have a tighter bound.
    var maxLineBytes: Int {
        switch self {
        case .claudeCode: TranscriptReader.maxLineBytes
        case .history: HistoryLine.maxBytes
        }
    }

    /// The format of a file by its first lines; `nil` for a file that nobody wrote whom we know.
    ///
    /// A damaged first line must not hide a transcript, so a few more are looked at.
    static func detect(path: String) throws -> TranscriptFormat? {
        let lines = try LineReader(path: path, maxLineBytes: TranscriptReader.maxLineBytes)
        for _ in 0..<20 {
            let format = try lines.next { line -> TranscriptFormat? in
                guard case .whole(let bytes) = line else {
                    if case .unended(let bytes) = line { return detect(line: bytes) }
                    return nil
                }
                return detect(line: bytes)
            }
            guard let format else { return nil }
            if let format { return format }
        }
        return nil
    }

    /// The format of a file; a new file without a line is taken for a transcript that has just begun.
    /// - Throws: `unreadable` for a file that nobody wrote whom we know.
    static func required(path: String) throws -> TranscriptFormat {
        if let format = try detect(path: path) { return format }
        guard try LineReader(path: path, maxLineBytes: TranscriptReader.maxLineBytes).next({ _ in }) == nil else {
            throw RecollectError(
                .unreadable,
                "\(path) is neither a Claude Code transcript nor an export made with `recall export --format jsonl`")
        }
        return .claudeCode
    }

    private static func detect(line: UnsafeRawBufferPointer) -> TranscriptFormat? {
        var keys: Set<String> = []
        // A line that is no object tells nothing; the import reports it.
        try? JSONParser.read(line, replacesLoneSurrogates: true) { parser in
            try parser.forEachMember { key, parser in
                if key == "type" ? parser.isNext("\"") : key == HistoryLine.mark { keys.insert(key) }
                try parser.skip()
            }
        }
        if keys.contains(HistoryLine.mark) { return .history }
        return keys.contains("type") ? .claudeCode : nil
    }
}
