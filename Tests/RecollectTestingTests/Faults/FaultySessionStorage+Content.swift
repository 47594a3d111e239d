import Foundation
import RecollectCore

/// The faults in the content of transcripts and messages.
extension FaultySessionStorage {
    /// Returns the transcript after a save; in a correct storage, the saved one.
    func merged(_ wanted: [ChatMessage], into drawer: SessionShelfState.Drawer) throws -> [ChatMessage] {
        let before = drawer.messages
        let known = Dictionary(before.map { ($0.id, $0) }) { first, _ in first }
        let new = wanted.filter { known[$0.id] == nil }
        let edited = wanted.filter { known[$0.id] != nil }
        switch fault {
        case .sortsByClock: return wanted.sorted { $0.timestamp < $1.timestamp }
        case .duplicatesOnTheSecondSave:
            return before.count > 1 && new.count == 2 ? before + wanted : wanted
        case .failsOnKnownIds where !edited.isEmpty && new.isEmpty && edited.count == before.count:
            throw RecollectError(.invalidArgument, "UNIQUE constraint failed: messages.id")
        case .seesEditsOfTextAlone:
            return wanted.map { message in
                guard let old = known[message.id], old.content == message.content else { return message }
                return old
            }
        case .appendsWhatIsNew: return edited + new
        case .runsOutOfRoom where before.count > 60: return edited + new
        case .neverRemoves:
            let ids = Set(wanted.map(\.id))
            return wanted + before.filter { !ids.contains($0.id) }
        case .keepsTheOrderOfKnownMessages where Set(known.keys) == Set(wanted.map(\.id)):
            let now = Dictionary(wanted.map { ($0.id, $0) }) { first, _ in first }
            return before.compactMap { now[$0.id] }
        case .editsOrRemoves where edited.count < before.count: return wanted.map { known[$0.id] ?? $0 }
        case .capsATranscript: return Array(wanted.prefix(1000))
        case .losesTrackOnRenaming:
            let ids = Set(wanted.map(\.id))
            return wanted + before.filter { drawer.stuckIDs.contains($0.id) && !ids.contains($0.id) }
        case .removesOnlyWhatItSaved:
            let ids = Set(wanted.map(\.id)).union(memory.withLock { $0.savedIDs })
            return wanted + before.filter { !ids.contains($0.id) }
        default: return wanted
        }
    }

    /// Returns the message as stored; unchanged in a correct storage.
    func saved(_ message: ChatMessage) -> ChatMessage? {
        var message = message
        switch fault {
        case .keepsCompleteMessagesAlone where !message.isComplete: return nil
        case .foldsUnknownKinds:
            if message.messageType.rawValue == "hologram" { message.messageType = .text }
        case .forgetsTaskGroups: message.taskGroupId = nil
        case .forgetsMilliseconds:
            message.timestamp = Date(timeIntervalSince1970: message.timestamp.timeIntervalSince1970.rounded(.down))
        case .trimsWhitespace: message.content = message.content.trimmingCharacters(in: .whitespacesAndNewlines)
        case .endsTextAtNUL: message.content = String(message.content.prefix { $0 != "\u{0}" })
        case .cutsLongText: message.content = String(message.content.prefix(65_536))
        case .takesEmptyInputForNone:
            if message.toolInputData?.parameters.isEmpty == true { message.toolInputData = nil }
        case .readsNumbersAsDoubles: message.metadata = message.metadata.mapValues(Self.asDoubles)
        case .dropsDeepMetadata:
            // Remove values above the depth limit of JSON readers.
            message.metadata = message.metadata.filter { (try? JSONValue(parsing: $0.value.jsonString)) != nil }
        case .cutsAttachments:
            message.attachments = message.attachments.map { attachment in
                guard case .inline(let bytes) = attachment.content else { return attachment }
                var attachment = attachment
                attachment.content = .inline(bytes.prefix(1024))
                return attachment
            }
        default: break
        }
        return message
    }

    /// Returns integers as read by a language with doubles only.
    private static func asDoubles(_ value: JSONValue) -> JSONValue {
        switch value {
        case .integer(let integer): Int64(exactly: Double(integer)).map(JSONValue.integer) ?? .number(Double(integer))
        case .array(let values): .array(values.map(asDoubles))
        default: value
        }
    }

    // MARK: - Renaming

    func updateSessionId(oldId: String, newId: String) async throws {
        let (old, new) = (key(oldId), key(newId))
        let isThere = read { $0.drawers[old] != nil }
        if fault == .looksForTheOldIdTooEarly { await pause() }
        try write { state in
            guard old != new || fault == .copiesThenDeletes else { return }
            guard let moved = state.drawers.removeValue(forKey: old) else {
                let overwrites =
                    fault == .movesNothingOverSomething || fault == .looksForTheOldIdTooEarly && isThere
                if overwrites { state.drawers[new]?.messages = [] }
                return
            }
            if old == new { return }
            if fault == .refusesAnIdThatIsThere && state.drawers[new] != nil {
                throw RecollectError(.invalidArgument, "UNIQUE constraint failed: sessions.id")
            }
            var drawer = state.drawers[new] ?? moved
            drawer.id = newId
            drawer.messages = moved.messages
            if let there = state.drawers[new] { drawer.messages = united(moved.messages, there.messages) }
            if fault == .cascadesOnRenaming { drawer.messages = [] }
            if fault == .losesTrackOnRenaming { drawer.stuckIDs.formUnion(moved.messages.map(\.id)) }
            if fault == .keepsTheOldIdAsAnAlias { state.aliases[old] = newId }
            state.drawers[new] = drawer
        }
    }

    /// Merges two transcripts, the old one first. The new content keeps its ID; different old content gets a new ID.
    private func united(_ old: [ChatMessage], _ new: [ChatMessage]) -> [ChatMessage] {
        if fault == .replacesTheNewSession { return old }
        let known = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
        let first = old.flatMap { message -> [ChatMessage] in
            guard let there = known[message.id] else { return [message] }
            guard there != message && fault != .keepsTheNewWordsAlone else { return [there] }
            var copy = message
            copy = ChatMessage(
                role: copy.role, content: copy.content, timestamp: copy.timestamp, isComplete: copy.isComplete,
                messageType: copy.messageType, metadata: copy.metadata)
            return [there, copy]
        }
        let ids = Set(old.map(\.id))
        return first + new.filter { !ids.contains($0.id) }
    }
}
