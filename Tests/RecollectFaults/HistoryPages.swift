/// The messages on each page of a history.
package struct HistoryPages {
    private let pages: DatabasePages
    private var ids: [Int: [String]] = [:]

    package init(_ pages: DatabasePages) {
        self.pages = pages
        // The seventh column of `message` is its ID.
        for row in pages.rows(of: "message") where row.columns.count > 6 {
            guard let id = row.columns[6].text else { continue }
            for page in row.pages { ids[page, default: []].append(id) }
        }
        // The fifth column of `streaming_reply` is the ID of its message.
        for row in pages.rows(of: "streaming_reply") where row.columns.count > 4 {
            guard let id = row.columns[4].text else { continue }
            for page in row.pages { ids[page, default: []].append(id) }
        }
    }

    /// The IDs of all messages with at least a part on a page.
    package func messages(on page: Int) -> [String] { ids[page] ?? [] }
}
