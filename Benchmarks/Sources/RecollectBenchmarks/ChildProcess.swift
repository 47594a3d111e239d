import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Another program, run to its end.
enum ChildProcess {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Runs a program found by the shell. Blocks.
    static func run(_ program: String, _ arguments: [String]) throws -> (output: String, nanoseconds: UInt64) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        var output = Data()
        let nanoseconds = try time {
            try process.run()
            output = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
        }
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "\(program) \(arguments.joined(separator: " ")) ended with \(process.terminationStatus)")
        }
        return (String(decoding: output, as: UTF8.self), nanoseconds)
    }

    /// The largest resident memory of this process so far, in bytes.
    static var peakMemory: Int {
        var usage = rusage()
        // The headers of Glibc give RUSAGE_SELF another type than the parameter's.
        getrusage(0, &usage)
        #if canImport(Darwin)
            return usage.ru_maxrss
        #else
            return usage.ru_maxrss * 1024
        #endif
    }

    /// The resident memory of this process now, in bytes; on systems without a file for it, the maximum so far.
    static var memory: Int {
        // The second number is the number of resident pages.
        guard let reported = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = reported.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return peakMemory }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
