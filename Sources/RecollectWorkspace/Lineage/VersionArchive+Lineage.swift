import Foundation
import RecollectCore
import RecollectFileSystem

extension VersionArchive {
    /// Returns the state of this device's lineage log.
    func lineageWriter() throws -> LineageWriter {
        // An unreadable note is replaced: the device then writes a new log under a new name, and the old one stays.
        try note(Self.lineageName).flatMap { try? JSONDecoder().decode(LineageWriter.self, from: Data($0)) }
            ?? LineageWriter()
    }

    /// Adds the changes since the last call to the lineage log.
    ///
    /// Segments are missing in the log if they are returned here and never written, because the process is killed
    /// or the provider refuses them. Other devices then have fewer facts, but no false ones.
    /// - Parameter file: The content of the segment's file; `nil` if there is none.
    /// - Returns: The segments to write, and the names of the files to remove.
    func addToLineage(over file: [UInt8]?) throws -> (written: [LineageSegment], removed: [String]) {
        try locked { folder, log in
            var writer = try lineageWriter()
            let changes = try log.lines(since: writer.position, in: folder)
            var lines: [WorkspacePath: [WorkspaceVersion: [VersionLine]]] = [:]
            for path in Set(changes.map(\.path)) {
                guard let file = log.index.files[path] else { continue }
                // Of versions equal in every field, including the millisecond, the last one is published.
                lines[path] = Dictionary(
                    zip(file.versions, VersionLine.published(file.lineage, at: path)),
                    uniquingKeysWith: { _, last in last })
            }
            let published = changes.flatMap { line in
                line.mark == .done ? lines[line.path]?[line.version] ?? [] : []
            }
            guard !published.isEmpty else { return ([], []) }
            let result = writer.add(published, file: file)
            writer.position = log.position
            let note = try JSONEncoder().encode(writer)
            // Not synced to the disk: after a power cut the device writes a new log at worst.
            let (name, _) = try folder.stage { try $0.write(Array(note), at: 0) }
            try folder.rename(name, to: Self.lineageName)
            return result
        }
    }

    private static let lineageName = "lineage"
}
