import Foundation
import Observation
import RecollectCore

/// A user's conversations as a sidebar shows them: in sections, by pages, searched as one types, up to date by themselves.
///
/// Nothing is read before `start()`; from then on the list follows the history's change feed, other processes' writes included,
/// until `stop()` or until nobody holds it. Of a changed conversation that conversation is read again, not the list; what
/// changes within `spacing` is shown together. Nothing blocks the main actor.
///
/// ```swift
/// @State private var list = ConversationList(history: history, userId: "ana")
///
/// List(selection: $list.selection) {
///     ForEach(list.sections) { section in … }
/// }
/// .searchable(text: $list.searchText)
/// .task { list.start() }
/// ```
///
/// Calls that can fail do not throw: the failure is in `error`, for the view to show.
@MainActor @Observable
public final class ConversationList {
    /// The whole history; other views of it may be used at the same time.
    public let history: any HistoryStore
    /// The user whose conversations are listed.
    public let userId: String

    // MARK: What is shown

    /// What was read of the list, in sections. Pinned conversations are all there, the others as far as they were read.
    public internal(set) var sections: [ConversationSection] = []
    /// The same without sections.
    public internal(set) var conversations: [Conversation] = []
    /// Whether `loadMore()` would read more of the list.
    public internal(set) var hasMore = false
    /// Whether the list is being read from its beginning: at `start()`, and after `query` was set.
    public internal(set) var isLoading = false
    /// Whether the list follows the history. A feed that fails ends it, with an `error`; `start()` begins again.
    public internal(set) var isRunning = false
    /// The last failure; a view that has shown it sets `nil`.
    public var error: RecollectError?

    /// The list's conditions and order; at first all that are not archived, the latest activity first.
    ///
    /// Its `userId` and `text` do not count: `userId` is the list's own, and a text is looked for with `searchText`.
    public var query: ConversationQuery {
        didSet { if query != oldValue { queryDidChange() } }
    }

    // MARK: Search

    /// What is looked for; after `searchDelay` without another letter the search begins. Blank text ends it.
    public var searchText = "" {
        didSet { if searchText != oldValue { search(after: searchDelay) } }
    }
    /// What was found, of the last text that a search has ended for; `nil` while nothing is looked for.
    public internal(set) var results: SearchResults?
    /// Whether `results` are not yet those of `searchText`.
    public internal(set) var isSearching = false

    // MARK: Selection

    /// The conversation that is open. It need not be among those that were read.
    ///
    /// It stays whatever becomes of the list. When it is deleted or discarded, or put away out of the list, its neighbour is
    /// selected: the one that was below, else the one above. An app that gives the selected session another id selects that.
    public var selection: ConversationID? {
        didSet { if selection != oldValue { selectionDidChange() } }
    }
    /// Whether the selected conversation is marked as read, at once and whenever something is said in it. An app in the background
    /// sets it to `false`, so that what nobody saw stays unread.
    public var marksSelectionAsRead = true {
        didSet { if marksSelectionAsRead != oldValue { selectionDidChange() } }
    }

    /// What was discarded here and can be restored, the latest last.
    var discarded: [Discarded] = []
    /// How far into the feed the list has followed.
    var followed = ChangeCursor.beginning

    // MARK: Inside

    @ObservationIgnored var listed: ListedConversations
    @ObservationIgnored var searching: Task<Void, Never>?
    @ObservationIgnored var searchIsStale = false
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var days: Task<Void, Never>?
    /// Reading and showing what was read take turns: what is shown is never older than what was shown before.
    let reads = Lane()
    /// So do writes of this list.
    let writes = Lane()
    let pageSize: Int
    let searchDelay: Duration
    let spacing: Duration
    let clock: any Clock<Duration>
    let calendar: Calendar
    let now: @Sendable () -> Date

    /// Makes a list; nothing is read before `start()`.
    /// - Parameters:
    ///   - history: the history; the app's only one, or an instance of its own on the same folder.
    ///   - userId: the user whose conversations are listed.
    ///   - pageSize: how many conversations `start()` and `loadMore()` read, at least 1.
    ///   - searchDelay: how long the search waits for another letter.
    ///   - spacing: the least time between two updates of the list.
    ///   - calendar: whose days and months divide the list.
    ///   - clock: what delays are measured with.
    ///   - now: the moment that sections are reckoned from.
    public init(
        history: any HistoryStore, userId: String, pageSize: Int = 50, searchDelay: Duration = .milliseconds(200),
        spacing: Duration = .milliseconds(100), calendar: Calendar = .autoupdatingCurrent,
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.history = history
        self.userId = userId
        self.pageSize = max(1, pageSize)
        self.searchDelay = searchDelay
        self.spacing = spacing
        self.calendar = calendar
        self.clock = clock
        self.now = now
        let query = ConversationQuery(userId: userId, isArchived: false)
        self.query = query
        listed = ListedConversations(query)
    }

    deinit {
        following?.cancel()
        days?.cancel()
        searching?.cancel()
    }

    /// Reads the list and follows the history from now on. Does nothing while the list is running.
    public func start() {
        guard !isRunning else { return }
        (isRunning, isLoading) = (true, true)
        following = Task { [weak self, history, userId, clock, spacing] in
            do {
                // Before the list is read: what comes in between is read twice, and nothing is missed.
                let cursor = try await history.latestChange()
                try await self?.begin(at: cursor)
                for try await batch in ChangeBatches(history: history, userId: userId, cursor: cursor) {
                    // A batch may arrive in the moment of a stop.
                    guard !Task.isCancelled else { return }
                    try await self?.apply(batch)
                    try await clock.sleep(for: spacing)
                }
                // Who stopped this run may have begun another.
                if !Task.isCancelled { self?.end() }
            } catch {
                if !Task.isCancelled { self?.end(error) }
            }
        }
        days = Task { [weak self, clock] in
            while !Task.isCancelled, let day = self?.regroup() {
                // Cancelled is all that a sleep can be; the loop sees it.
                try? await clock.sleep(for: day)
            }
        }
        search(after: nil)
    }

    /// Stops following the history and searching it; what is shown stays. `start()` reads it anew.
    public func stop() {
        end()
    }

    /// Divides the list into sections anew. It happens by itself at midnight and with every change; an app that hears that the
    /// clock or the time zone was changed calls it.
    public func updateSections() {
        regroup()
    }

    /// Reads the next page: of the list or, while there are `results`, of the conversations that were found.
    public func loadMore() async {
        if let results {
            await extend(results) { [pageSize, history] in try await $0.readingOn(limit: pageSize, from: history) }
        } else {
            await reporting {
                try await reads.run { [self] in
                    guard listed.hasMore else { return }
                    show(try await listed.readingOn(limit: pageSize, from: history))
                }
            }
        }
    }

    private func begin(at cursor: ChangeCursor) async throws {
        try await load()
        followed = cursor
        selectionDidChange()
    }

    /// Ends a run, with what made it end, if anything did.
    private func end(_ failure: (any Error)? = nil) {
        for task in [following, days, searching] { task?.cancel() }
        (following, days, searching) = (nil, nil, nil)
        (isRunning, isLoading, isSearching) = (false, false, false)
        if let failure { report(failure) }
    }
}
