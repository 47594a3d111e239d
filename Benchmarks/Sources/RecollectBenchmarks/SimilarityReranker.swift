import Foundation
import Recollect

/// Reranks with another program: reciprocal rank fusion of the search's order with the order by similarity.
///
/// The program reads lines of JSON, each an object with `query` and `texts`, and answers each with a line: an array of
/// numbers, one for each text, the larger the more similar.
actor SimilarityReranker: SearchReranker {
    /// The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009), and the weight of the similarity.
    private static let (constant, weight) = (60.0, 0.5)
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    private struct Asked: Encodable {
        let query: String
        let texts: [String]
    }

    init(command: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sh", "-c", "exec \(command)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func scores(of candidates: [SearchCandidate], for query: SearchQuery) async throws -> [Double] {
        let asked = Asked(query: query.text, texts: candidates.map(\.message.text))
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(asked) + [UInt8(ascii: "\n")])
        let similarities = try JSONDecoder().decode([Double].self, from: line())
        guard similarities.count == candidates.count else { return [] }
        let order = similarities.indices.sorted { similarities[$0] > similarities[$1] }
        var scores = candidates.indices.map { 1 / (Self.constant + Double($0)) }
        for (rank, index) in order.enumerated() { scores[index] += Self.weight / (Self.constant + Double(rank)) }
        return scores
    }

    private func line() throws -> Data {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            // `read(upToCount:)` waits for all of the bytes on Linux.
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ChildProcess.Failure(description: "the program for similarities ended") }
            line += more
        }
        return line
    }
}
