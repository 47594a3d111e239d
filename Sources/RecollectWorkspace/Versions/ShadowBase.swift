import RecollectCore

extension VersionArchive {
    /// The content that versions of a file which contradict each other came from; `nil` where nobody here knows.
    ///
    /// It is the last one from elsewhere that was here before any of them, for of versions that contradict each other none came from
    /// another, and that all of them know: whoever wrote a version that has most of the lines which were new in a content had that before
    /// them. What an editor on this device wrote, or a third device, some version's writer may never have seen; taken for the
    /// base, all that is in it would count as deleted by them.
    func shadowBase(of versions: [[UInt8]], contradicting: Set<ContentHash>, at path: WorkspacePath) throws -> [UInt8]?
    {
        guard let file = try index().files[path] else { return nil }
        let log = file.versions.prefix { !contradicting.contains($0.hash) }
        for place in log.indices.suffix(Self.mostLookedAt).reversed() where log[place].kind == .seen {
            let hash = log[place].hash
            guard let bytes = try wholeBytes(of: hash) else { continue }
            let before = place > 0 ? try wholeBytes(of: log[place - 1].hash) ?? [] : []
            let change = Change(from: before, to: bytes)
            let isKnown = versions.allSatisfy {
                file.isAncestor(hash, of: ContentHash(of: $0)) || change.isKnown(toWriterOf: $0)
            }
            if isKnown { return bytes }
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

    /// How many of a file's last versions may be its base.
    private static var mostLookedAt: Int { 64 }

    /// What one version had that the one before it did not, and the other way round.
    private struct Change {
        private let added: Set<ArraySlice<UInt8>>
        private let removed: Set<ArraySlice<UInt8>>

        init(from old: [UInt8], to new: [UInt8]) {
            let (old, new) = (Self.lines(of: old), Self.lines(of: new))
            added = new.subtracting(old)
            removed = old.subtracting(new)
        }

        func isKnown(toWriterOf version: [UInt8]) -> Bool {
            let lines = Self.lines(of: version)
            guard !added.isEmpty else { return removed.isDisjoint(with: lines) }
            return added.intersection(lines).count * 2 > added.count
        }

        private static func lines(of bytes: [UInt8]) -> Set<ArraySlice<UInt8>> {
            Set(bytes.split(separator: UInt8(ascii: "\n")))
        }
    }
}
