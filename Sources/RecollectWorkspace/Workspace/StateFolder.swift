import Crypto
import Foundation
import RecollectCore

/// The location of a workspace's state folder, outside the synced files.
enum StateFolder {
    /// Returns the configured folder, else the default folder.
    /// - Throws: `invalidArgument` for a folder inside the workspace, because it would be synced.
    static func url(_ asked: URL?, root: URL) throws -> URL {
        let url = asked ?? standard(root: root)
        guard isInside(url, root) else { return url }
        throw RecollectError(
            .invalidArgument,
            "the state folder \(url.path) is inside the workspace \(root.path) and would be synced with it: "
                + "move it out of the workspace, or use a subfolder as the workspace")
    }

    /// Returns the default folder of a workspace: in Application Support, named by a hash of the root's path.
    static func standard(root: URL) -> URL {
        let hash = SHA256.hash(data: Data(root.standardizedFileURL.resolvingSymlinksInPath().path.utf8))
            .lowercaseHexadecimal
        return DefaultDirectory.applicationSupport.appendingPathComponent("Recollect/Workspaces", isDirectory: true)
            .appendingPathComponent(String(hash.prefix(16)), isDirectory: true)
    }

    /// Whether a folder is in another one, by file identity, regardless of symbolic links and spelling. For a
    /// missing folder, the existing part of its path counts.
    private static func isInside(_ url: URL, _ root: URL) -> Bool {
        let root = identity(of: root)
        var url = url.standardizedFileURL
        while true {
            if identity(of: url) == root { return true }
            if FileManager.default.fileExists(atPath: url.path) { url = url.resolvingSymlinksInPath() }
            let parent = url.deletingLastPathComponent()
            if parent.path == url.path { return false }
            url = parent
        }
    }

    private static func identity(of url: URL) -> String {
        let path = url.standardizedFileURL.resolvingSymlinksInPath().path
        // A missing folder has no identity besides its path.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let device = attributes[.systemNumber] as? NSNumber, let file = attributes[.systemFileNumber] as? NSNumber
        else { return path }
        return "\(device) \(file)"
    }
}
