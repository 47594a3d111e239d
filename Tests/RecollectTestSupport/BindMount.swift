import Foundation

/// A second path of a file or folder. It needs root and the permission to mount.
package final class BindMount: Sendable {
    private let target: URL

    /// Mounts a file or folder over another one of its kind.
    package init(of source: URL, at target: URL, isReadOnly: Bool = false) throws {
        self.target = target
        try run("mount", "--bind", source.path, target.path)
        if isReadOnly { try run("mount", "-o", "remount,bind,ro", target.path) }
    }

    deinit {
        // A mount that cannot be removed ends with the machine.
        try? run("umount", "-l", target.path)
    }

    package static let isPossible: Bool = {
        #if os(Linux)
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(
                "recollect-mount-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: url) }
            guard (try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)) != nil else {
                return false
            }
            return (try? BindMount(of: url, at: url)) != nil
        #else
            return false
        #endif
    }()
}
