import Foundation
import RecollectCore

/// What the lines of an archive's log say, taken together.
struct VersionIndex {
    /// What is known of one path.
    struct File {
        /// Its versions, in the order in which they came to be.
        var versions: [WorkspaceVersion] = []
        /// Changes that were begun and of which nobody knows yet whether they were made.
        var begun: [VersionLine] = []
        /// Where in the log its last line ends.
        var end = 0

        /// The content that it has; `nil` where it is not there.
        var content: ContentHash? { versions.last.flatMap { $0.kind.isAbsence ? nil : $0.hash } }
    }

    private(set) var files: [WorkspacePath: File] = [:]
    private(set) var folded: Set<ContentHash> = []

    /// Takes in a line that ends at an offset of the log.
    mutating func apply(_ line: VersionLine, endingAt end: Int) {
        files[line.path, default: File()].apply(line, endingAt: end)
        if line.mark == .done, line.version.kind == .folded { folded.insert(line.version.hash) }
    }

    /// The content that each file has that is there.
    var contents: [WorkspacePath: ContentHash] { files.compactMapValues(\.content) }

    /// The lines that a log must have to say the same without some versions.
    func lines(keeping isKept: (WorkspaceVersion) -> Bool) -> [VersionLine] {
        files.sorted { $0.key < $1.key }.flatMap { path, file in
            let last = file.versions.count - 1
            let base = file.versions.lastIndex { $0.kind == .seen }
            let isThere = file.content != nil
            return file.versions.indices.filter { index in
                isKept(file.versions[index]) || isThere && (index == base || index == last)
            }.map { VersionLine(mark: .done, path: path, version: file.versions[$0]) }
                + file.begun.filter { isKept($0.version) }
        }
    }
}

extension VersionIndex.File {
    fileprivate mutating func apply(_ line: VersionLine, endingAt end: Int) {
        self.end = end
        switch line.mark {
        case .begun: begun.append(line)
        case .withdrawn: begun.removeAll { $0.isSameChange(as: line) }
        case .done:
            let wasBegun = begun.contains { $0.isSameChange(as: line) }
            begun.removeAll { $0.isSameChange(as: line) }
            // Whoever made a change and whoever found it made may both have said so.
            let isTold = !wasBegun && line.version.author != nil && versions.suffix(16).contains(line.version)
            guard !isTold else { return }
            versions.append(line.version)
        }
    }

    /// Whether one content went into another on this device, and not the other way round too.
    func isAncestor(_ ancestor: ContentHash, of descendant: ContentHash) -> Bool {
        ancestor != descendant && leads(from: descendant, to: ancestor) && !leads(from: ancestor, to: descendant)
    }

    private func leads(from descendant: ContentHash, to ancestor: ContentHash) -> Bool {
        var parents: [ContentHash: Set<ContentHash>] = [:]
        for version in versions where version.author != nil {
            parents[version.hash, default: []].formUnion(version.parents)
        }
        var reached: Set<ContentHash> = [descendant]
        var rest = [descendant]
        while let hash = rest.popLast() {
            if hash == ancestor { return true }
            rest += parents[hash, default: []].filter { reached.insert($0).inserted }
        }
        return false
    }
}
