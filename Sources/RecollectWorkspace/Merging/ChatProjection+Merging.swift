import Foundation
import RecollectCore

extension ChatProjection {
    /// Merges versions of a chat. The order of the versions does not matter.
    ///
    /// The result has the messages of all versions, except messages listed as deleted by a version and not restored by
    /// another. These values merge independently: the title, each unknown member of the file, and the content, agents and
    /// `after` of each message. Of titles and contents, the greatest revision wins. Otherwise a value different from the
    /// base's wins. Of several such values, the greatest in byte order wins.
    /// - Parameters:
    ///   - base: A common ancestor; `nil` if none is known.
    ///   - versions: At least one.
    /// - Returns: `nil` if a version is not a chat of this format, or the versions belong to different sessions.
    static func mergedAndChecked(base: [UInt8]?, versions: [[UInt8]]) -> WorkspaceMerge.Result? {
        // An unreadable base is ignored: the merge runs without one.
        let base = base.flatMap { try? ChatProjection(bytes: $0) }
        var read: [ChatProjection] = []
        for version in versions {
            // An unreadable version makes the merge impossible, for any error.
            guard let projection = try? ChatProjection(bytes: version) else { return nil }
            read.append(projection)
        }
        guard let first = read.first,
            read.allSatisfy({ $0.session.hasSameBytes(as: first.session) })
        else { return nil }
        let merged = merged(base: base, versions: read, session: first.session)
        let apart = zip(versions, read).filter { merged.lacksChanges(of: $1, since: base) }
        let deleted = read.flatMap(merged.deletedTexts)
        return WorkspaceMerge.Result(bytes: merged.bytes, deleted: deleted, apart: apart.map(\.0))
    }

    static func merged(base: ChatProjection?, versions: [ChatProjection], session: String) -> ChatProjection {
        let old = base?.entriesByID ?? [:]
        let all = Dictionary(grouping: versions.flatMap(\.entries)) { ByteString($0.message.id) }
        let entries = all.compactMap { id, all -> Entry? in
            let restores = all.map(\.restores).max() ?? 0
            let base = old[id].flatMap { $0.restores == restores ? $0 : nil }
            let entries = all.filter { $0.restores == restores }
            guard let (newest, revision) = Self.newest(entries.map { ($0, $0.revision) }, base: base, by: \.content)
            else { return nil }
            let agents = Self.newest(entries.map { ($0.agents, 0) }, base: base?.agents, by: \.json)?.value
            let after = Self.newest(entries.map { ($0.after, 0) }, base: base?.after) { ByteString($0 ?? "") }?.value
            let equal = entries.filter { $0.revision == revision && $0.content == newest.content }
            return Entry(
                agents: agents ?? [], after: after ?? nil, message: newest.message, revision: revision,
                restores: restores, replaced: equal.reduce(into: []) { $0.formUnion($1.replaced) })
        }
        let others = Dictionary(grouping: versions.flatMap(\.others), by: \.key).compactMapValues { members in
            newest(members.map { ($0.value, 0) }, base: base?.others[members[0].key], by: \.json)?.value
        }
        // A version with neither a title nor a change of it has none to merge.
        let titles = versions.filter { $0.title != nil || $0.titleRevision > 0 }.map { ($0.title, $0.titleRevision) }
        let title = newest(titles, base: base?.title) { ByteString($0 ?? "") }
        return ChatProjection(
            session: session, title: title?.value ?? nil, titleRevision: title?.revision ?? 0, entries: entries,
            deletions: Dictionary(versions.flatMap(\.deletions), uniquingKeysWith: max), others: others)
    }

    /// Returns the value with the greatest revision. Of several, returns one different from the base's, and of several
    /// of those the greatest in byte order; `nil` for no values.
    private static func newest<Value>(
        _ values: [(Value, revision: Int)], base: Value?, by bytes: (Value) -> ByteString
    ) -> (value: Value, revision: Int)? {
        let revision = values.map(\.revision).max()
        let all = values.filter { $0.revision == revision }.map { (value: $0.0, bytes: bytes($0.0)) }
        let known = base.map(bytes)
        let newest = all.filter { $0.bytes != known }.max { $0.bytes < $1.bytes } ?? all.first
        return newest.map { ($0.value, revision ?? 0) }
    }

    // MARK: Dropped changes

    /// Whether a version has a change, or content unknown to projections, missing in this merged chat.
    /// - Parameter isReplaced: Whether a title (with the ID `nil`) or a message is known to be replaced by a later change.
    func lacksChanges(
        of version: ChatProjection, since base: ChatProjection?,
        unless isReplaced: (_ id: ByteString?, _ content: ByteString) -> Bool = { _, _ in false }
    ) -> Bool {
        version.hasOtherContent || !holds(version, base: base, isReplaced)
    }

    /// Whether a merged chat contains all changes of a version.
    private func holds(
        _ version: ChatProjection, base: ChatProjection?, _ isReplaced: (ByteString?, ByteString) -> Bool
    ) -> Bool {
        let (merged, old) = (entriesByID, base?.entriesByID ?? [:])
        func isKept(_ value: ByteString, _ merged: ByteString?, _ old: ByteString?) -> Bool {
            value == merged || value == old
        }
        func isKept(_ title: String) -> Bool {
            let content = ByteString(title)
            return isKept(content, self.title.map { ByteString($0) }, base?.title.map { ByteString($0) })
                || isReplaced(nil, content)
        }
        let holdsEntries = version.entries.allSatisfy { entry in
            let id = ByteString(entry.message.id)
            let agents = entry.agents.json
            guard let there = merged[id] else {
                // Without a base entry, the message may have been changed since it was deleted.
                return deletions[id] != nil
                    && (isReplaced(id, entry.content)
                        || old[id].map { entry.content == $0.content && agents == $0.agents.json } ?? false)
            }
            return (isKept(entry.content, there.content, old[id]?.content) || isReplaced(id, entry.content))
                && (Set(entry.agents).isSubset(of: there.agents)
                    || isKept(agents, there.agents.json, old[id]?.agents.json))
        }
        return holdsEntries && version.title.map(isKept) ?? true
            && version.others.allSatisfy { isKept($1.json, others[$0]?.json, base?.others[$0]?.json) }
    }

    /// Returns the texts of a version's messages missing in a merged chat because another version lists them as
    /// deleted. A message without text is returned as JSON.
    private func deletedTexts(of version: ChatProjection) -> [String] {
        version.entries.filter { deletions[ByteString($0.message.id)] != nil }.map(\.message).map {
            $0.text.isEmpty ? $0.json.string : $0.text
        }
    }

    /// The entries by the bytes of their message IDs.
    var entriesByID: [ByteString: Entry] {
        Dictionary(entries.map { (ByteString($0.message.id), $0) }) { first, _ in first }
    }
}

extension ConversationMessage {
    /// The canonical JSON text.
    var json: ByteString {
        var writer = JSONWriter()
        writer.object { $0.members(of: self) }
        return ByteString(writer.text)
    }
}

extension [String] {
    /// The canonical JSON text.
    fileprivate var json: ByteString {
        var writer = JSONWriter()
        writer.write(list: self) { $0.write($1) }
        return ByteString(writer.text)
    }
}

extension JSONValue {
    /// The canonical JSON text.
    fileprivate var json: ByteString {
        var writer = JSONWriter()
        writer.write(self)
        return ByteString(writer.text)
    }
}
