import RecollectCore

/// Edits by people in a session's file.
extension ChatProjection {
    /// Returns the chat with the next numbers for edits by people in the file: these have no numbers of their own.
    /// - Parameters:
    ///   - isKnown: `false` if the person may not have had the base's contents: they do not count as replaced.
    ///   - earlier: Versions of the file. A state of one of them may come from an editor that had opened it: its replacement is
    ///     not known to the person.
    func numbered(
        since base: ChatProjection?, isKnown: Bool = true, among earlier: [ChatProjection] = []
    ) -> ChatProjection {
        guard isEdited, let base else { return self }
        let old = base.entriesByID
        let edited = editedIDs(since: base)
        let states = earlier.reduce(into: Set<String>()) { states, chat in
            for entry in chat.entries where edited.contains(ByteString(entry.message.id)) {
                states.insert("\(entry.message.id)\u{0}\(entry.revision.state)")
            }
        }
        let titles = Set(earlier.map(\.titleRevision.state))
        let entries = entries.map { entry in
            let base = old[ByteString(entry.message.id)]?.revision
            let isEarlier = !states.isEmpty && states.contains("\(entry.message.id)\u{0}\(entry.revision.state)")
            let revision = entry.revision.numbered(since: base, isKnown: isKnown && !isEarlier)
            return Entry(agents: entry.agents, after: entry.after, message: entry.message, revision: revision)
        }
        // A file with neither a title nor a change of it has none to merge.
        let hasTitle = title != nil || titleRevision.number > 0
        return ChatProjection(
            session: session,
            title: hasTitle
                ? titleRevision.numbered(
                    since: base.titleRevision, isKnown: isKnown && !titles.contains(titleRevision.state))
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
