import Foundation

/// A file system of a few hundred kilobytes. It needs root and the permission to mount.
package final class TinyDisk {
    package let url: URL

    package init(at url: URL, kilobytes: Int) throws {
        self.url = url
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", url.path)
    }

    deinit {
        try? run("umount", "-l", url.path)
    }

    package func resize(kilobytes: Int) throws {
        try run("mount", "-o", "remount,size=\(kilobytes)k", url.path)
    }

    /// Fills the disk with a file named `filler`.
    package func fill() {
        fillDisk(at: url)
    }

    package func makeReadOnly() throws {
        // The disk is busy while a process started by another test has not yet closed the files open here.
        for _ in 0..<50 {
            if (try? run("mount", "-o", "remount,ro", url.path)) != nil { return }
            usleep(20_000)
        }
        try run("mount", "-o", "remount,ro", url.path)
    }

    package static let isPossible: Bool = {
        #if os(Linux)
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(
                "recollect-disk-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: url) }
            return (try? TinyDisk(at: url, kilobytes: 64)) != nil
        #else
            return false
        #endif
    }()
}

/// Fills the file system of a folder with a file named `filler`, to the last byte.
package func fillDisk(at folder: URL) {
    var size = 1 << 20
    while size > 0 {
        let handle = open(
            folder.appendingPathComponent("filler").path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let bytes = [UInt8](repeating: 1, count: size)
        if write(handle, bytes, size) < size { size /= 2 }
        close(handle)
    }
}

/// The failure of a command, with its messages.
package struct CommandFailure: Error {
    package let command: [String]
    package let output: String
}

/// Runs a command and throws if it fails.
package func run(_ command: String...) throws {
    try Need.requireMet("its `.needs(…)`")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    let messages = Pipe()
    process.standardError = messages
    try process.run()
    let output = remainingBytes(of: messages.fileHandleForReading)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
        throw CommandFailure(command: command, output: String(decoding: output, as: UTF8.self))
    }
}
