import Foundation
import RecollectCore

/// What the archive keeps beside versions: the last changes that are in doubt.
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
}
