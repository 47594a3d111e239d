import Foundation
import Observation
import RecollectCore

/// A user's sessions for a sidebar: in sections and pages, searchable, and kept up to date.
///
/// Reading begins at `start()`. From then on the list follows the history's change feed, including the writes of
/// other processes, until `stop()` or until the list is released. A change rereads the changed session, not the
/// list; changes within `spacing` are shown together. The main actor is never blocked.
///
/// ```swift
/// @State private var list = SessionList(history: history, userId: "ana")
///
/// List(selection: $list.selection) {
///     ForEach(list.sections) { section in … }
/// }
/// .searchable(text: $list.searchText)
/// .task { list.start() }
/// ```
///
/// Calls do not throw. A failure is in `error`, for the view to show.
@MainActor @Observable
public final class SessionList {
    /// The history. It may be used elsewhere at the same time.
    public let history: any HistoryStore
    /// The user whose sessions are listed.
    public let userId: String

    // MARK: Shown content

    /// The sections of the list. They contain all pinned sessions, and the others as far as they were read.
    public internal(set) var sections: [SessionSection] = []
    /// The listed sessions, without sections.
    public internal(set) var sessions: [Session] = []
    /// Whether `loadMore()` would read more of the list.
    public internal(set) var hasMore = false
    /// Whether the list is being read from its beginning: at `start()`, and after a change of `query`.
    public internal(set) var isLoading = false
    /// Whether the list follows the history. A failure of the feed stops it and sets `error`; `start()` starts it
    /// again.
    public internal(set) var isRunning = false
    /// The last failure. Set it to `nil` after showing it.
    public var error: RecollectError?

    /// The conditions and the order of the list; initially all sessions that are not archived, by latest activity.
    ///
    /// Its `userId` and `text` are ignored: the list has its own `userId`, and `searchText` searches.
    public var query: SessionQuery {
        didSet { if query != oldValue { queryDidChange() } }
    }

    // MARK: Search

    /// The text to search for. The search starts after `searchDelay` without a change; a blank text ends it.
    public var searchText = "" {
        didSet { if searchText != oldValue { search(after: searchDelay) } }
    }
    /// The results of the last completed search; `nil` without a search text.
    public internal(set) var results: SearchResults?
    /// Whether a search is in progress; `results` may not match `searchText` yet.
    public internal(set) var isSearching = false

    // MARK: Selection

    /// The open session, not necessarily one of those read.
    ///
    /// Changes of the list do not affect it, with one exception: when the session is deleted or discarded, or is
    /// archived or restored out of the list, the session below it is selected, else the one above. To give the
    /// selected session a new ID, an app must select the new ID itself.
    public var selection: SessionKey? {
        didSet { if selection != oldValue { selectionDidChange() } }
    }
    /// Whether the selected session is marked as read, at once and after each new message.
    ///
    /// Set it to `false` while the app is in the background, to leave messages not yet seen unread.
    public var marksSelectionAsRead = true {
        didSet { if marksSelectionAsRead != oldValue { selectionDidChange() } }
    }

    /// Sessions discarded in this list and still restorable, the latest last.
    var discarded: [Discarded] = []
    /// The position in the change feed up to which the list is up to date.
    var followed = ChangeCursor.beginning

    // MARK: Inside

    @ObservationIgnored var listed: SessionListContent
    @ObservationIgnored var searching: Task<Void, Never>?
    @ObservationIgnored var searchIsStale = false
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var days: Task<Void, Never>?
    /// Runs each read together with showing its result, one at a time: the list never goes back to an older state.
    let reads = SerialTaskQueue()
    /// Runs this list's writes one at a time.
    let writes = SerialTaskQueue()
    let pageSize: Int
    let searchDelay: Duration
    let spacing: Duration
    let clock: any Clock<Duration>
    let calendar: Calendar
    let now: @Sendable () -> Date

    /// Creates a list. Reading begins at `start()`.
    ///
    /// - Parameters:
    ///   - history: the history: the app's only instance, or one of the list's own on the same folder.
    ///   - userId: the user whose sessions are listed.
    ///   - pageSize: the number of sessions in a page, at least 1. `start()` and `loadMore()` read one page.
    ///   - searchDelay: the pause in typing before a search starts.
    ///   - spacing: the shortest time between two updates of the list.
    ///   - calendar: the calendar for the days and months of the sections.
    ///   - clock: the clock for delays.
    ///   - now: returns the current date, for the sections.
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
        let query = SessionQuery(userId: userId, isArchived: false)
        self.query = query
        listed = SessionListContent(query)
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
                // Take the cursor before the list is read: a change in between is read twice, and none is missed.
                let cursor = try await history.latestChangeCursor()
                try await self?.begin(at: cursor)
                for try await batch in ChangeBatches(history: history, userId: userId, cursor: cursor) {
                    // A batch may arrive during a stop.
                    guard !Task.isCancelled else { return }
                    try await self?.apply(batch)
                    try await clock.sleep(for: spacing)
                }
                // After a stop, another run may have started already.
                if !Task.isCancelled { self?.end() }
            } catch {
                if !Task.isCancelled { self?.end(error) }
            }
        }
        days = Task { [weak self, clock] in
            while !Task.isCancelled, let day = self?.regroup() {
                // Sleeping throws only on cancellation, and the loop checks for that.
                try? await clock.sleep(for: day)
            }
        }
        search(after: nil)
    }

    /// Stops following the history and searching it. The list shown stays; `start()` reads it again.
    public func stop() {
        end()
    }

    /// Divides the list into sections again.
    ///
    /// This happens automatically at midnight and after every change. Call it when the clock or the time zone was
    /// changed.
    public func updateSections() {
        regroup()
    }

    /// Reads the next page of the list or, with `results` present, of the found sessions.
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

    /// Ends a run, and reports the failure, if any.
    private func end(_ failure: (any Error)? = nil) {
        for task in [following, days, searching] { task?.cancel() }
        (following, days, searching) = (nil, nil, nil)
        (isRunning, isLoading, isSearching) = (false, false, false)
        if let failure { report(failure) }
    }
}
