import Foundation
import RecollectCore

/// What the lines of an archive's log say, taken together.
struct VersionIndex {
    /// What is known of one path.
    struct File {
        /// Its versions, in the order in which they came to be.
        fileprivate(set) var versions: [WorkspaceVersion] = []
        /// Changes that were begun and of which nobody knows yet whether they were made.
        var begun: [VersionLine] = []
        /// The versions that were made on this device, for whoever made one and whoever found it made may both say so.
        fileprivate var own: Set<WorkspaceVersion> = []
        /// Where in the log its last line ends.
        var end = 0
        /// The content that it has; `nil` where it is not there.
        fileprivate(set) var content: ContentHash?
    }

    private(set) var files: [WorkspacePath: File] = [:]
    /// The content that each file has that is there.
    private(set) var contents: [WorkspacePath: ContentHash] = [:]
    private(set) var folded: Set<ContentHash> = []

    /// Takes in a line that ends at an offset of the log.
    mutating func apply(_ line: VersionLine, endingAt end: Int) {
        files[line.path, default: File()].apply(line, endingAt: end)
        contents[line.path] = files[line.path]?.content
        if line.mark == .done, line.version.kind == .folded { folded.insert(line.version.hash) }
    }

    /// The change, or where its file had one that is the same in every field, one that is a millisecond later: nobody who tells of one
    /// of them tells of the other.
    func unlikeOthers(_ change: VersionLine) -> VersionLine {
        guard let file = files[change.path] else { return change }
        var change = change
        while file.own.contains(change.version) || file.begun.contains(where: { $0.version == change.version }) {
            change.version = change.version.aMillisecondLater
        }
        return change
    }

    /// The changes of which nobody knew yet whether they were made, and which must have been: what came of them was replaced.
    func settled(by change: VersionLine) -> [VersionLine] {
        guard let file = files[change.path] else { return [] }
        let replaced = Set(change.version.parents + (change.version.kind.isAbsence ? [change.version.hash] : []))
        if let content = file.content, replaced.contains(content) { return [] }
        return file.begun.filter {
            replaced.contains($0.version.hash) && !$0.version.kind.isAbsence && !$0.isSameChange(as: change)
        }
    }

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
            begun.removeAll { $0.isSameChange(as: line) }
            guard line.version.author == nil || own.insert(line.version).inserted else { return }
            versions.append(line.version)
            content = line.version.kind.isAbsence ? nil : line.version.hash
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
