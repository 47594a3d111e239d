import Foundation
import RecollectFileSystem

/// The process with a file's lock, if the system lists it (Linux, in `/proc`).
struct LockHolder: CustomStringConvertible {
    private let process: Int32
    /// Whether a signal or a debugger stopped the process.
    let isStopped: Bool

    /// Creates the holder of the `flock` of a file; `nil` if there is none, or if the system does not list it.
    init?(of path: String) {
        guard let id = FileID(at: path)?.listed else { return nil }
        // The list is read in pieces. Locks are missing from it if others are taken and released meanwhile.
        var found: Int32?
        for attempt in 0..<20 where found == nil {
            if attempt > 0 { usleep(2000) }
            found = Self.holder(of: id)
        }
        // A process of another namespace has the number 0 or -1.
        guard let found, found > 0 else { return nil }
        process = found
        // The format is `1234 (name) T 1 …`. The name may contain any characters.
        let status = Self.content(of: "/proc/\(process)/stat")
        let state = status.split(separator: ")").last?.split(separator: " ").first ?? ""
        isStopped = state == "T" || state == "t"
    }

    private static func holder(of id: String) -> Int32? {
        let locks = content(of: "/proc/locks")
        // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF
        for line in locks.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count > 5, fields[1] == "FLOCK", fields[5] == id { return Int32(fields[4]) }
        }
        return nil
    }

    /// Returns the content of a kernel file, read in pieces of some kilobytes; empty if unreadable.
    private static func content(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while true {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }

    var description: String { isStopped ? "process \(process), which is stopped" : "process \(process)" }
}
