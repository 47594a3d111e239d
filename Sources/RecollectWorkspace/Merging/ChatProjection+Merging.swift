import Foundation
import RecollectCore

extension ChatProjection {
    /// Merges versions of a chat. The order of the versions does not matter.
    ///
    /// The result has the messages of all versions, except messages listed as deleted by a version. These values
    /// merge independently: the title, each unknown member of the file, and the content, agent and `after` of each
    /// message. A value different from the base's wins. Of several such values, the greatest in byte order wins.
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
        let deleted = read.flatMap { merged.deletedTexts(of: $0, base: base) }
        return WorkspaceMerge.Result(bytes: merged.bytes, deleted: deleted, apart: apart.map(\.0))
    }

    static func merged(base: ChatProjection?, versions: [ChatProjection], session: String) -> ChatProjection {
        let old = base?.entriesByID ?? [:]
        let all = Dictionary(grouping: versions.flatMap(\.entries)) { ByteString($0.message.id) }
        let entries = all.compactMap { id, entries -> Entry? in
            let base = old[id]
            return newest(entries.map(\.message), base: base?.message, by: \.json).map { message in
                Entry(
                    agentId: newest(entries.map(\.agentId), base: base?.agentId) { ByteString($0) } ?? "",
                    after: newest(entries.map(\.after), base: base?.after) { ByteString($0 ?? "") } ?? nil,
                    message: message)
            }
        }
        let others = Dictionary(grouping: versions.flatMap(\.others), by: \.key).compactMapValues { members in
            newest(members.map(\.value), base: base?.others[members[0].key], by: \.json)
        }
        return ChatProjection(
            session: session,
            title: newest(versions.compactMap(\.title), base: base?.title) { ByteString($0) },
            entries: entries, deleted: versions.flatMap(\.deleted), others: others)
    }

    /// Returns the greatest value different from the base's; the base's if there is no other; `nil` for no values.
    private static func newest<Value>(
        _ values: [Value], base: Value?, by bytes: (Value) -> ByteString
    ) -> Value? {
        let all = values.map { (value: $0, bytes: bytes($0)) }
        let known = base.map(bytes)
        return (all.filter { $0.bytes != known }.max { $0.bytes < $1.bytes } ?? all.first)?.value
    }

    // MARK: Dropped changes

    /// Whether a version has a change, or content unknown to projections, missing in this merged chat.
    func lacksChanges(of version: ChatProjection, since base: ChatProjection?) -> Bool {
        version.hasOtherContent || !holds(version, base: base)
    }

    /// Whether a merged chat contains all changes of a version.
    private func holds(_ version: ChatProjection, base: ChatProjection?) -> Bool {
        let (merged, old) = (entriesByID, base?.entriesByID ?? [:])
        let gone = Set(deleted.map { ByteString($0) })
        func isKept<Value>(_ value: Value, _ merged: Value?, _ old: Value?, by bytes: (Value) -> ByteString) -> Bool {
            bytes(value) == merged.map(bytes) || bytes(value) == old.map(bytes)
        }
        return version.entries.allSatisfy { entry in
            let id = ByteString(entry.message.id)
            guard let there = merged[id] else {
                // Without a base entry, the message may have been changed since it was deleted.
                return gone.contains(id)
                    && old[id].map {
                        entry.message.json == $0.message.json && entry.agentId.hasSameBytes(as: $0.agentId)
                    } ?? false
            }
            return isKept(entry.message, there.message, old[id]?.message, by: \.json)
                && isKept(entry.agentId, there.agentId, old[id]?.agentId) { ByteString($0) }
        } && version.title.map { isKept($0, title, base?.title) { ByteString($0) } } ?? true
            && version.others.allSatisfy { isKept($1, others[$0], base?.others[$0], by: \.json) }
    }

    /// Returns the texts of a version's messages missing in a merged chat because another version lists them as
    /// deleted. A message without text is returned as JSON.
    private func deletedTexts(of version: ChatProjection, base: ChatProjection?) -> [String] {
        let gone = Set(deleted.map { ByteString($0) })
        return version.entries.filter { gone.contains(ByteString($0.message.id)) }.map(\.message).map {
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
    fileprivate var json: ByteString {
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
