import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An ext4 file system in a file, whose power can be cut: what has not been synced by then is gone.
package final class CuttableDisk {
    package let url: URL
    private let image: URL

    /// - Parameter blockSize: The size of the file system's blocks, in bytes.
    package init(in folder: URL, blockSize: Int = 4096) throws {
        url = folder.appendingPathComponent("mounted")
        image = folder.appendingPathComponent("image")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Sparse, and large enough for a writer that goes on until a busy machine gets round to cutting the power.
        try Data().write(to: image)
        let handle = try FileHandle(forWritingTo: image)
        try handle.truncate(atOffset: 512 << 20)
        try handle.close()
        try run("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "\(blockSize)", image.path)
        try run("mount", "-o", "loop", image.path, url.path)
    }

    deinit {
        // What cannot be unmounted ends with the machine; there is nobody to tell.
        try? run("umount", "-l", url.path)
    }

    /// Shuts the file system down under whoever uses it, its journal unwritten. Nothing more can be done with it.
    package func cutPower() throws {
        let descriptor = open(url.path, O_RDONLY)
        defer { close(descriptor) }
        var withoutFlushing: UInt32 = 2
        guard ioctl(descriptor, 0x8004_587D, &withoutFlushing) == 0 else { throw CocoaError(.featureUnsupported) }
    }

    /// Switches on again, when nobody uses it any more.
    package func restart() throws {
        try run("umount", url.path)
        try run("mount", "-o", "loop", image.path, url.path)
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
