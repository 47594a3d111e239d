import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Returns the files with all words of a query in their path or their text.
    ///
    /// Searches only local files, and starts no download. The result has the numbers of files and folders not
    /// searched. One file is in memory at a time. Cancellation throws `CancellationError` after the current file.
    /// - Throws: `notFound` for a missing folder; `invalidArgument` for a query without words, or over 1,000 bytes.
    public func search(_ query: WorkspaceQuery) async throws -> WorkspaceSearchResult {
        let words = SearchedWords(query.text)
        guard !words.isEmpty else {
            throw RecollectError(.invalidArgument, "the query is empty: enter at least one word")
        }
        // The search compares each line with each word.
        guard query.text.utf8.count <= 1_000 else {
            throw RecollectError(.invalidArgument, "the query is longer than 1,000 bytes: use fewer words")
        }
        var result = WorkspaceSearchResult()
        var bytesLeft = query.byteLimit
        let items = try await list(query.folder, recursively: true)
        result.foldersNotSearched = items.count { $0.isFolder && $0.state == .unreadable }
        for item in items where !item.isFolder {
            guard result.files.count < max(0, query.limit) else {
                result.isTruncated = true
                break
            }
            let inPath = words.found(in: item.path.description)
            var lines: [WorkspaceMatch.Line] = []
            var found = inPath
            switch item.state {
            case .local, .conflicted:
                if item.size > bytesLeft, item.size <= configuration.maxFileSize {
                    result.isTruncated = true
                } else if let searched = try await reading({
                    try self.searched(item.path, words, most: query.linesPerFile)
                }) {
                    bytesLeft -= item.size
                    (found, lines) = (inPath.union(searched.found), searched.lines)
                } else {
                    result.filesNotSearched += 1
                }
            default: result.filesNotLocal += 1
            }
            if found.count == words.count { result.files.append(WorkspaceMatch(path: item.path, lines: lines)) }
        }
        return result
    }

    /// Returns the words found in a file, and the lines with most of them; `nil` for a file that is too large, not
    /// text, missing or unreadable.
    private func searched(
        _ path: WorkspacePath, _ words: SearchedWords, most: Int
    ) throws -> (found: Set<Int>, lines: [WorkspaceMatch.Line])? {
        let bytes: [UInt8]
        do {
            bytes = try provider.read(path, limit: configuration.maxFileSize)
        } catch let error as RecollectError where error.isOfOneFile {
            return nil
        }
        guard !bytes.contains(0) else { return nil }
        var found: Set<Int> = []
        var best: [(words: Int, number: Int, line: ArraySlice<UInt8>)] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            let inLine = words.found(in: line)
            guard !inLine.isEmpty else { continue }
            found.formUnion(inLine)
            best.append((inLine.count, number + 1, line))
            if best.count > max(0, most) {
                // The line with the fewest words is dropped; of several, the last.
                let worst = best.indices.min { (best[$0].words, -$0) < (best[$1].words, -$1) }
                if let worst { best.remove(at: worst) }
            }
        }
        return (found, best.map { WorkspaceMatch.Line(number: $0.number, text: words.excerpt(of: $0.line)) })
    }
}
