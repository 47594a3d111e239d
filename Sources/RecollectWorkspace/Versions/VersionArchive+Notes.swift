import Foundation
import RecollectCore

/// What the archive keeps beside versions: the last changes that are in doubt, and what trashed files had beside their contents.
extension VersionArchive {
    // MARK: Changes in doubt

    /// The last change of a file, if it was made and could not be brought onto the disk for certain.
    func inDoubt(at path: WorkspacePath) throws -> VersionLine? {
        try changesInDoubt().last { $0.path == path }
    }

    /// Notes which change of a file is in doubt; with `nil` that none is.
    func setInDoubt(_ change: VersionLine?, at path: WorkspacePath) throws {
        let old = try changesInDoubt()
        guard change != nil || old.contains(where: { $0.path == path }) else { return }
        let lines = old.filter { $0.path != path } + [change].compactMap { $0 }
        try setNote(Self.inDoubtName, lines.isEmpty ? nil : lines.flatMap(\.bytes))
    }

    private func changesInDoubt() throws -> [VersionLine] {
        (try note(Self.inDoubtName) ?? []).split(separator: UInt8(ascii: "\n")).compactMap { VersionLine($0) }
    }

    private static let inDoubtName = "in-doubt"

    // MARK: What files have beside their contents

    /// Where what a file has beside its content is kept, as that of an empty file.
    func detailsURL(of path: WorkspacePath) -> URL {
        URL(fileURLWithPath: self.path + "/" + Self.detailsFolder + "/" + Self.detailsName(path), isDirectory: false)
    }

    /// Whether anything is kept of a file beside its content.
    func hasDetails(of path: WorkspacePath) -> Bool {
        FileManager.default.fileExists(atPath: detailsURL(of: path).path)
    }

    /// Forgets what a file has beside its content.
    func removeDetails(of path: WorkspacePath) throws {
        try explaining("change", self.path) {
            _ = try ifThere {
                try OpenFolder(path: self.path).folder(Self.detailsFolder).remove(Self.detailsName(path))
            }
        }
    }

    /// Forgets what is kept of all files but some.
    func removeDetails(but kept: Set<String>, in folder: OpenFolder) throws {
        guard let details = try ifThere({ try folder.folder(Self.detailsFolder) }) else { return }
        for name in try details.names() where !kept.contains(name) { try details.remove(name) }
    }

    /// The name for what is kept of a file.
    static func detailsName(_ path: WorkspacePath) -> String { ContentHash(of: path.description.utf8).rawValue }

    private static let detailsFolder = "details"
}
