import RecollectCore

extension VersionArchive {
    /// The common base of contradicting versions of a file; `nil` if it is not known.
    ///
    /// It is the last content from elsewhere before the first of the versions, with every change on the way known to all writers. A writer
    /// knows a change if the version has most of its lines, as far as the content still has them. The lines of an unknown change
    /// would count as deleted.
    func shadowBase(of versions: [[UInt8]], contradicting: Set<ContentHash>, at path: WorkspacePath) throws -> [UInt8]?
    {
        guard let file = try index().files[path] else { return nil }
        let log = file.versions.prefix { !contradicting.contains($0.hash) }
        let earlier = try contents(of: log)
        // What led to the first content is not known if others came before it.
        let isComplete = earlier.count == log.count
        let writers = versions.map { (hash: ContentHash(of: $0), lines: Content.lines(of: $0)) }
        for place in earlier.indices.reversed() where earlier[place].version.kind == .seen {
            let content = earlier[place]
            let isKnown = writers.allSatisfy { writer in
                file.isAncestor(content.version.hash, of: writer.hash)
                    || earlier[...place].allSatisfy { change in
                        let added = change.added.intersection(content.lines)
                        let known = added.intersection(writer.lines).count
                        return known == added.count || known * 2 > added.count && (isComplete || !change.isFirst)
                    }
            }
            if isKnown { return content.bytes }
        }
        return nil
    }

    /// The bytes of a content; `nil` where it is not kept, or not any more as it was.
    func wholeBytes(of hash: ContentHash) throws -> [UInt8]? {
        do {
            return try bytes(of: hash)
        } catch let error as RecollectError where error.code == .damaged {
            return nil
        }
    }

    /// The contents of a file's last versions without a gap, within the limits.
    private func contents(of log: ArraySlice<WorkspaceVersion>) throws -> [Content] {
        var found: [(version: WorkspaceVersion, bytes: [UInt8])] = []
        var room = Self.mostBytesLookedAt
        for version in log.suffix(Self.mostLookedAt).reversed() {
            guard let bytes = try wholeBytes(of: version.hash), bytes.count <= room else { break }
            room -= bytes.count
            found.append((version, bytes))
        }
        return found.reversed().reduce(into: []) { contents, found in
            contents.append(Content(version: found.version, bytes: found.bytes, after: contents.last))
        }
    }

    /// The limits: versions of a file, and bytes in all.
    private static var mostLookedAt: Int { 256 }
    private static var mostBytesLookedAt: Int { 64_000_000 }
}

/// A content of a file and its change.
private struct Content {
    let version: WorkspaceVersion
    let bytes: [UInt8]
    let lines: Set<ArraySlice<UInt8>>
    /// The lines missing in the content before.
    let added: Set<ArraySlice<UInt8>>
    let isFirst: Bool

    init(version: WorkspaceVersion, bytes: [UInt8], after before: Content?) {
        self.version = version
        self.bytes = bytes
        lines = Self.lines(of: bytes)
        added = lines.subtracting(before?.lines ?? [])
        isFirst = before == nil
    }

    static func lines(of bytes: [UInt8]) -> Set<ArraySlice<UInt8>> {
        Set(bytes.split(separator: UInt8(ascii: "\n")))
    }
}
