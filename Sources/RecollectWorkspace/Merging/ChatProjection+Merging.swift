import Foundation
import RecollectCore

extension ChatProjection {
    /// Merges versions of a chat. The order of the versions does not matter.
    ///
    /// The result has the messages of all versions, except messages listed as deleted by a version and not restored by
    /// another. These values merge independently: the title, each unknown member of the file, and the content, agents and
    /// `after` of each message. Of titles and contents, the latest revision wins. A message has the agents of all versions.
    /// Of the others, a value different from the base's wins, and of several such values, the greatest in byte order.
    ///
    /// Agents may have different messages with one ID. The file has one of them, and the others are no versions of it.
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
        let numbered = read.map { $0.numbered(since: base) }
        let merged = merged(base: base, versions: numbered, session: first.session)
        let apart = zip(versions, numbered).filter { merged.lacksChanges(of: $1, since: base) }
        let deleted = read.flatMap(merged.deletedTexts)
        return WorkspaceMerge.Result(bytes: merged.bytes, deleted: deleted, apart: apart.map(\.0))
    }

    static func merged(base: ChatProjection?, versions: [ChatProjection], session: String) -> ChatProjection {
        let old = base?.entriesByID ?? [:]
        let all = Dictionary(grouping: versions.flatMap(\.entries)) { ByteString($0.message.id) }
        let entries = all.compactMap { id, all -> Entry? in
            let entries = oneMessage(all, of: old[id])
            guard let latest = ChatRevision.latest(entries.map(\.revision)),
                let entry = entries.first(where: { $0.content == latest.content })
            else { return nil }
            let base = old[id].flatMap { $0.revision.restores == latest.restores ? $0 : nil }
            let after = greatestChange(entries.map(\.after), since: base?.after) { ByteString($0 ?? "") } ?? nil
            return Entry(agents: entries.flatMap(\.agents), after: after, message: entry.message, revision: latest)
        }
        let others = Dictionary(grouping: versions.flatMap(\.others), by: \.key).compactMapValues { members in
            greatestChange(members.map(\.value), since: base?.others[members[0].key], by: \.json)
        }
        return ChatProjection(
            session: session,
            title: ChatRevision.latest(versions.map(\.titleRevision)) ?? ChatRevision(content: ByteString("")),
            entries: entries, deletions: Dictionary(versions.flatMap(\.deletions), uniquingKeysWith: Deletion.joined),
            others: others)
    }

    /// Returns the entries that are versions of one message, after its last restore. Agents may have different messages
    /// with one ID: the base's message stays in the file, or else the one with the latest revision.
    private static func oneMessage(_ all: [Entry], of base: Entry?) -> [Entry] {
        let restores = all.map(\.revision.restores).max()
        let all = all.filter { $0.revision.restores == restores }
        if let base, base.revision.restores == restores {
            let versions = all.filter { $0.isVersion(of: base) }
            if !versions.isEmpty { return versions }
        }
        let latest = ChatRevision.latest(all.map(\.revision))
        guard let entry = all.first(where: { $0.content == latest?.content }) else { return [] }
        return all.filter { $0.isVersion(of: entry) }
    }

    /// Returns a value different from the base's. Of several, returns the greatest in byte order; `nil` for no values.
    private static func greatestChange<Value>(
        _ values: [Value], since base: Value?, by bytes: (Value) -> ByteString
    ) -> Value? {
        let known = base.map(bytes)
        return values.map { (value: $0, bytes: bytes($0)) }.filter { $0.bytes != known }
            .max { $0.bytes < $1.bytes }?.value ?? values.first
    }

    // MARK: Dropped changes

    /// Whether a version has a change, or content unknown to projections, missing in this merged chat.
    /// - Parameter replaced: The states known to be replaced before their messages were deleted.
    func lacksChanges(
        of version: ChatProjection, since base: ChatProjection?, replaced: [ByteString: Set<String>] = [:]
    ) -> Bool {
        version.hasOtherContent || !holds(version, base: base, replaced)
    }

    /// Whether a merged chat contains all changes of a version.
    private func holds(
        _ version: ChatProjection, base: ChatProjection?, _ replaced: [ByteString: Set<String>]
    ) -> Bool {
        let (merged, old) = (entriesByID, base?.entriesByID ?? [:])
        func isKept(_ value: ByteString, _ merged: ByteString?, _ old: ByteString?) -> Bool {
            value == merged || value == old
        }
        let title = version.titleRevision
        let holdsTitle =
            version.title == nil || titleRevision.follows(title) || title.content == base?.titleRevision.content
        let holdsEntries = version.entries.allSatisfy { entry in
            let id = ByteString(entry.message.id)
            guard let there = merged[id] else {
                // Without a base entry, the message may have been changed since it was deleted.
                return deletions[id] != nil
                    && (replaced[id]?.contains(entry.revision.state) ?? false
                        || old[id].map { entry.content == $0.content && entry.hasAgents(of: $0) } ?? false)
            }
            // The entry of other agents is another message.
            return there.revision.follows(entry.revision)
                || there.concerns(entry.agents) && entry.content == old[id]?.content
        }
        return holdsEntries && holdsTitle
            && version.others.allSatisfy { isKept($1.json, others[$0]?.json, base?.others[$0]?.json) }
    }

    /// Returns the texts of a version's messages missing in a merged chat because another version lists them as
    /// deleted. A message without text is returned as JSON.
    private func deletedTexts(of version: ChatProjection) -> [String] {
        version.entries.filter { deletions[ByteString($0.message.id)] != nil }.map(\.message).map {
            $0.text.isEmpty ? $0.json.string : $0.text
        }
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

extension JSONValue {
    /// The canonical JSON text.
    fileprivate var json: ByteString {
        var writer = JSONWriter()
        writer.write(self)
        return ByteString(writer.text)
    }
}
