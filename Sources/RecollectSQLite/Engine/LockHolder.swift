import Foundation

/// The process that holds a file's lock, where the system tells (Linux, in `/proc`).
struct LockHolder: CustomStringConvertible {
    private let process: Int32
    /// Whether it was stopped by a signal or a debugger.
    let isStopped: Bool

    /// Looks for the holder of the `flock` of a file. `nil` where there is none, or the system does not tell.
    init?(of path: String) {
        guard let id = FileID(at: path)?.listed else { return nil }
        // The list is read in pieces, and misses some locks when others come and go meanwhile.
        let found = (0..<10).lazy.compactMap { _ in Self.holder(of: id) }.first
        // A process of another namespace has the number 0 or -1.
        guard let found, found > 0 else { return nil }
        process = found
        // 1234 (name) T 1 …: the name may hold anything.
        let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let state = status.split(separator: ")").last?.split(separator: " ").first ?? ""
        isStopped = state == "T" || state == "t"
    }

    private static func holder(of id: String) -> Int32? {
        guard let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8) else { return nil }
        // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count > 5, fields[1] == "FLOCK", fields[5] == id { return Int32(fields[4]) }
        }
        return nil
    }

    var description: String { isStopped ? "process \(process), which is stopped" : "process \(process)" }
}
