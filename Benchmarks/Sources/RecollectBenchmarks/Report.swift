import Foundation
import GRDBSQLite

/// One line of the table.
struct Line {
    var work: String
    var ours: String
    var worst = ""
    var baseline = ""
    var ratio: Double?
    var target = ""
    var isMet: Bool?

    /// Creates a line with an upper limit for the ratio to the baseline and, if given, one in milliseconds.
    /// The ratio is the median of the ratios of the sections, because noise affects both sides of a section.
    init(
        _ work: String, _ ours: Samples, _ baseline: Samples, stretches: Int, atMost target: Double,
        milliseconds: Double? = nil
    ) {
        let ratio = Samples.ratio(ours, baseline, stretches: stretches)
        self.work = work
        self.ours = Self.text(ours.median)
        worst = Self.text(ours.worst)
        self.baseline = Self.text(baseline.median)
        self.ratio = ratio
        self.target = "≤ \(Self.short(target))" + (milliseconds.map { ", ≤ \(Self.short($0)) ms" } ?? "")
        isMet = ratio <= target && ours.median <= (milliseconds ?? .infinity) * 1000
    }

    init(
        work: String, ours: String, worst: String = "", baseline: String = "", ratio: Double? = nil,
        target: String = "",
        isMet: Bool? = nil
    ) {
        self.work = work
        self.ours = ours
        self.worst = worst
        self.baseline = baseline
        self.ratio = ratio
        self.target = target
        self.isMet = isMet
    }

    /// Returns a time in the most readable unit.
    static func text(_ microseconds: Double) -> String {
        switch microseconds {
        case ..<1_000: String(format: "%.1f µs", microseconds)
        case ..<1_000_000: String(format: "%.2f ms", microseconds / 1_000)
        default: String(format: "%.2f s", microseconds / 1_000_000)
        }
    }

    private static func short(_ number: Double) -> String { String(format: "%g", number) }

    var markdown: String {
        let met = isMet.map { $0 ? "yes" : "**no**" } ?? ""
        let ratio = ratio.map { String(format: "%.2f", $0) } ?? ""
        return "| \([work, ours, worst, baseline, ratio, target, met].joined(separator: " | ")) |"
    }

    static let header = """
        | Work | Recollect, median | p99 | Baseline, median | Ratio | Target | Met |
        |---|---|---|---|---|---|---|
        """
}

/// Prints the table line by line, and writes it with the facts about the run.
final class Report {
    private var lines: [Line] = []

    func begin() { output(Line.header) }

    func add(_ line: Line) {
        lines.append(line)
        output(line.markdown)
    }

    private func output(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    func write(to path: String, arguments: String) throws {
        let day = ISO8601DateFormatter.string(
            from: Date(), timeZone: .gmt, formatOptions: [.withFullDate, .withDashSeparatorInDate])
        let text = """
            # Benchmarks

            The last run, written by `make bench\(arguments)` on \(day). To repeat the run, use `make bench` on a quiet
            machine. `RECOLLECT_SHARED_DATA=FOLDER make bench` also imports a folder of Claude Code transcripts.
            `make bench ARGS='--output docs/benchmarks.md'` writes this file.

            - Machine: \(Self.machine)
            - System: \(ProcessInfo.processInfo.operatingSystemVersionString)
            - SQLite \(String(cString: sqlite3_libversion())), \(Self.compiler)

            The baseline is the same work directly on SQLite's C API with prepared statements, or on the system calls for
            files. Both run in alternating sections of one run. The ratio is the median of the ratios of the sections,
            because noise affects both sides of a section. The code in `Benchmarks/Sources` defines the baseline of each row.

            \(Line.header)
            \(lines.map(\.markdown).joined(separator: "\n"))

            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private static var machine: String {
        let process = ProcessInfo.processInfo
        let cores = "\(process.activeProcessorCount) cores, \(process.physicalMemory >> 30) GB"
        guard let cpu = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8),
            let model = cpu.split(separator: "\n").first(where: { $0.hasPrefix("model name") })?.split(separator: ":")
                .last
        else { return cores }
        return "\(model.trimmingCharacters(in: .whitespaces)), \(cores)"
    }

    private static var compiler: String {
        let output = try? ChildProcess.run("swift", ["--version"]).output
        return output?.split(separator: "\n").first.map(String.init) ?? "an unknown Swift"
    }
}
