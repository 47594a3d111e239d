import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An ext4 file system in a file, for tests of a power loss: content that was not synced is lost.
package final class CuttableDisk {
    package let url: URL
    private let image: URL

    /// - Parameter blockSize: The size of the file system's blocks, in bytes.
    package init(in folder: URL, blockSize: Int = 4096) throws {
        url = folder.appendingPathComponent("mounted")
        image = folder.appendingPathComponent("image")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Sparse, and large enough for a writer that continues until a busy machine cuts the power.
        try Data().write(to: image)
        let handle = try FileHandle(forWritingTo: image)
        try handle.truncate(atOffset: 512 << 20)
        try handle.close()
        try run("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "\(blockSize)", image.path)
        try run("mount", "-o", "loop", image.path, url.path)
    }

    deinit {
        // A failure to unmount cannot be reported here; the mount ends with the machine.
        try? run("umount", "-l", url.path)
    }

    /// Shuts the file system down while it is in use, without writing its journal. It cannot be used until `restart()`.
    package func cutPower() throws {
        let descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        var withoutFlushing: UInt32 = 2
        guard ioctl(descriptor, 0x8004_587D, &withoutFlushing) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    /// Mounts the file system again. It must not be in use any more.
    package func restart() throws {
        try unmount()
        try run("mount", "-o", "loop", image.path, url.path)
    }

    /// Unmounts the file system. A process that another test is starting has copies of all open files for a moment.
    private func unmount() throws {
        for _ in 0..<100 {
            do { return try run("umount", url.path) } catch let failure as CommandFailure {
                guard failure.output.contains("busy") else { throw failure }
            }
            usleep(50_000)
        }
        try run("umount", url.path)
    }

    package static let isPossible: Bool = {
        #if os(Linux)
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            guard let disk = try? CuttableDisk(in: folder) else { return false }
            return (try? disk.cutPower()) != nil
        #else
            return false
        #endif
    }()
}
