import Foundation

/// A folder removed with the last reference.
package final class TemporaryFolder: Sendable {
    package let url: URL
    package var path: String { url.path }

    /// Creates a folder, in memory if the system has such a file system, because many syncs make a busy disk the
    /// slowest part of the tests.
    package init() throws {
        let memory = "/dev/shm"
        let base =
            FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        url = base.appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(url.path)") }
    }

    /// Writes a file, creates its folders, and returns its path.
    @discardableResult
    package func write(_ name: String, _ bytes: Data) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: file)
        return file.path
    }

    /// Writes a text file, creates its folders, and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String {
        try write(name, Data(text.utf8))
    }
}
