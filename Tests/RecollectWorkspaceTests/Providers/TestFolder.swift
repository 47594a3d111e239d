import Foundation
import RecollectCore
import RecollectWorkspace

/// A temporary folder for one test, removed with the object: `root` for the workspace, with space beside it.
final class TestFolder: Sendable {
    let url: URL
    let root: URL

    init() throws {
        // In memory if the system has such a file system, because disk speed is not under test.
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        let base = isThere ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
        url = base.appendingPathComponent("recollect-\(UUID().uuidString)")
        root = url.appendingPathComponent("root")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes as another program does, replacing any existing file.
    func put(_ text: String, at path: String) throws {
        let url = root.appendingPathComponent(path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url, options: .atomic)
    }

    func text(at path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// All names in a folder, including hidden ones, sorted.
    func names(in path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(path).path).sorted()
    }
}

/// The names of a file's extended attributes, with their values as texts.
func attributes(of url: URL) throws -> [String: String] {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)[.extendedAttributes]
    return (attributes as? [String: Data] ?? [:]).mapValues { String(decoding: $0, as: UTF8.self) }
}

func setAttributes(_ attributes: [String: String], of url: URL) throws {
    let data = attributes.mapValues { Data($0.utf8) }
    try FileManager.default.setAttributes([.extendedAttributes: data], ofItemAtPath: url.path)
}

extension FileAttributeKey {
    fileprivate static let extendedAttributes = FileAttributeKey("NSFileExtendedAttributes")
}

extension FolderProvider {
    func text(_ path: String) throws -> String {
        String(decoding: try read(WorkspacePath(path), limit: 1 << 20), as: UTF8.self)
    }

    func write(_ text: String, to path: String, replacing old: String?) throws {
        try write(
            Array(text.utf8), to: WorkspacePath(path), replacing: old.map { ContentHash(of: $0.utf8) })
    }

    func names(_ folder: WorkspacePath = .root) throws -> [String] {
        try items(in: folder).map(\.path.name).sorted()
    }
}
