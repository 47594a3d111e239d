import Foundation
import RecollectCore
import RecollectFileSystem

/// Records beside the versions: changes in doubt, chats at their last synchronization, and the metadata of trashed files.
extension VersionArchive {
    // MARK: Changes in doubt

    /// Returns the last change of a file if it was made and may not be durable.
    func unconfirmedChange(at path: WorkspacePath) throws -> VersionLine? {
        try unconfirmedChanges().last { $0.path == path }
    }

    /// Records the change in doubt of a file; `nil` removes the record.
    func setUnconfirmedChange(_ change: VersionLine?, at path: WorkspacePath) throws {
        let old = try unconfirmedChanges()
        guard change != nil || old.contains(where: { $0.path == path }) else { return }
        let lines = old.filter { $0.path != path } + [change].compactMap { $0 }
        try setNote(Self.unconfirmedName, lines.isEmpty ? nil : lines.flatMap(\.bytes))
    }

    private func unconfirmedChanges() throws -> [VersionLine] {
        (try note(Self.unconfirmedName) ?? []).split(separator: UInt8(ascii: "\n")).compactMap { VersionLine($0) }
    }

    private static let unconfirmedName = "unconfirmed"

    // MARK: Chats

    /// Returns a chat in the history at its last synchronization; `nil` if there was none.
    func synchronizedChat(at path: WorkspacePath) throws -> [UInt8]? {
        try withFileErrors("read", self.path) {
            try nilIfMissing {
                try OpenFolder(path: self.path).folder(Self.chatsFolder)
                    .file(Self.chatName(path), forWriting: false).readAll()
            }
        }
    }

    /// Records a chat in the history at its synchronization.
    func note(synchronized chat: [UInt8], at path: WorkspacePath) throws {
        try locked { folder, _ in
            try folder.makeFolder(Self.chatsFolder)
            _ = try folder.folder(Self.chatsFolder).replace(Self.chatName(path)) { try $0.write(chat, at: 0) }
        }
    }

    /// Locks the synchronization of a chat against others, in this or another process; `nil` while another one is running.
    func lockSynchronization(of path: WorkspacePath) throws -> SynchronizationLock? {
        try withFileErrors("write", self.path) {
            let folder = try OpenFolder.make(path: self.path)
            try folder.makeFolder(Self.chatsFolder)
            let chats = try folder.folder(Self.chatsFolder)
            let name = Self.chatName(path) + ".lock"
            let file: OpenFile
            do {
                file = try chats.makeFile(name)
            } catch let failure as POSIXFailure where failure.number == EEXIST {
                file = try chats.file(name, forWriting: true)
            }
            do {
                guard try file.lockIfFree() else { return nil }
            } catch let failure as POSIXFailure where OpenFolder.unable.contains(failure.number) {
                // The file system has no locks.
            }
            return SynchronizationLock(file)
        }
    }

    private static let chatsFolder = "chats"

    private static func chatName(_ path: WorkspacePath) -> String { ContentHash(of: path.description.utf8).rawValue }

    // MARK: Metadata of files

    /// Returns the URL of an empty file with a trashed file's metadata.
    func metadataURL(of path: WorkspacePath) -> URL {
        URL(fileURLWithPath: self.path + "/" + Self.detailsFolder + "/" + Self.detailsName(path), isDirectory: false)
    }

    /// Whether the archive has metadata of a file.
    func hasDetails(of path: WorkspacePath) -> Bool {
        FileManager.default.fileExists(atPath: metadataURL(of: path).path)
    }

    /// Removes the archived metadata of a file.
    func removeDetails(of path: WorkspacePath) throws {
        try withFileErrors("change", self.path) {
            _ = try nilIfMissing {
                try OpenFolder(path: self.path).folder(Self.detailsFolder).remove(Self.detailsName(path))
            }
        }
    }

    /// Removes the archived metadata of all files except some.
    /// - Parameter kept: The names of the files to keep, from `detailsName`.
    func removeDetails(but kept: Set<String>, in folder: OpenFolder) throws {
        guard let details = try nilIfMissing({ try folder.folder(Self.detailsFolder) }) else { return }
        for name in try details.names() where !kept.contains(name) { try details.remove(name) }
    }

    /// Returns the name for the archived metadata of a file.
    static func detailsName(_ path: WorkspacePath) -> String { ContentHash(of: path.description.utf8).rawValue }

    private static let detailsFolder = "details"
}

/// The lock of a chat's synchronization, held until it is released.
///
/// `@unchecked Sendable`: the file is only closed.
final class SynchronizationLock: @unchecked Sendable {
    private let file: OpenFile

    fileprivate init(_ file: OpenFile) {
        self.file = file
    }
}
