import RecollectCore

/// Search while typing.
extension SessionList {
    /// The number of messages in a page of search results.
    private static let messagePage = 20

    /// Reads the next page of found messages.
    public func loadMoreMessages() async {
        guard let results, results.hasMoreMessages else { return }
        await extend(results) { [history] in
            try await $0.readingMessagesOn(limit: Self.messagePage, from: history)
        }
    }

    /// Starts a new search for the text, at once or after a delay. An earlier search still in progress shows no
    /// results.
    func search(after delay: Duration?) {
        searching?.cancel()
        searching = nil
        let text = searchText
        guard !text.allSatisfy(\.isWhitespace) else {
            results = nil
            isSearching = false
            return
        }
        guard isRunning else { return }
        isSearching = true
        searching = Task { [weak self, clock, spacing] in
            do {
                if let delay { try await clock.sleep(for: delay) }
                while try await self?.searchOnce(text) == false {
                    try await clock.sleep(for: spacing)
                }
            } catch {
                self?.searchFailed(error)
            }
        }
    }

    /// Repeats the search after a change of the history. Changes during a search lead to one repetition.
    func historyDidChange() {
        searchIsStale = true
        if results != nil, searching == nil { search(after: nil) }
    }

    /// Searches once and shows the results. Returns whether the history stayed unchanged meanwhile.
    private func searchOnce(_ text: String) async throws -> Bool {
        searchIsStale = false
        let same = results?.text == text && results?.query == listing ? results : nil
        let found = try await SearchResults.find(
            text, in: listing, sessions: max(pageSize, same?.sessions.count ?? 0),
            messages: max(Self.messagePage, same?.messages.count ?? 0), of: history)
        // More typing cancels this search. On the main actor nothing runs between this line and the next.
        try Task.checkCancellation()
        if results != found { results = found }
        isSearching = false
        if !searchIsStale { searching = nil }
        return !searchIsStale
    }

    private func searchFailed(_ error: any Error) {
        guard !Task.isCancelled else { return }
        searching = nil
        isSearching = false
        report(error)
    }

    /// Shows another page of results, unless the results changed meanwhile.
    func extend(
        _ results: SearchResults, _ reading: @Sendable (SearchResults) async throws -> SearchResults
    ) async {
        await reporting {
            let longer = try await reading(results)
            if self.results == results { self.results = longer }
        }
    }
}
