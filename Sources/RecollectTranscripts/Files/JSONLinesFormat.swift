import RecollectCore

/// The format of a transcript.
enum JSONLinesFormat {
    /// A transcript of Claude Code.
    case claudeCode
    /// An export by `recall export --format jsonl`.
    case history

    /// The longest readable line, in bytes. Files of other programs have a lower limit.
    var maxLineBytes: Int {
        switch self {
        case .claudeCode: TranscriptReader.maxLineBytes
        case .history: HistoryLine.maxBytes
        }
    }

    /// Detects the format of a file by its first lines; `nil` for an unknown format.
    ///
    /// Reads up to 20 lines, since the first one may be damaged.
    static func detect(path: String) throws -> JSONLinesFormat? {
        let lines = try LineReader(path: path, maxLineBytes: TranscriptReader.maxLineBytes)
        for _ in 0..<20 {
            let format = try lines.next { line -> JSONLinesFormat? in
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

    /// Returns the format of a file. A new file without any line counts as a transcript of Claude Code.
    ///
    /// - Throws: `unreadable` for an unknown format.
    static func required(path: String) throws -> JSONLinesFormat {
        if let format = try detect(path: path) { return format }
        guard try LineReader(path: path, maxLineBytes: TranscriptReader.maxLineBytes).next({ _ in }) == nil else {
            throw RecollectError(
                .unreadable,
                "\(path) is neither a Claude Code transcript nor an export made with `recall export --format jsonl`")
        }
        return .claudeCode
    }

    private static func detect(line: UnsafeRawBufferPointer) -> JSONLinesFormat? {
        var keys: Set<String> = []
        // A line other than an object does not determine the format. The import reports it.
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
