import Foundation

/// Times of single operations and their statistics.
struct Samples {
    private(set) var nanoseconds: [UInt64]

    init(_ nanoseconds: [UInt64] = []) { self.nanoseconds = nanoseconds }

    mutating func add(_ nanoseconds: UInt64) { self.nanoseconds.append(nanoseconds) }

    /// Returns the time not exceeded by a share of the samples, in microseconds.
    func quantile(_ share: Double) -> Double {
        let sorted = nanoseconds.sorted()
        guard !sorted.isEmpty else { return .nan }
        return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1000
    }

    var median: Double { quantile(0.5) }
    var worst: Double { quantile(0.99) }

    /// The samples of one section of the run.
    func slice(_ range: Range<Double>) -> Samples {
        let count = Double(nanoseconds.count)
        var samples = Samples()
        samples.nanoseconds = Array(
            nanoseconds[Int((count * range.lowerBound).rounded())..<Int((count * range.upperBound).rounded())])
        return samples
    }

    /// Returns the ratio to the baseline's median: the median of the ratios of the sections measured for both.
    static func ratio(_ ours: Samples, _ baseline: Samples, stretches: Int) -> Double {
        let ratios = (0..<stretches).map { stretch in
            let range = Double(stretch) / Double(stretches)..<Double(stretch + 1) / Double(stretches)
            return ours.slice(range).median / baseline.slice(range).median
        }
        return ratios.sorted()[stretches / 2]
    }
}

/// Returns the duration of an operation, in nanoseconds.
func time(_ body: () throws -> Void) rethrows -> UInt64 {
    let start = DispatchTime.now().uptimeNanoseconds
    try body()
    return DispatchTime.now().uptimeNanoseconds - start
}

/// Returns the duration of an operation, in nanoseconds.
func time(_ body: () async throws -> Void) async rethrows -> UInt64 {
    let start = DispatchTime.now().uptimeNanoseconds
    try await body()
    return DispatchTime.now().uptimeNanoseconds - start
}

/// Returns a number of bytes for a table.
func megabytes(_ bytes: Int) -> String { String(format: "%.0f MB", Double(bytes) / Double(1 << 20)) }

/// A folder deleted at the end of a benchmark.
struct Folder: ~Copyable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("left behind: \(url.path)")
        }
    }
}
