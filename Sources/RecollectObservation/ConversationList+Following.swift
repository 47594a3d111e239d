import Foundation
import RecollectCore

/// Reading, and showing what was read.
extension ConversationList {
    /// With more changed conversations than these the list is read anew, in two queries.
    private static let mostReadOneByOne = 24

    /// The query that counts.
    var listing: ConversationQuery {
        var listing = query
        listing.userId = userId
        listing.text = ""
        return listing
    }

    /// What a view shows in order: while something is looked for, what was found.
    private var shown: [ConversationID] {
        (results?.conversations ?? conversations).map(\.id)
    }

    /// Reads what is asked for now; of several changes in a row the last alone.
    func queryDidChange() {
        guard isRunning, isLoading || listing != listed.query else { return }
        isLoading = true
        reads.enqueue { [self] in
            guard isLoading else { return }
            let asked = listing
            await reporting { try await loadInTurn() }
            // A failure ends it, too; what was asked for since begins its own.
            if asked == listing { isLoading = false }
        }
        search(after: nil)
    }

    /// Reads the list from its beginning, as long as it was if it is still the same.
    func load() async throws {
        try await reads.run { [self] in try await loadInTurn() }
    }

    /// The same, in its turn among the reads. A list that nobody asks for by the time it was read is not shown: whoever changed
    /// the query has asked for another.
    private func loadInTurn() async throws {
        let asked = listing
        let read = try await readAnew()
        guard asked == listing else { return }
        show(read)
        isLoading = false
    }

    private func readAnew() async throws -> ListedConversations {
        let count = listed.query == listing ? max(pageSize, listed.pagedCount) : pageSize
        return try await .read(listing, count: count, from: history)
    }

    /// Brings the list to where the feed was after a batch.
    func apply(_ batch: ChangeBatch) async throws {
        if batch.isEverything || !batch.changed.isEmpty {
            try await read(batch.changed, orEverything: batch.isEverything)
            historyDidChange()
            if let selection, batch.spokenIn.contains(selection) { selectionDidChange() }
        }
        followed = max(followed, batch.cursor)
    }

    /// Reads conversations again that have changed.
    func read(_ changed: Set<ConversationID>, orEverything isEverything: Bool = false) async throws {
        try await reads.run { [self] in
            let isMuch = isEverything || changed.count > Self.mostReadOneByOne
            // Whether these are gone must be known one by one.
            let watched = Set(discarded.map(\.id) + [selection].compactMap(\.self))
            var fresh: [ConversationID: Conversation?] = [:]
            for id in isMuch ? watched : changed {
                fresh[id] = .some(try await history.conversation(id))
            }
            var new = isMuch ? try await readAnew() : listed
            if !isMuch {
                for (id, conversation) in fresh { new.put(id, conversation) }
            }
            if new.hasMore, new.pagedCount < pageSize {
                // Nobody scrolls a list that has become shorter than the screen.
                new = try await new.readingOn(limit: pageSize, from: history)
            }
            show(new, knowing: fresh)
        }
    }

    /// Shows what was read, and parts with what is gone of what was read one by one.
    func show(_ new: ListedConversations, knowing fresh: [ConversationID: Conversation?] = [:]) {
        let before = shown
        let isOtherList = listed.query != new.query
        listed = new
        let hasChanged = conversations != new.conversations
        if hasChanged { conversations = new.conversations }
        if hasChanged || isOtherList { regroup() }
        if hasMore != new.hasMore { hasMore = new.hasMore }
        let gone = Set(fresh.filter { isGone($0.value) }.keys)
        let away = Set(fresh.filter { isPutAway($0.value) }.keys)
        if results != nil, !gone.isEmpty || !away.isEmpty { results?.remove(gone.union(away)) }
        if !discarded.isEmpty {
            discarded.removeAll { entry in fresh[entry.id].map { $0?.discardedAt == nil } ?? false }
        }
        guard let selection else { return }
        if gone.contains(selection) || (away.contains(selection) && before.contains(selection)) {
            self.selection = neighbour(of: selection, before: before)
        }
    }

    private func isGone(_ conversation: Conversation?) -> Bool {
        guard let conversation else { return true }
        return conversation.discardedAt != nil && !listed.query.isDiscarded
    }

    /// Whether it left the list because it was archived, or brought back from where the list shows such.
    private func isPutAway(_ conversation: Conversation?) -> Bool {
        guard let conversation else { return false }
        return listed.query.isArchived.map { $0 != conversation.isArchived } ?? false
            || (listed.query.isDiscarded && conversation.discardedAt == nil)
    }

    /// The first still there below a conversation, else the first above it.
    private func neighbour(of id: ConversationID, before: [ConversationID]) -> ConversationID? {
        guard let place = before.firstIndex(of: id) else { return nil }
        let left = Set(shown).subtracting([id])
        return before[(place + 1)...].first(where: left.contains) ?? before[..<place].last(where: left.contains)
    }

    /// Divides the list into sections; how long they stay as they are is returned.
    @discardableResult
    func regroup() -> Duration {
        let moment = now()
        let sections = ConversationSection.sections(
            of: conversations, by: listed.query.order, at: moment, calendar: calendar)
        if sections != self.sections { self.sections = sections }
        let tomorrow = calendar.dateInterval(of: .day, for: moment)?.end ?? moment.addingTimeInterval(3600)
        return .milliseconds(max(1, tomorrow.millisecondsSince1970 - moment.millisecondsSince1970))
    }

    func selectionDidChange() {
        guard isRunning, marksSelectionAsRead, let selection else { return }
        let marking = writes.enqueue { [self] in
            guard try await history.conversation(selection)?.isUnread == true else { return }
            // What was said since the app went into the background was seen by nobody.
            guard isRunning, marksSelectionAsRead else { return }
            try await history.update(selection, with: ConversationDetails(isRead: true), makesNew: false)
            try await read([selection])
        }
        Task { await reporting { try await marking.value } }
    }

    // MARK: Writing, and failures

    /// Writes when all writes of this list before it have ended: of two that contradict each other the later one holds.
    func writing(_ body: @escaping @MainActor () async throws -> Void) async {
        await reporting { try await writes.run(body) }
    }

    /// Does something whose failure a view is to show.
    func reporting(_ body: () async throws -> Void) async {
        do { try await body() } catch { report(error) }
    }

    func report(_ error: any Error) {
        switch error {
        case is CancellationError: break
        case let error as RecollectError: self.error = error
        default:
            self.error = RecollectError(
                .inputOutput, "The list of conversations could not be brought up to date; try again.", cause: error)
        }
    }
}

/// Runs operations one after the other, in the order in which they came.
@MainActor
final class Lane {
    private var last: Task<Void, any Error>?

    /// Runs an operation when those before it have ended. An operation that was asked for runs whether or not its caller is
    /// still there.
    @discardableResult
    func enqueue(_ operation: @escaping @MainActor () async throws -> Void) -> Task<Void, any Error> {
        let task = Task { [last] in
            // The failure of the one before is its caller's.
            _ = await last?.result
            try await operation()
        }
        last = task
        return task
    }

    /// The same, and waits for its end.
    func run(_ operation: @escaping @MainActor () async throws -> Void) async throws {
        try await enqueue(operation).value
    }
}
