import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Finds the files that have all words of a query in their path or their text.
    ///
    /// Reads files on this device only and says how many it could not look into; never starts a download. One file is in memory at a
    /// time. A cancelled task ends with `CancellationError` after the file that is being searched.
    /// - Throws: `notFound` for a folder that is not there; `invalidArgument` for a query without words, or of over 1,000 bytes.
    public func search(_ query: WorkspaceQuery) async throws -> WorkspaceSearchResult {
        let words = SearchedWords(query.text)
        guard !words.isEmpty else {
            throw RecollectError(.invalidArgument, "there is nothing to search for: give a word")
        }
        // Each line of each file is looked at for each word.
        guard query.text.utf8.count <= 1_000 else {
            throw RecollectError(.invalidArgument, "the query is over 1,000 bytes long: give a few words")
        }
        var result = WorkspaceSearchResult()
        var bytesLeft = query.byteLimit
        let items = try await list(query.folder, recursively: true)
        result.foldersNotSearched = items.count { $0.isFolder && $0.state == .unreadable }
        for item in items where !item.isFolder {
            guard result.files.count < max(0, query.limit) else {
                result.isCut = true
                break
            }
            let inPath = words.found(in: item.path.description)
            var lines: [WorkspaceMatch.Line] = []
            var found = inPath
            switch item.state {
            case .local, .conflicted:
                if item.size > bytesLeft, item.size <= configuration.largestFile {
                    result.isCut = true
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

    /// The words that stand in a file, and its lines with most of them; `nil` for a file that is too large, no text, or gone, or that
    /// cannot be read.
    private func searched(
        _ path: WorkspacePath, _ words: SearchedWords, most: Int
    ) throws -> (found: Set<Int>, lines: [WorkspaceMatch.Line])? {
        let bytes: [UInt8]
        do {
            bytes = try provider.read(path, limit: configuration.largestFile)
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
                // The one with fewest words goes, of several the last.
                let worst = best.indices.min { (best[$0].words, -$0) < (best[$1].words, -$1) }
                if let worst { best.remove(at: worst) }
            }
        }
        return (found, best.map { WorkspaceMatch.Line(number: $0.number, text: words.excerpt(of: $0.line)) })
    }
}
