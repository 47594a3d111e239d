import Foundation
import RecollectCore

extension VersionArchive {
    /// Gives contents that no line of the log names a line, so that they can be found again: where a line of a device's lineage has one, as
    /// versions of that file, before those that the log has of it; else each as one of a file in the trash, `Recovered/<16 digits>.txt`.
    ///
    /// The log is begun anew: it is the old one or the new one at any moment.
    /// - Parameter lineage: What the devices tell of contents: lines of this device as it wrote them, and those of others as seen from here.
    /// - Returns: The files that got versions, in order.
    func recover(knowing lineage: [VersionLine]) throws -> [WorkspacePath] {
        try locked { folder, log in
            let contents = KeptContents(in: folder)
            let all = try contents.all()
            let unnamed = Set(all.keys).subtracting(log.index.hashes)
            var lines: [WorkspacePath: [VersionLine]] = [:]
            for line in lineage where unnamed.contains(line.version.hash) && !line.version.kind.isAbsence {
                if lines[line.path]?.contains(where: { $0.version.hash == line.version.hash }) ?? false { continue }
                lines[line.path, default: []].append(line.marked(.done))
            }
            let told = Set(lines.values.joined().map(\.version.hash))
            // What is not there any more was removed, else a look would wonder where it is.
            for (path, known) in lines where log.index.files[path] == nil {
                guard let last = known.last?.version else { continue }
                lines[path]?.append(Self.removal(of: last.hash, at: path, date: last.date))
            }
            for hash in unnamed.subtracting(told) {
                let name = try hash.rawValue.prefix(16) + (contents.beginsAsText(hash) ? ".txt" : "")
                let path = try WorkspacePath("Recovered").appending(String(name))
                lines[path] = [Self.removal(of: hash, at: path, date: all[hash] ?? .distantPast)]
            }
            if !lines.isEmpty {
                let found = lines.sorted { $0.key < $1.key }.flatMap(\.value)
                let known = log.index.lines(keeping: { _ in true }, isOpen: { _ in true })
                try log.begin(anew: found + known, in: folder)
            }
            _ = try ifThere { try folder.remove(Self.unnamedName) }
            return lines.keys.sorted()
        }
    }

    /// The damaged logs that were set aside.
    func damagedLogs() throws -> [URL] {
        try explaining("list", path) {
            let names = try ifThere { try OpenFolder(path: path).names() } ?? []
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
