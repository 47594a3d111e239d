import RecollectCore

/// Search as you type.
extension ConversationList {
    /// How many messages a search shows at first, and a page has.
    private static let messagePage = 20

    /// Reads the next page of messages that were found.
    public func loadMoreMessages() async {
        guard let results, results.hasMoreMessages else { return }
        await extend(results) { [history] in
            try await $0.readingMessagesOn(limit: Self.messagePage, from: history)
        }
    }

    /// Begins the search for the text anew, at once or after a delay. A search that was under way shows nothing any more.
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

    /// What was found may have changed: looks again, once however much has changed meanwhile.
    func historyDidChange() {
        searchIsStale = true
        if results != nil, searching == nil { search(after: nil) }
    }

    /// Searches and shows what was found. Returns whether nothing changed meanwhile.
    private func searchOnce(_ text: String) async throws -> Bool {
        searchIsStale = false
        let same = results?.text == text && results?.query == listing ? results : nil
        let found = try await SearchResults.find(
            text, in: listing, conversations: max(pageSize, same?.conversations.count ?? 0),
            messages: max(Self.messagePage, same?.messages.count ?? 0), of: history)
        // Whoever typed on cancelled this search: on the main actor there is nothing between this line and the next.
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

    /// Shows more of what was found, unless something else was found meanwhile.
    func extend(
        _ results: SearchResults, _ reading: @Sendable (SearchResults) async throws -> SearchResults
    ) async {
        await reporting {
            let longer = try await reading(results)
            if self.results == results { self.results = longer }
        }
    }
}
