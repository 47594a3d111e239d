import Foundation
import RecollectCore
import RecollectFileSystem

extension VersionArchive {
    /// Adds lines to the log for contents without one, so that they can be found again.
    ///
    /// A content found in the lineage becomes a version of the file named there, older than the versions in the
    /// log. Any other content becomes the last content of a file in the trash, named `Recovered/<16 digits>`, with
    /// the extension `.txt` for text. The log is replaced atomically. Then pruning may again remove contents
    /// without a line.
    /// - Parameter lineage: The lineage of contents by all devices: this device's lines as written, and other
    ///   devices' lines as seen on this device.
    /// - Returns: The files with added versions, in order.
    func recover(knowing lineage: [VersionLine]) throws -> [WorkspacePath] {
        try locked { folder, log in
            let contents = ContentStore(in: folder)
            let all = try contents.all()
            let unnamed = Set(all.keys).subtracting(log.index.hashes)
            var lines: [WorkspacePath: [VersionLine]] = [:]
            for line in lineage where unnamed.contains(line.version.hash) && !line.version.kind.isAbsence {
                if lines[line.path]?.contains(where: { $0.version.hash == line.version.hash }) ?? false { continue }
                lines[line.path, default: []].append(line.marked(.done))
            }
            let logged = Set(lines.values.joined().map(\.version.hash))
            // A file absent from the log's index gets a removal as its last version; otherwise, a scan would
            // expect the file.
            for (path, known) in lines where log.index.files[path] == nil {
                guard let last = known.last?.version else { continue }
                lines[path]?.append(Self.removal(of: last.hash, at: path, date: last.date))
            }
            for hash in unnamed.subtracting(logged) {
                let name = try hash.rawValue.prefix(16) + (contents.beginsAsText(hash) ? ".txt" : "")
                let path = try WorkspacePath("Recovered").appending(String(name))
                lines[path] = [Self.removal(of: hash, at: path, date: all[hash] ?? .distantPast)]
            }
            if !lines.isEmpty {
                let found = lines.sorted { $0.key < $1.key }.flatMap(\.value)
                let known = log.index.lines(keeping: { _ in true }, isOpen: { _ in true })
                try log.replaceLines(with: found + known, in: folder)
            }
            _ = try nilIfMissing { try folder.remove(Self.unnamedName) }
            return lines.keys.sorted()
        }
    }

    /// Returns the URLs of the damaged logs set aside.
    func damagedLogs() throws -> [URL] {
        try withFileErrors("list", path) {
            let names = try nilIfMissing { try OpenFolder(path: path).names() } ?? []
            return names.filter { $0.hasPrefix(Self.damagedLogPrefix) }.sorted().map {
                URL(fileURLWithPath: path + "/" + $0, isDirectory: false)
            }
        }
    }

    private static func removal(of hash: ContentHash, at path: WorkspacePath, date: Date) -> VersionLine {
        VersionLine(
            mark: .done, path: path,
            version: WorkspaceVersion(hash: hash, date: date.wholeMilliseconds, author: nil, kind: .removed))
    }
}
