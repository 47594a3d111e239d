import Foundation
import RecollectCore

/// Reading the history and showing the result.
extension SessionList {
    /// The number of changed sessions above which the list is read again as a whole, in two queries.
    private static let maxReadOneByOne = 24

    /// The query with the list's user and without a search text.
    var listing: SessionQuery {
        var listing = query
        listing.userId = userId
        listing.text = ""
        return listing
    }

    /// The sessions in the order shown: the search results during a search, otherwise the list.
    private var shown: [SessionKey] {
        (results?.sessions ?? sessions).map(\.id)
    }

    /// Reads the list for the current query. Of several changes in a row, only the last is read.
    func queryDidChange() {
        guard isRunning, isLoading || listing != listed.query else { return }
        isLoading = true
        reads.enqueue { [self] in
            guard isLoading else { return }
            let asked = listing
            await reporting { try await loadInTurn() }
            // A failure ends loading, too. A later query starts loading of its own.
            if asked == listing { isLoading = false }
        }
        search(after: nil)
    }

    /// Reads the list from its beginning, with its present length if the query is unchanged.
    func load() async throws {
        try await reads.run { [self] in try await loadInTurn() }
    }

    /// Reads the list, called within `reads`. If the query changes meanwhile, the result is not shown: the new
    /// query has its own read.
    private func loadInTurn() async throws {
        let asked = listing
        let read = try await reread()
        guard asked == listing else { return }
        show(read)
        isLoading = false
    }

    private func reread() async throws -> SessionListContent {
        let count = listed.query == listing ? max(pageSize, listed.pagedCount) : pageSize
        return try await .read(listing, count: count, from: history)
    }

    /// Applies a batch to the list, then advances `followed`.
    func apply(_ batch: ChangeBatch) async throws {
        if batch.isEverything || !batch.changed.isEmpty {
            try await read(batch.changed, orEverything: batch.isEverything)
            historyDidChange()
            if let selection, batch.spokenIn.contains(selection) { selectionDidChange() }
        }
        followed = max(followed, batch.cursor)
    }

    /// Reads changed sessions again.
    func read(_ changed: Set<SessionKey>, orEverything isEverything: Bool = false) async throws {
        try await reads.run { [self] in
            let isMuch = isEverything || changed.count > Self.maxReadOneByOne
            // Read these one by one: only that shows if they are gone.
            let watched = Set(discarded.map(\.id) + [selection].compactMap(\.self))
            var fresh: [SessionKey: Session?] = [:]
            for id in isMuch ? watched : changed {
                fresh[id] = .some(try await history.session(id))
            }
            var new = isMuch ? try await reread() : listed
            if !isMuch {
                for (id, session) in fresh { new.put(id, session) }
            }
            if new.hasMore, new.pagedCount < pageSize {
                // A list shorter than the screen cannot be scrolled, so nothing else would load more.
                new = try await new.readingOn(limit: pageSize, from: history)
            }
            show(new, knowing: fresh)
        }
    }

    /// Shows a newly read list. Updates the results, the undo list and the selection for the sessions read one by
    /// one.
    ///
    /// - Parameter fresh: sessions read one by one; `nil` for a deleted one.
    func show(_ new: SessionListContent, knowing fresh: [SessionKey: Session?] = [:]) {
        let before = shown
        let isOtherList = listed.query != new.query
        listed = new
        let hasChanged = sessions != new.sessions
        if hasChanged { sessions = new.sessions }
        if hasChanged || isOtherList { regroup() }
        if hasMore != new.hasMore { hasMore = new.hasMore }
        let gone = Set(fresh.filter { isGone($0.value) }.keys)
        let away = Set(fresh.filter { isLeavingList($0.value) }.keys)
        if results != nil, !gone.isEmpty || !away.isEmpty { results?.remove(gone.union(away)) }
        if !discarded.isEmpty {
            discarded.removeAll { entry in fresh[entry.id].map { $0?.discardedAt == nil } ?? false }
        }
        guard let selection else { return }
        if gone.contains(selection) || (away.contains(selection) && before.contains(selection)) {
            self.selection = neighbor(of: selection, before: before)
        }
    }

    private func isGone(_ session: Session?) -> Bool {
        guard let session else { return true }
        return session.discardedAt != nil && !listed.query.isDiscarded
    }

    /// Whether a session left the list because it was archived or unarchived, or was restored from a list of
    /// discarded ones.
    private func isLeavingList(_ session: Session?) -> Bool {
        guard let session else { return false }
        return listed.query.isArchived.map { $0 != session.isArchived } ?? false
            || (listed.query.isDiscarded && session.discardedAt == nil)
    }

    /// The nearest remaining session below the given one, else the nearest above it.
    private func neighbor(of id: SessionKey, before: [SessionKey]) -> SessionKey? {
        guard let position = before.firstIndex(of: id) else { return nil }
        let left = Set(shown).subtracting([id])
        return before[(position + 1)...].first(where: left.contains) ?? before[..<position].last(where: left.contains)
    }

    /// Divides the list into sections, and returns the duration until midnight, when they change.
    @discardableResult
    func regroup() -> Duration {
        let date = now()
        let sections = SessionSection.sections(
            of: sessions, by: listed.query.order, at: date, calendar: calendar)
        if sections != self.sections { self.sections = sections }
        let tomorrow = calendar.dateInterval(of: .day, for: date)?.end ?? date.addingTimeInterval(3600)
        return .milliseconds(max(1, tomorrow.millisecondsSince1970 - date.millisecondsSince1970))
    }

    func selectionDidChange() {
        guard isRunning, marksSelectionAsRead, let selection else { return }
        let marking = writes.enqueue { [self] in
            guard try await history.session(selection)?.isUnread == true else { return }
            // The user has not seen messages that arrived since the app entered the background.
            guard isRunning, marksSelectionAsRead else { return }
            try await history.update(selection, with: SessionDetails(isRead: true), createIfMissing: false)
            try await read([selection])
        }
        Task { await reporting { try await marking.value } }
    }

    // MARK: Writing, and failures

    /// Writes after all earlier writes of this list, so that the later of two contradicting writes prevails.
    func writing(_ body: @escaping @MainActor () async throws -> Void) async {
        await reporting { try await writes.run(body) }
    }

    /// Runs an operation, and reports its failure in `error`.
    func reporting(_ body: () async throws -> Void) async {
        do { try await body() } catch { report(error) }
    }

    func report(_ error: any Error) {
        switch error {
        case is CancellationError: break
        case let error as RecollectError: self.error = error
        default:
            self.error = RecollectError(
                .inputOutput, "The list of sessions could not be updated; try again.", cause: error)
        }
    }
}

/// Runs operations one at a time, in order of arrival.
@MainActor
final class SerialTaskQueue {
    private var last: Task<Void, any Error>?

    /// Adds an operation to the end of the queue. It runs even if its caller is canceled.
    @discardableResult
    func enqueue(_ operation: @escaping @MainActor () async throws -> Void) -> Task<Void, any Error> {
        let task = Task { [last] in
            // The caller of the previous operation handles its failure.
            _ = await last?.result
            try await operation()
        }
        last = task
        return task
    }

    /// Adds an operation and waits for its end.
    func run(_ operation: @escaping @MainActor () async throws -> Void) async throws {
        try await enqueue(operation).value
    }
}
