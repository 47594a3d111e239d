/// Credentials recognized by the text around them: webhooks, logins of commands, `.netrc`, PuTTY keys, tables.
extension CredentialScan {
    private static let webhooks = ["hooks.slack.com/services/", "discord.com/api/webhooks/"].map { Array($0.utf8) }

    /// Returns the address of a webhook after `://`. It allows posting.
    func webhook(after position: Int) -> (name: String, position: Int)? {
        let start = position + 3
        guard let host = Self.webhooks.first(where: { has($0, at: start) }) else { return nil }
        let end = endOfRun(from: start + host.count, atMost: 300) {
            Self.isDashedAlphanumeric($0) || $0 == UInt8(ascii: "/")
        }
        let path = start + host.count..<end
        let key = path.last { bytes[$0] == UInt8(ascii: "/") }.map { $0 + 1 } ?? end
        guard end - key >= 20, !isCutShort(at: end) else { return nil }
        return CredentialValue(start: bytes + key, count: end - key).isKey ? ("a webhook URL", start) : nil
    }

    private static let loginOptions = ["-u", "--user"].map { Array($0.utf8) }

    /// Returns the password after a colon in the login of a command: `curl -u user:password`.
    func login(after position: Int) -> (name: String, position: Int)? {
        guard position > 0, Self.isAlphanumeric(bytes[position - 1]) else { return nil }
        let limit = max(0, position - 48)
        var start = position
        while start > limit, bytes[start - 1] > 0x20, Self.kinds[Int(bytes[start - 1])] & Self.isQuote == 0 {
            start -= 1
        }
        guard start < position else { return nil }
        var end = start
        while end > limit, bytes[end - 1] == 0x20 || Self.kinds[Int(bytes[end - 1])] & Self.isQuote != 0 { end -= 1 }
        guard end < start, Self.loginOptions.contains(where: { end >= $0.count && has($0, at: end - $0.count) }) else {
            return nil
        }
        let password = position + 1
        let last = endOfRun(from: password, atMost: 256) { $0 > 0x20 && Self.kinds[Int($0)] & Self.isQuote == 0 }
        guard CredentialValue(start: bytes + password, count: last - password).isCredential(isQuoted: false) else {
            return nil
        }
        return ("login credentials", start)
    }

    private static let privateLines = Array("Private-Lines".utf8)

    /// Returns the private part of a PuTTY key after the colon of its header.
    func puttyKey(after position: Int) -> (name: String, position: Int)? {
        let start = position - Self.privateLines.count
        guard start >= 0, has(Self.privateLines, at: start) else { return nil }
        let line = endOfRun(from: position + 1, atMost: 16) { $0 != UInt8(ascii: "\n") } + 1
        let end = endOfRun(from: line, atMost: 80) { Self.kinds[Int($0)] & Self.isBase64 != 0 }
        guard end - line >= 40, CredentialValue(start: bytes + line, count: end - line).isVaried else { return nil }
        return ("a private key", start)
    }

    static let machine = Array("machine ".utf8)

    /// Whether an entry of `.netrc` with a password begins here: `machine … login … password …`.
    func isNetrc(at position: Int) -> Bool {
        guard has(Self.machine, at: position) else { return false }
        let limit = min(count, position + 512)
        var words: [Range<Int>] = []
        var start = position
        while start < limit, words.count < 12 {
            let end = endOfRun(from: start, atMost: limit - start) { $0 > 0x20 }
            if end > start { words.append(start..<end) }
            start = max(end, endOfRun(from: end, atMost: limit - end) { $0 <= 0x20 })
        }
        func isWord(_ index: Int, _ word: String) -> Bool {
            words[index].count == word.utf8.count && has(Array(word.utf8), at: words[index].lowerBound)
        }
        guard words.count >= 4, words.indices.contains(where: { isWord($0, "login") }),
            let name = words.indices.dropLast().first(where: { isWord($0, "password") })
        else { return false }
        let value = words[name + 1]
        return CredentialValue(start: bytes + value.lowerBound, count: value.count).isCredential(isQuoted: false)
    }

    // MARK: Tables

    private static let pipe = UInt8(ascii: "|")

    /// Whether a table with a column of passwords begins above this dash, the first one of its delimiter row.
    func isTableWithPassword(at position: Int) -> Bool {
        var row = position
        while row > 0, position - row < 64, " \t|:".utf8.contains(bytes[row - 1]) { row -= 1 }
        guard row > 1, bytes[row - 1] == UInt8(ascii: "\n") else { return false }
        let end = endOfLine(from: position)
        let isDelimiter = isDelimiterRow(position..<end)
        guard isDelimiter, (row..<end).contains(where: { bytes[$0] == Self.pipe }) else { return false }
        let header = cells(of: startOfLine(at: row - 1)..<row - 1)
        let columns = header.indices.filter { column in
            guard let name = CredentialName(endingAt: header[column].upperBound, in: bytes) else { return false }
            return name.start >= header[column].lowerBound
        }
        guard !columns.isEmpty else { return false }
        var next = end + 1
        while next < count {
            let end = endOfLine(from: next)
            // The next table is searched at its own delimiter row.
            guard !isDelimiterRow(next..<end) else { return false }
            let row = cells(of: next..<end)
            guard row.count > 1 else { return false }
            for column in columns where column < row.count {
                let isQuoted = row[column].count > 2 && bytes[row[column].lowerBound] == UInt8(ascii: "`")
                let value = isQuoted ? row[column].dropFirst().dropLast() : row[column]
                if CredentialValue(start: bytes + value.lowerBound, count: value.count).isCredential(isQuoted: isQuoted)
                {
                    return true
                }
            }
            next = end + 1
        }
        return false
    }

    private func isDelimiterRow(_ line: Range<Int>) -> Bool {
        line.allSatisfy { " \t|:-\r".utf8.contains(bytes[$0]) }
    }

    /// Returns the cells of a table's row, without the blanks around them.
    private func cells(of line: Range<Int>) -> [Range<Int>] {
        var cells: [Range<Int>] = []
        var start = line.lowerBound
        for position in line where bytes[position] == Self.pipe {
            cells.append(trimmed(start..<position))
            start = position + 1
        }
        cells.append(trimmed(start..<line.upperBound))
        // The pipes around a row are optional.
        if cells.first?.isEmpty == true { cells.removeFirst() }
        return cells
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, " \t\r".utf8.contains(bytes[start]) { start += 1 }
        while start < end, " \t\r".utf8.contains(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private func startOfLine(at position: Int) -> Int {
        var start = position
        while start > 0, position - start < 4_096, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
        return start
    }

    private func endOfLine(from position: Int) -> Int {
        endOfRun(from: position, atMost: count - position) { $0 != UInt8(ascii: "\n") }
    }
}
