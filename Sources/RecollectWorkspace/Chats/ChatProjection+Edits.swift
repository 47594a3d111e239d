import RecollectCore

/// Edits by people in a session's file.
extension ChatProjection {
    /// Returns the chat with the next numbers for edits by people in the file: these have no numbers of their own.
    /// - Parameters:
    ///   - isKnown: `false` if the person may not have had the base's contents: they do not count as replaced.
    ///   - earlier: Versions of the file. If one of them has a concurrent edit, an editor may have opened that version.
    func numbered(
        since base: ChatProjection?, isKnown: Bool = true, among earlier: AnySequence<ChatProjection> = AnySequence([])
    ) -> ChatProjection {
        guard isEdited, let base else { return self }
        let old = base.entriesByID
        let edited = editedIDs(since: base)
        // Of messages and titles edited on several devices at the same time, the person may have had another version.
        var contested: Set<ByteString> = []
        var isTitleContested = false
        for version in earlier {
            if version.titleRevision.isConcurrent(with: base.titleRevision) { isTitleContested = true }
            for entry in version.entries {
                let id = ByteString(entry.message.id)
                guard edited.contains(id), let base = old[id] else { continue }
                if entry.revision.isConcurrent(with: base.revision) { contested.insert(id) }
            }
        }
        let entries = entries.map { entry in
            let id = ByteString(entry.message.id)
            let revision = entry.revision.numbered(
                since: old[id]?.revision, isKnown: isKnown && !contested.contains(id))
            return Entry(agents: entry.agents, after: entry.after, message: entry.message, revision: revision)
        }
        // A file with neither a title nor a change of it has none to merge.
        let hasTitle = title != nil || titleRevision.number > 0
        return ChatProjection(
            session: session,
            title: hasTitle
                ? titleRevision.numbered(
                    since: base.titleRevision, isKnown: isKnown && !isTitleContested)
                : titleRevision,
            entries: entries, deletions: deletions, others: others, isIntact: isIntact, isEdited: isEdited,
            hasOtherContent: hasOtherContent)
    }

    /// The IDs of the messages with other contents in another version of the file.
    private func editedIDs(since base: ChatProjection) -> Set<ByteString> {
        let old = base.entriesByID
        return entries.reduce(into: []) { ids, entry in
            let id = ByteString(entry.message.id)
            if let before = old[id], before.content != entry.content { ids.insert(id) }
        }
    }

    /// Whether a person may have edited a message or the title of another version of the file.
    func hasEdits(since base: ChatProjection) -> Bool {
        titleRevision.content != base.titleRevision.content || !editedIDs(since: base).isEmpty
    }
}
